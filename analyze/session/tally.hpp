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

#include "analyze/decode/merge.hpp"
#include "analyze/decode/window.hpp"
#include "analyze/session/column_tally.hpp"

#include <map>
#include <vector>

namespace daybreak::analyze {

class Tally {
public:
    /// `consumers` are those of the recording's rings, in that order; all must outlive it.
    /// `yielded` as the merge has it: what lies in a block without any of them is not counted.
    Tally(const formats::Recording& recording, std::vector<Consumer*> consumers,
          const TimeWindow& window, const YieldedEcbs& yielded = {});

    /// Counts what it may.
    void run();
    /// What the merge has to leave out; it must not outlive the tally.
    const TalliedRecords& tallied() const { return tallied_; }
    uint64_t records() const { return records_; }
    /// Of these, those of probes that were asked for.
    uint64_t wanted_records() const { return wanted_; }
    /// Since the boot, of what was counted; meant when records() is not 0.
    uint64_t first_boot_ns() const { return first_boot_ns_; }
    uint64_t last_boot_ns() const { return last_boot_ns_; }

private:
    /// The next segment of a CPU that is to be looked at.
    struct Place {
        size_t ring = 0, cpu = 0, segment = 0;
    };
    struct Gathered {
        EcbPlan* plan;
        base::ByteView record;
    };

    /// A segment of the block at hand.
    struct Taken {
        Place place;
        formats::SegmentInfo segment;
    };

    const formats::SegmentList& segments_of(const Place& place) const;
    bool has_next(const Place& place) const { return place.segment < segments_of(place).size(); }
    formats::SegmentInfo next_of(const Place& place) const {
        return segments_of(place)[place.segment];
    }
    void pass_earlier(Place& place) const;
    void pass_others(Place& place) const;
    bool is_tried(const formats::PieceStore& store, uint32_t block);
    void take_block(formats::PieceStore* store, uint32_t block);
    bool take_columns(formats::PieceStore& store, uint32_t block);
    void take_rows(const Place& place, const formats::SegmentInfo& segment);
    bool gather(RingProgram& program, formats::RecordCursor& cursor, size_t& whole);
    uint32_t count_rows(size_t ring, const formats::SegmentInfo& segment, bool& is_all);
    bool is_block_of(const formats::ColumnBlock& block) const;
    bool is_inside(const Place& place) const;
    void note(size_t ring, const formats::SegmentInfo& segment, uint64_t records);
    bool is_worth_it() const;

    const formats::Recording& recording_;
    const std::vector<Consumer*> consumers_;
    const TimeWindow window_;
    std::vector<std::vector<uint32_t>> epids_; // of each ring that are yielded; empty: all
    TalliedRecords tallied_;
    std::vector<Place> places_;      // one for each CPU that has segments left
    std::vector<Taken> block_;       // the segments of the block at hand
    std::vector<Gathered> gathered_; // of the segment at hand
    /// Blocks whose columns were asked for: those that do not have all their segments in a row come
    /// again, and are unpacked once.
    std::map<const formats::PieceStore*, std::vector<bool>> tried_;
    ColumnTally columns_;
    RecentKeys recent_;
    uint64_t segments_ = 0, seen_ = 0, records_ = 0, wanted_ = 0;
    uint64_t first_boot_ns_ = UINT64_MAX, last_boot_ns_ = 0;
};

} // namespace daybreak::analyze
