// SPDX-License-Identifier: Apache-2.0
//
// SegmentWalk: takes the segments of a recording as they lie in its file, a block at a time.
#include "analyze/session/segment_walk.hpp"

#include "analyze/decode/time_span.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// After so many segments without much to count the rest is left to the merge.
constexpr uint64_t kSegmentsTried = 64;

/// The index in kHeaderItems of what lies there in a segment's header.
constexpr size_t header_item(size_t offset) {
    size_t item = 0;
    while (formats::kHeaderItems[item].offset != offset)
        item++;
    return item;
}

} // namespace

SegmentWalk::SegmentWalk(const formats::Recording& recording, const TimeWindow& window,
                         const YieldedEcbs& yielded, SegmentCounter& counter)
    : recording_(recording), window_(window), counter_(counter), tallied_(recording.rings.size()) {
    for (size_t i = 0; i < yielded.size(); i++)
        epids_.push_back(recording.rings[i].ecbs.epids(yielded[i]));
}

void SegmentWalk::add_ring(size_t ring) {
    const std::vector<formats::CpuInfo>& cpus = recording_.rings[ring].cpus;
    tallied_[ring].resize(cpus.size());
    for (size_t cpu = 0; cpu < cpus.size(); cpu++) {
        tallied_[ring][cpu] = TalliedSegments(cpus[cpu].segments.size());
        Place place{ring, cpu, 0};
        pass_earlier(place);
        pass_others(place);
        if (has_next(place))
            places_.push_back(place);
    }
}

const formats::SegmentList& SegmentWalk::segments_of(const Place& place) const {
    return recording_.rings[place.ring].cpus[place.cpu].segments;
}

/// Passes over the runs of segments before the window.
void SegmentWalk::pass_earlier(Place& place) const {
    const formats::RingRecording& ring = recording_.rings[place.ring];
    for (const formats::SegmentList::Part& part : segments_of(place).parts()) {
        if (!window_.is_set() || !part.is_run() || overlaps(window_, ring, part.run))
            return;
        place.segment = part.end;
    }
}

/// Passes over segments in blocks that have nothing of what was asked for.
void SegmentWalk::pass_others(Place& place) const {
    while (!epids_.empty() && has_next(place) &&
           !formats::may_have(next_of(place), epids_[place.ring]))
        place.segment++;
}

void SegmentWalk::run() {
    while (!places_.empty() && is_worth_it() && counter_.goes_on(records_)) {
        auto order = [this](const Place& a, const Place& b) {
            const formats::PieceBytes left = next_of(a).bytes, right = next_of(b).bytes;
            return left.store() != right.store() ? left.store() < right.store()
                                                 : left.block() < right.block();
        };
        auto first = std::min_element(places_.begin(), places_.end(), order);
        const formats::PieceBytes bytes = next_of(*first).bytes;
        take_block(bytes.store(), bytes.block());
        for (Place& place : places_)
            pass_others(place);
        std::erase_if(places_, [this](const Place& place) { return !has_next(place); });
    }
}

/// Most of what was seen could be counted, or little was seen.
bool SegmentWalk::is_worth_it() const {
    return segments_ < kSegmentsTried || records_ >= seen_ / 2;
}

void SegmentWalk::take_block(formats::PieceStore* store, uint32_t block) {
    block_.clear();
    for (Place& place : places_)
        for (; has_next(place); place.segment++) {
            formats::SegmentInfo segment = next_of(place);
            if (segment.bytes.store() != store || segment.bytes.block() != block)
                break;
            segments_++;
            seen_ += segment.record_count;
            if (store)
                block_.push_back({place, segment});
            else // in memory all are of one block
                take_rows(place, segment);
        }
    if (!store || take_columns(*store, block))
        return;
    for (const Taken& one : block_)
        take_rows(one.place, one.segment);
}

/// Returns whether the columns of a block were asked for; they are, from now on.
bool SegmentWalk::is_tried(const formats::PieceStore& store, uint32_t block) {
    std::vector<bool>& tried = tried_[&store];
    if (tried.size() <= block)
        tried.resize(size_t{block} + 1);
    bool was = tried[block];
    tried[block] = true;
    return was;
}

