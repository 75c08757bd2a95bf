// SPDX-License-Identifier: Apache-2.0
//
// RecordMerge: the records of all CPUs and rings in the order of time.
//
// Each CPU of each ring is a stream that is in order by itself; a heap of the streams yields the
// earliest record next.  Records of the same instant come in the order of rings and CPUs, so the
// result does not depend on how the recording was put together.  One ring is merged by its ticks;
// several are by CLOCK_MONOTONIC, which their clocks have in common.  The records of a firing stay
// together, where its first one belongs, whatever other CPUs recorded meanwhile
// (docs/design/0056-firing-identity.md).
//
// What a speculation held stands where it was committed, as dtrace(1) prints it, or, in the order
// of option temporal, where it was made.  For the latter what was committed is read ahead, as far
// as anything made before the next record may lie, and held; of a ring at work all records are.
//
// A ring that is still written is merged piece by piece: up to a horizon, which is the time up to
// which every CPU's records are here, and from where the last merge ended.
//
// Of a trace file each stream has one segment open.  The bytes of those that it has passed are kept
// until the caller gives them back.
#pragma once

#include "analyze/decode/tallied_segments.hpp"
#include "formats/segment/recording.hpp"

#include <array>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace daybreak::analyze {

/// A record and where it came from.
struct MergedRecord {
    size_t ring = 0; ///< index into Recording::rings
    uint16_t cpu = 0;
    formats::RecordView record;
    uint32_t next_epid = 0; ///< of the CPU's next record; 0 when this is its last
    /// Where it lies: the segment, and how many of the segment's records are before it.
    uint64_t sequence = 0, index = 0;
    /// Of the firing of the record of this ring and CPU that was yielded before it.  A firing of
    /// more than DBK_FIRING_RECORDS_MAX is yielded as several.
    bool same_firing = false;
};

/// Returns whether a record is of the same firing as the one that its reader took before it.
inline bool is_same_firing(const MergedRecord& before, const MergedRecord& record) {
    return record.same_firing && before.ring == record.ring && before.cpu == record.cpu;
}

/// Where to begin with one CPU of a ring: after so many records of that segment.
struct MergeStart {
    uint64_t sequence = 0, records = 0;
    auto operator<=>(const MergeStart&) const = default;
};
/// By ring id and CPU.
using MergeStarts = std::map<std::pair<uint16_t, uint16_t>, MergeStart>;

/// Of each segment, by index of its ring, its CPU and its own: so many records at its beginning
/// were counted already and are left out.  Empty lists: none of that ring, or CPU.
using TalliedRecords = std::vector<std::vector<TalliedSegments>>;

/// By index of the ring and of its ECB: whether its records are yielded.
using YieldedEcbs = std::vector<std::vector<bool>>;

/// A firing of which a record is there, but not the one before it: that lies in a segment before
/// this one.
struct CutFiring {
    uint16_t cpu = 0;
    uint64_t sequence = 0;
    auto operator<=>(const CutFiring&) const = default;
};

/// What records do not say of their firings, as far as they were read.
struct DividedFirings {
    std::vector<CutFiring> cut; ///< yielded as if it began there
    bool held = false; ///< a speculation held a record of a probe of several clauses: the others
                       ///< may lie anywhere
};

enum class MergeOrder : uint8_t {
    arrival, ///< as the records came into the ring
    made,    ///< as they were made: option temporal
};

struct MergeOptions {
    /// CPUs that are not among them begin at their first record.
    MergeStarts starts;
    MergeOrder order = MergeOrder::arrival;
    /// Records that arrived after it are left for the next merge; empty: there are none.
    std::optional<uint64_t> horizon_mono_ns;
    /// Must outlive the merge; null: none.
    const TalliedRecords* tallied = nullptr;
    /// Must outlive the merge; null: all.  Records of other ECBs are skipped as if they did not
    /// exist, also for next_epid and same_firing; blocks that have no others stay packed.
    const YieldedEcbs* yielded = nullptr;
    /// Returns whether records made from the one time to the other are wanted: those of a segment,
    /// or of a run of segments; asked again for each.  Segments that are not wanted are passed
    /// over, but for a CPU's first one and the first of those that follow each other.  Empty: all
    /// are.
    using IsWanted =
        std::function<bool(const formats::RingRecording&, uint64_t min_ticks, uint64_t max_ticks)>;
    IsWanted is_wanted;
    /// Only the ring of this index; empty: all.
    std::optional<size_t> ring;
    bool notes_divided = false; ///< see divided()
};

class RecordMerge {
public:
    /// The recording must outlive the merge.
    explicit RecordMerge(const formats::Recording& recording, const MergeOptions& options = {});

    /// Yields the next record; false at the end.
    bool next(MergedRecord& merged);
    /// Adds where the next merge of the same rings has to start.  Asked when next() has said that
    /// there are no more.
    void put_ends(MergeStarts& starts) const;
    /// The records that were yielded are done with, but for the last one: their bytes may go.
    void give_back() {
        if (passed_.size() > passed_max_)
            drop_passed();
    }

    /// Records that were read, yielded or not, and that lie in segments passed over because they
    /// have none that are yielded.
    uint64_t passed() const { return passed_records_; }
    /// Of one ring, MergeOptions::ring; nothing unless notes_divided.
    const DividedFirings& divided() const { return divided_; }

private:
    static constexpr size_t kPassedMin = 8;

