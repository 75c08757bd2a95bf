// SPDX-License-Identifier: Apache-2.0
//
// SegmentWalk: takes the segments of a recording as they lie in its file, a block at a time.
//
// Who counts records whose place among the others does not matter (Tally for a report, a replay for
// clauses that only aggregate) is asked to count whole blocks by their columns, and segments where
// there are none.  What it counted is left out by the merge afterwards.
#pragma once

#include "analyze/decode/merge.hpp"
#include "analyze/decode/window.hpp"
#include "formats/trace/column_block.hpp"

#include <map>
#include <vector>

namespace daybreak::analyze {

class SegmentCounter {
public:
    virtual ~SegmentCounter() = default;
    /// Counts all records of a block, which are of this ring and inside the window.  False: nothing
    /// was counted.
    virtual bool count_columns(size_t ring, const formats::ColumnBlock& block) = 0;
    /// Counts the first records of a segment, firings whole; returns how many.  `is_all` becomes
    /// true when these are all that it should have.
    virtual uint32_t count_rows(size_t ring, const formats::SegmentInfo& segment, bool& is_all) = 0;
    /// Asked before each block; false ends the walk.
    virtual bool goes_on(uint64_t /*records*/) { return true; }
};

class SegmentWalk {
public:
    /// All must outlive it.  What lies in a block without any of those `yielded` (as the merge has
    /// it) is passed over.
    SegmentWalk(const formats::Recording& recording, const TimeWindow& window,
                const YieldedEcbs& yielded, SegmentCounter& counter);

    /// Adds a ring to those that are walked.
    void add_ring(size_t ring);
    /// Hands over one block after the other, as long as most of it is counted.
    void run();
    /// What the merge has to leave out; it must not outlive the walk.
    const TalliedRecords& tallied() const { return tallied_; }
    uint64_t records() const { return records_; } ///< counted
    /// Since the boot, of what was counted; meant when records() is not 0.
    uint64_t first_boot_ns() const { return first_boot_ns_; }
    uint64_t last_boot_ns() const { return last_boot_ns_; }

private:
    /// The next segment of a CPU that is to be looked at.
    struct Place {
        size_t ring = 0, cpu = 0, segment = 0;
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
    bool is_block_of(const formats::ColumnBlock& block) const;
    bool is_inside(const Place& place) const;
    void note(size_t ring, const formats::SegmentInfo& segment, uint64_t records);
    bool is_worth_it() const;

    const formats::Recording& recording_;
    const TimeWindow window_;
    SegmentCounter& counter_;
    std::vector<std::vector<uint32_t>> epids_; // of each ring that are yielded; empty: all
    TalliedRecords tallied_;
    std::vector<Place> places_; // one for each CPU that has segments left
    std::vector<Taken> block_;  // the segments of the block at hand
    /// Blocks whose columns were asked for: those that do not have all their segments in a row come
    /// again, and are unpacked once.
    std::map<const formats::PieceStore*, std::vector<bool>> tried_;
    uint64_t segments_ = 0, seen_ = 0, records_ = 0;
    uint64_t first_boot_ns_ = UINT64_MAX, last_boot_ns_ = 0;
};

} // namespace daybreak::analyze
