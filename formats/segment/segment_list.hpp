// SPDX-License-Identifier: Apache-2.0
//
// SegmentList: the segments of one CPU, of which most may be known by a summary alone.
//
// A recording of 10 GB has more than ten million segments; 96 bytes for each would be a gigabyte.
// Where a trace file's index describes many that follow each other without a hole, the list keeps
// a SegmentRun of them and reads the index again when one of them is asked for:
//
//     parts     [ run: 17 .. 2064 ][ 2065 | 2066 | 2070 ][ run: 2071 .. 4118 ]
//                     |                 in memory
//                     `-- SegmentSource: index block 0 of the file --> 2048 x SegmentInfo
//
// So segments are handed out by value.  Who only wants sums goes from part to part.
#pragma once

#include "base/chunk_list.hpp"
#include "formats/segment/clock.hpp"
#include "formats/segment/piece_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

namespace daybreak::formats {

/// One checked segment.  Its header fields hold; its records were walked once, by build() or by
/// what wrote the file's index.  A large recording has millions of them.
struct SegmentInfo {
    uint64_t sequence = 0;
    uint64_t recorded_ticks = 0; ///< when it was opened, as recorded; see clock.hpp
    uint64_t base_mono_ns = 0;
    uint64_t records_before = 0; ///< records this CPU had committed before it
    uint64_t min_ticks = 0;      ///< of the readable record made first, else base_ticks()
    uint64_t last_ticks = 0;     ///< of the one made last, else base_ticks()
    PieceBytes bytes;            ///< header and committed bytes; the Recording's, or of its stores
    uint32_t epoch = 0, last_epoch = 0; ///< of the clock, in which its records may lie
    uint32_t file_number = 0;       ///< of the file it came from, in a recorder's row; 0: of none
    uint32_t window_id = 0;         ///< of the snapshot of a window it came from; 0: of none
    uint32_t drops_place = 0;       ///< in CpuInfo::drops, from 1; 0: nothing was dropped in it
    uint32_t record_count : 28 = 0; ///< readable ones
    uint32_t counted : 1 = 0;       ///< these by the index, or the walk, of its file
    uint32_t sealed : 1 = 0;        ///< its checksum was there and held
    uint32_t damaged : 1 = 0;       ///< the walk ended early; a finding says why
    uint32_t says_tsc : 1 = 0;      ///< its ticks are TSC ticks

    /// When it was opened, shifted, as all ticks are but recorded_ticks.
    uint64_t base_ticks(const ClockModel& clock) const {
        return clock.has_jumps() ? recorded_ticks + clock.epochs()[epoch].shift : recorded_ticks;
    }
};

static_assert(sizeof(SegmentInfo) == 96, "a recording has millions of them");

/// Where the segments of a run are read again.
class SegmentSource {
public:
    virtual ~SegmentSource() = default;
    /// Returns all segments of a stream (one CPU of one ring) that a group (what one index block
    /// describes) has, in the order of the index.  file_number, window_id and drops_place are not
    /// set, but for a drops_place of 1 where anything was dropped.  Null when they cannot be read any
    /// more; what is wrong is reported then, late.
    using Segments = std::shared_ptr<const std::vector<SegmentInfo>>;
    virtual Segments segments(uint32_t group, uint32_t stream) = 0;
    /// Reports that the group does not have what the run says of it.
    virtual void add_changed(uint32_t group) = 0;
    /// Returns whether a part of the group is damaged, which has been reported: of its runs those
    /// segments count that are there.
    virtual bool has_holes(uint32_t group) const {
        (void)group;
        return false;
    }
};

/// Segments of one CPU whose sequence numbers follow each other, all of them counted, with records
/// and without damage, each beginning with the record after the last one of the one before.
struct SegmentRun {
    SegmentSource* source = nullptr; ///< the Recording's
    uint32_t group = 0, stream = 0;  ///< of the source
    uint32_t from = 0, count = 0;    ///< of what the source has of these
    uint64_t first_sequence = 0;
    uint64_t records_before = 0; ///< of the first
    uint64_t record_count = 0;   ///< of all
    ClockPair opened;            ///< of the first, as recorded
    uint64_t last_mono_ns = 0;   ///< base_mono_ns of the last
    uint64_t min_ticks = 0, max_ticks = 0; ///< of all records
    uint64_t last_ticks = 0;     ///< of the last segment
    uint32_t file_number = 0, window_id = 0;
    uint32_t drops_place = 0;    ///< of the first that has one; theirs follow each other
    bool says_tsc = false;       ///< all of them do, else none

