// SPDX-License-Identifier: Apache-2.0
//
// AlikeReplay: fires the clauses of an AlikeProgram once for all records of a block that are alike.
//
//     columns --ColumnGroups--> groups --an example of each--> slots --> engine --> its record
//                                  '---------- how many records ----------------------v
//                                                             counted so often: the report's table
//
// The engine is a second one, beside the replay's own, and its records are not printed: what the
// clause means is still the engine's to say.  A block that it cannot be done for (few records are
// alike, a clause faults) is left to the replay, record by record (docs/design/0075-alike.md).
#pragma once

#include "analyze/replay/alike.hpp"
#include "analyze/replay/firing_reader.hpp"
#include "analyze/replay/firing_slots.hpp"
#include "analyze/session/column_groups.hpp"
#include "analyze/session/consumer.hpp"
#include "analyze/session/segment_walk.hpp"
#include "engine/sim/simulation.hpp"

namespace daybreak::analyze {

class AlikeReplay : private SegmentCounter {
public:
    /// Gets how many records were counted, before each block; false ends it.
    using GoesOn = std::function<bool(uint64_t records)>;

    /// All must outlive it; the program is the ring's.
    AlikeReplay(const formats::Recording& recording, size_t ring, const CaptureTable& table,
                const TimeWindow& window, AlikeProgram program);

    /// A machine with the recorded probes, on which the program has begun.
    struct Machine {
        sim::Simulation& simulation;
        const ReplayedProbesById& probes;
        FiringSlots& slots;
    };
    /// Counts what it may; `consumer` is the report's.
    void run(const Machine& machine, Consumer& consumer, const GoesOn& goes_on);

    /// What the merge has to leave out.
    const TalliedRecords& tallied() const { return walk_.tallied(); }
    uint64_t records() const { return walk_.records(); }
    bool has_fired() const { return has_fired_; } ///< a probe of the program's

private:
    /// Below this many records of a group, firing by firing costs no more.
    static constexpr uint64_t kRecordsPerGroup = 2;
    /// And so few groups are worth it whatever they have: the others of the block are alike.
    static constexpr uint64_t kGroupsAlways = 16;

    struct Count {
        Statement* statement;
        base::Bytes key;
        std::vector<uint64_t> cells;
    };

    bool count_columns(size_t ring, const formats::ColumnBlock& block) override;
    uint32_t count_rows(size_t, const formats::SegmentInfo&, bool&) override { return 0; }
    bool goes_on(uint64_t records) override { return (*goes_on_)(records); }
    bool fire_layout(const formats::LayoutColumns& layout);
    void fill(const AlikeProgram::Ecb& ecb, size_t record);
    void fire(sim::SimProbe& probe, uint64_t records);
    bool describe(std::vector<base::Bytes> metadata);
    bool take_records();
    bool count(const formats::RecordView& record, uint64_t times);
    bool count(EcbPlan& plan, Statement& statement, base::ByteView record, uint64_t times);
    uint64_t drops() const;

    const formats::RingRecording& ring_;
    const CaptureTable& table_;
    const AlikeProgram program_;
    SegmentWalk walk_;
    ColumnGroups groups_;
    std::optional<formats::Recording> description_; // empty before the first block, and
    std::optional<RingProgram> meant_;              // what its machine's records mean
    std::vector<uint64_t> counts_;
    std::vector<uint32_t> examples_;
    base::Bytes bytes_;
    bool has_fired_ = false;
    // While it runs:
    const Machine* machine_ = nullptr;
    Consumer* consumer_ = nullptr;
    const GoesOn* goes_on_ = nullptr;
    // Of the block at hand:
    uint64_t first_ns_ = 0;       // of its first firing; each is 1 ns after the one before
    std::vector<uint64_t> times_; // how often each firing counts
    std::vector<Count> results_;
};

} // namespace daybreak::analyze