    /// Bytes of a segment that was read to its end.
    struct Passed {
        size_t stream;
        uint64_t sequence;
        std::shared_ptr<const formats::Bytes> pin;
    };
    struct alignas(128) Placed { // of two the other one is a shift away
        formats::RecordView record;
        uint64_t sequence = 0, index = 0;
        bool same_firing = false;  // as the one before it of those committed, or of the others
        uint64_t firing_ticks = 0; // when its firing began, in what was tallied; else 0
    };
    /// The firing of the record that was read last, of those that were committed or of the others.
    struct LyingFiring {
        const formats::EcbInfo* ecb = nullptr; // of the record; null: it is missing
        uint64_t ticks = 0;
        bool yields = false; // one of its records is yielded
    };
    /// The firing at hand where records are yielded in the order in which they were made.
    struct MadeFiring {
        const formats::EcbInfo* ecb = nullptr; // of its last record that is not ERROR's
        uint64_t ticks = 0;                    // of its last record
        bool is_committed = false;             // and whether that was
        uint64_t ring_ticks = 0; // when the firing began of which the ring's last record is
        bool has_ring = false;   // it is this one
    };
    struct MadeOrder;
    struct Stream {
        size_t ring = 0;
        const formats::RingRecording* recording = nullptr;
        const formats::CpuInfo* cpu = nullptr;
        const TalliedSegments* tallied = nullptr;   // by segment; null: nothing was
        const std::vector<bool>* yielded = nullptr; // by ECB; null: all
        std::vector<uint32_t> epids;                // of the ECBs that are yielded
        size_t segment = 0;                         // the next one to be opened
        std::optional<formats::SegmentInfo> open;   // what `cursor` is on
        std::optional<formats::RecordCursor> cursor;
        std::array<Placed, 2> places; // one is the current record, one that after it
        unsigned turn = 0;            // which is the current one
        bool has_following = false;
        uint64_t read_sequence = 0, read_index = 0; // of the record that was read last, as it lies
        std::array<LyingFiring, 2> lying_firings;   // of what was not committed, and what was
        uint32_t error_probe = 0;
        bool is_made = false; // records are yielded as they were made, which is not as they lie
        MadeFiring firing;
        std::unique_ptr<MadeOrder> made; // of a CPU whose records are yielded as they were made
        std::array<std::shared_ptr<const formats::Bytes>, 2> pins; // of `places`, then
        bool is_part = false;          // of MadeOrder: who takes a record from it keeps its bytes
        bool is_ahead = false;         // and another reads the same records
        uint32_t left_epid = 0;        // of the first record after the horizon
        std::optional<MergeStart> end; // once nothing is left to be read
        uint64_t key = 0;
        uint32_t firing_records = 0; // yielded of the firing
        bool segment_yields = false; // a record of the segment that is read
        std::vector<Placed> sorted;  // all that is left, when it is not in order as it lies
        size_t next_sorted = 0;
        std::vector<std::shared_ptr<const formats::Bytes>> sorted_pins;

        Placed& current() { return places[turn]; }
        const Placed& current() const { return places[turn]; }
        Placed& following() { return places[1 - turn]; }
    };

    /// A record, and what its bytes are in; null: they stay where they are.
    struct Held {
        Placed placed;
        std::shared_ptr<const formats::Bytes> pin;

        /// Whether it comes after the other, in a heap that has the first in front.
        bool operator<(const Held& other) const {
            return std::tie(other.placed.record.ticks, other.placed.sequence, other.placed.index) <
                   std::tie(placed.record.ticks, placed.sequence, placed.index);
        }
    };
    /// The records of a CPU in the order in which they were made: those that were not committed lie
    /// in it, the others are looked for ahead.
    struct MadeOrder {
        Stream lying, ahead;
        std::vector<uint64_t> earliest; // made in each segment or a later one, and the end
        std::optional<Held> next;       // that was not committed
        std::vector<Held> held;         // that were, a heap
    };

    void note_divided(const Stream& stream);
    static bool looks_same(uint64_t ticks, const formats::EcbInfo& ecb,
                           const formats::RecordView& record);
    static bool joins(Stream& stream);
    bool advance(Stream& stream);
    void end_segment(Stream& stream);
    bool is_wanted(const Stream& stream, size_t segment) const;
    void skip_segments(Stream& stream);
    bool open_segment(Stream& stream);
    void pass_tallied(Stream& stream);
    uint64_t tallied_firing_ticks(const Stream& stream) const;
    void sift_down();
    void drop_passed();
    void begin(Stream& stream, const MergeStart& start);
    void read_following(Stream& stream);
    void read_as_it_lies(Stream& stream);
    static bool is_yielded(Stream& stream);
    void read_yielded(Stream& stream);
    void sort(Stream& stream);
    void begin_made(Stream& stream);
    void read_made(Stream& stream);
    void keep(const Stream& stream, uint64_t sequence,
              const std::shared_ptr<const formats::Bytes>& pin);
    void read_lying(MadeOrder& made);
    void read_ahead(MadeOrder& made, uint64_t ticks);
    bool later(size_t a, size_t b) const {
        return streams_[a].key != streams_[b].key ? streams_[a].key > streams_[b].key : a > b;
    }

    const formats::Recording& recording_;
    bool by_nanoseconds_;
    MergeOrder order_;
    std::optional<uint64_t> horizon_mono_ns_;
    std::vector<Stream> streams_;
    std::vector<size_t> heap_; // of indexes into streams_, the earliest in front
    std::vector<Passed> passed_;
    size_t passed_max_ = kPassedMin; // before it is worth looking at which of them may go
    MergeOptions::IsWanted is_wanted_;
    uint64_t passed_records_ = 0;
    DividedFirings divided_;
    bool notes_divided_;
    std::vector<bool> beside_; // by ECB, of a ring with speculations: others are on its probe
    size_t last_stream_ = 0;   // of the record yielded last, and its segment
    uint64_t last_sequence_ = 0;
};

} // namespace daybreak::analyze