    uint64_t last_sequence() const { return first_sequence + count - 1; }
    uint64_t records_after() const { return records_before + record_count; }
};

/// Returns the segments of the run; what stands for them when they cannot be read any more has no
/// records and is damaged.
std::vector<SegmentInfo> segments_of(const SegmentRun& run);
/// Returns the run that the segments are; they are as SegmentRun says, and not none.  Where they
/// are read again is the caller's to say.
SegmentRun run_of(const SegmentInfo* segments, size_t count);
/// Returns whether both may be of one run, one after the other.
bool follows_in_run(const SegmentInfo& segment, const SegmentInfo& next);
/// Returns whether the segment may be of a run.
bool may_be_in_run(const SegmentInfo& segment);

class SegmentList {
    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = SegmentInfo;
        using difference_type = std::ptrdiff_t;
        using reference = SegmentInfo;
        using pointer = void;

        Iterator() = default;
        Iterator(const SegmentList* list, size_t index) : list_(list), index_(index) {}
        SegmentInfo operator*() const { return (*list_)[index_]; }
        Iterator& operator++() {
            index_++;
            return *this;
        }
        Iterator operator++(int) { return {list_, index_++}; }
        bool operator==(const Iterator&) const = default;

    private:
        const SegmentList* list_ = nullptr;
        size_t index_ = 0;
    };

public:
    using value_type = SegmentInfo;
    using const_iterator = Iterator;

    /// Some of the list, in order: a run, or segments in memory.
    struct Part {
        size_t begin = 0, end = 0; ///< indexes of the list
        SegmentRun run;            ///< when run.source is there
        base::ChunkList<SegmentInfo> segments;

        bool is_run() const { return run.source != nullptr; }
        size_t size() const { return end - begin; }
    };

    size_t size() const { return parts_.empty() ? 0 : parts_.back().end; }
    bool empty() const { return parts_.empty(); }
    SegmentInfo operator[](size_t index) const {
        const Part& part = parts_[part_at(index)];
        return part.is_run() ? of_run(part, index) : part.segments[index - part.begin];
    }
    SegmentInfo at(size_t index) const {
        DBK_ASSERT(index < size());
        return (*this)[index];
    }
    SegmentInfo front() const { return (*this)[0]; }
    SegmentInfo back() const { return (*this)[size() - 1]; }
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, size()}; }

    const std::vector<Part>& parts() const { return parts_; }
    /// Returns the part that has the segment.
    const Part& part_of(size_t index) const { return parts_[part_at(index)]; }

    /// Of a segment in memory; until the list changes.
    SegmentInfo& in_memory(size_t index);
    void push_back(const SegmentInfo& segment);
    void push_back(const SegmentRun& run);
    /// Adds what the other has.
    void append(SegmentList more);
    /// Takes out the segments from `begin` on, which are in memory.
    std::vector<SegmentInfo> take_from(size_t begin);
    /// Has all of a run in memory from now on.
    void unfold(size_t part);
    void unfold_all();
    void clear() { *this = SegmentList(); }
    /// Adds to drops_place of all segments that have one.
    void move_drops(uint32_t places);

private:
    size_t part_at(size_t index) const;
    size_t search(size_t index) const;
    SegmentInfo of_run(const Part& part, size_t index) const;

    std::vector<Part> parts_;
    mutable size_t last_part_ = 0; // that was asked for
    mutable std::shared_ptr<const std::vector<SegmentInfo>> last_; // of the run read last
    mutable size_t last_begin_ = 0;                                // where that one begins
};

} // namespace daybreak::formats