/// Counts a block of which all segments are here, of one ring and inside the window.
bool SegmentWalk::take_columns(formats::PieceStore& store, uint32_t block) {
    size_t ring = block_.front().place.ring;
    uint64_t records = 0;
    if (is_tried(store, block))
        return false;
    for (const Taken& one : block_) {
        if (one.place.ring != ring || !is_inside(one.place))
            return false;
        records += one.segment.record_count;
    }
    auto columns = store.columns(block);
    if (!columns.ok() || !*columns || !is_block_of(**columns))
        return false;
    uint64_t stored = 0;
    for (const formats::LayoutColumns& layout : (*columns)->layouts())
        stored += layout.count;
    if (stored != records || !counter_.count_columns(ring, **columns))
        return false;
    for (const Taken& one : block_) {
        tallied_[ring][one.place.cpu].set(one.place.segment, kAllTallied);
        note(ring, one.segment, one.segment.record_count);
    }
    return true;
}

/// Whether the columns are those of the segments at hand, no more and no others.  Segments of
/// version 1 do not say which records are of one firing.
bool SegmentWalk::is_block_of(const formats::ColumnBlock& block) const {
    std::vector<Taken> all = block_;
    std::sort(all.begin(), all.end(), [](const Taken& a, const Taken& b) {
        return a.segment.bytes.offset() < b.segment.bytes.offset();
    });
    std::vector<uint64_t> versions, cpus, sequences, sizes;
    if (block.segment_count() != all.size() ||
        !block.header(header_item(offsetof(dbk_segment_header, version)), versions).ok() ||
        !block.header(header_item(offsetof(dbk_segment_header, cpu)), cpus).ok() ||
        !block.header(header_item(offsetof(dbk_segment_header, sequence)), sequences).ok() ||
        !block.header(formats::kCommittedItem, sizes).ok())
        return false;
    for (size_t i = 0; i < all.size(); i++) {
        const auto& [place, segment] = all[i];
        if (versions[i] == DBK_SEGMENT_VERSION_FIRST || sequences[i] != segment.sequence ||
            sizes[i] != segment.bytes.size() ||
            cpus[i] != recording_.rings[place.ring].cpus[place.cpu].cpu)
            return false;
    }
    return true;
}

void SegmentWalk::take_rows(const Place& place, const formats::SegmentInfo& segment) {
    if (!is_inside(place))
        return;
    bool is_all = false;
    uint32_t counted = counter_.count_rows(place.ring, segment, is_all);
    if (counted == 0)
        return;
    tallied_[place.ring][place.cpu].set(place.segment, is_all ? kAllTallied : counted);
    note(place.ring, segment, counted);
}

/// Returns whether all records of a segment are inside the window, and those of its neighbours, in
/// which firings of it may begin or end.
bool SegmentWalk::is_inside(const Place& place) const {
    if (!window_.is_set())
        return true;
    const formats::RingRecording& ring = recording_.rings[place.ring];
    const auto& segments = ring.cpus[place.cpu].segments;
    size_t last = std::min(place.segment + 1, segments.size() - 1);
    for (size_t i = place.segment == 0 ? 0 : place.segment - 1; i <= last; i++) {
        formats::SegmentInfo segment = segments[i];
        if (!window_.has(ring.clock.mono_ns(segment.min_ticks)) ||
            !window_.has(ring.clock.mono_ns(segment.last_ticks)))
            return false;
    }
    return true;
}

void SegmentWalk::note(size_t ring, const formats::SegmentInfo& segment, uint64_t records) {
    const formats::ClockModel& clock = recording_.rings[ring].clock;
    if (records == 0)
        return;
    records_ += records;
    first_boot_ns_ = std::min(first_boot_ns_, clock.boot_ns(clock.mono_ns(segment.min_ticks)));
    if (records == segment.record_count) // else the merge has later ones
        last_boot_ns_ = std::max(last_boot_ns_, clock.boot_ns(clock.mono_ns(segment.last_ticks)));
}

} // namespace daybreak::analyze
