// SPDX-License-Identifier: Apache-2.0
//
// FiringReader: the firings of one recorded ring in their order, and the records that each has.
#pragma once

#include "analyze/decode/merge.hpp"
#include "analyze/decode/window.hpp"
#include "analyze/replay/capture_table.hpp"
#include "engine/sim/bare_host.hpp"

namespace daybreak::analyze {

/// What a record of an ECB fires.
struct Route {
    sim::SimProbe* probe = nullptr;   ///< null: none, or the engine fires it
    std::optional<uint32_t> pid, tid; ///< slots of the probe
    bool is_begin = false, is_end = false;
    bool needs_anchor = false; ///< clauses of the probe recorded each firing: one of them has to be
    bool is_anchor = false;    ///< and this is one
};

/// The probes of a replay's machine by the ids that they were recorded under.
using ReplayedProbesById = std::map<uint32_t, sim::SimProbe*>;

class FiringReader {
public:
    /// Which firings are read.
    struct Choice {
        TimeWindow window;
        const TalliedRecords* tallied = nullptr; ///< is left out; null: nothing
        const YieldedEcbs* yielded = nullptr;    ///< of these ECBs; null: of all
    };

    /// `index` is the ring's in the recording.  All must outlive the reader.
    FiringReader(const formats::Recording& recording, size_t index, const CaptureTable& table,
                 const ReplayedProbesById& probes, const Choice& choice);
    FiringReader(const FiringReader&) = delete;
    FiringReader& operator=(const FiringReader&) = delete;

    /// Gathers the records of the next firing in the window; false at the end.
    bool next();

    // Of the firing at hand; records live up to the next one.
    std::span<const MergedRecord> records() const {
        return std::span(records_).subspan(first_, count_);
    }
    /// The first record that is of its probe: faults of its clauses stand among them.
    const MergedRecord& main() const { return *main_; }
    const Route& route() const { return *route_; }
    uint64_t mono_ns() const { return mono_ns_; }
    /// How many records were passed, with those of other ECBs.
    uint64_t passed() const { return merge_.passed(); }
    const DividedFirings& divided() const { return merge_.divided(); }
    /// Whether a clause that recorded each firing did: else it is what a commit() released.
    bool has_anchor() const {
        return !route_->needs_anchor || route_->is_anchor || has_later_anchor();
    }
    size_t ecb_of(const MergedRecord& merged) const {
        return static_cast<size_t>(merged.record.ecb - ring_.ecbs.all().data());
    }

private:
    void make_routes(const ReplayedProbesById& probes);
    bool gather();
    void find_main();
    bool has_later_anchor() const;

    const formats::RingRecording& ring_;
    const CaptureTable& table_;
    const TimeWindow window_;
    std::vector<Route> routes_; // by index of the ECB
    RecordMerge merge_;
    static constexpr size_t kRecordsMin = 64;

    std::vector<MergedRecord> records_ = std::vector<MergedRecord>(kRecordsMin);
    size_t first_ = 0, count_ = 0; // in `records_`: of the firing; the one ahead is after them
    bool has_ahead_ = false;
    const MergedRecord* main_ = nullptr;
    const Route* route_ = nullptr;
    uint64_t mono_ns_ = 0;
};

} // namespace daybreak::analyze
