// SPDX-License-Identifier: Apache-2.0
//
// Tally: counts the records whose place among the others does not matter, before those are merged.
//
// Most programs aggregate from the first record to the last and look at the values at the end.
// What such a record adds is the same in any order, so it needs neither its time nor the records of
// other CPUs: segments are taken as they lie in the file, a block at a time.
//
//     segment:  a a a a a a a p a a a        a: its firing only aggregates    p: prints, too
//               `-- tallied -' `-- left to the merge
//
// It is not for a recording whose order can be seen: where a clause reads or changes aggregations
// (printa(), clear(), trunc(), normalize(), setopt()), where records were committed, with option
// flowindent, and where the engine counted.  What is printed is the same with and without
// (docs/design/0059-tally.md).
#pragma once

#include "analyze/session/column_tally.hpp"
#include "analyze/session/segment_walk.hpp"

#include <vector>

namespace daybreak::analyze {

class Tally : private SegmentCounter {
public:
    /// `consumers` are those of the recording's rings, in that order; all must outlive it.
    /// `yielded` as the merge has it: what lies in a block without any of them is not counted.
    Tally(const formats::Recording& recording, std::vector<Consumer*> consumers,
          const TimeWindow& window, const YieldedEcbs& yielded = {});
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;

    /// Counts what it may.
    void run() { walk_.run(); }
    /// What the merge has to leave out; it must not outlive the tally.
    const TalliedRecords& tallied() const { return walk_.tallied(); }
    uint64_t records() const { return walk_.records(); }
    /// Of these, those of probes that were asked for.
    uint64_t wanted_records() const { return wanted_; }
    /// Since the boot, of what was counted; meant when records() is not 0.
    uint64_t first_boot_ns() const { return walk_.first_boot_ns(); }
    uint64_t last_boot_ns() const { return walk_.last_boot_ns(); }

private:
    struct Gathered {
        EcbPlan* plan;
        base::ByteView record;
        uint64_t ticks;
    };

    bool count_columns(size_t ring, const formats::ColumnBlock& block) override;
    uint32_t count_rows(size_t ring, const formats::SegmentInfo& segment, bool& is_all) override;
    bool gather(RingProgram& program, formats::RecordCursor& cursor, size_t& whole);

    const formats::Recording& recording_;
    const std::vector<Consumer*> consumers_;
    SegmentWalk walk_;
    std::vector<Gathered> gathered_; // of the segment at hand
    ColumnTally columns_;
    RecentKeys recent_;
    uint64_t wanted_ = 0;
};

} // namespace daybreak::analyze
