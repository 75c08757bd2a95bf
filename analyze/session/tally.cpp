// SPDX-License-Identifier: Apache-2.0
//
// Which records may be counted out of order, and counting them block by block.
#include "analyze/session/tally.hpp"

#include "analyze/decode/time_span.hpp"

#include <algorithm>
#include <span>

namespace daybreak::analyze {

using formats::Firing;

namespace {

/// After so many segments without much to count the rest is left to the merge.
constexpr uint64_t kSegmentsTried = 64;

bool is_orderly(const formats::RingRecording& ring) {
    const std::vector<formats::EcbInfo>& ecbs = ring.ecbs.all();
    return std::none_of(ecbs.begin(), ecbs.end(), [](const formats::EcbInfo& ecb) {
        return (ecb.flags & DBK_ECB_F_SPECULATES) != 0;
    });
}

bool may_be_tallied(const formats::RingRecording& ring, Consumer& consumer) {
    return ring.info.facts.aggregate != DBK_AGGREGATE_ENGINE &&
           !consumer.program().functions().empty() && !consumer.program().reads_aggregations();
}

/// The index in kHeaderItems of what lies there in a segment's header.
constexpr size_t header_item(size_t offset) {
    size_t item = 0;
    while (formats::kHeaderItems[item].offset != offset)
        item++;
    return item;
}

} // namespace

Tally::Tally(const formats::Recording& recording, std::vector<Consumer*> consumers,
             const TimeWindow& window, const YieldedEcbs& yielded)
    : recording_(recording), consumers_(std::move(consumers)), window_(window),
      tallied_(recording.rings.size()) {
    const auto& rings = recording.rings;
    if (!std::all_of(rings.begin(), rings.end(), is_orderly) ||
        std::any_of(consumers_.begin(), consumers_.end(),
                    [](const Consumer* consumer) { return consumer->options().flowindent; }))
        return;
    for (size_t i = 0; i < yielded.size(); i++)
        epids_.push_back(rings[i].ecbs.epids(yielded[i]));
    for (size_t i = 0; i < rings.size(); i++) {
        if (!may_be_tallied(rings[i], *consumers_[i]))
            continue;
        tallied_[i].resize(rings[i].cpus.size());
        for (size_t cpu = 0; cpu < rings[i].cpus.size(); cpu++) {
            tallied_[i][cpu] = TalliedSegments(rings[i].cpus[cpu].segments.size());
            Place place{i, cpu, 0};
            pass_earlier(place);
            pass_others(place);
            if (has_next(place))
                places_.push_back(place);
        }
    }
}

const formats::SegmentList& Tally::segments_of(const Place& place) const {
    return recording_.rings[place.ring].cpus[place.cpu].segments;
}

/// Passes over the runs of segments before the window.
void Tally::pass_earlier(Place& place) const {
    const formats::RingRecording& ring = recording_.rings[place.ring];
    for (const formats::SegmentList::Part& part : segments_of(place).parts()) {
        if (!window_.is_set() || !part.is_run() || overlaps(window_, ring, part.run))
            return;
        place.segment = part.end;
    }
}

/// Passes over segments in blocks that have nothing of what was asked for.
void Tally::pass_others(Place& place) const {
    while (!epids_.empty() && has_next(place) &&
           !formats::may_have(next_of(place), epids_[place.ring]))
        place.segment++;
}

void Tally::run() {
    while (!places_.empty() && is_worth_it()) {
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
bool Tally::is_worth_it() const {
    return segments_ < kSegmentsTried || records_ >= seen_ / 2;
}

void Tally::take_block(formats::PieceStore* store, uint32_t block) {
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
bool Tally::is_tried(const formats::PieceStore& store, uint32_t block) {
    std::vector<bool>& tried = tried_[&store];
    if (tried.size() <= block)
        tried.resize(size_t{block} + 1);
    bool was = tried[block];
    tried[block] = true;
    return was;
}

/// Counts a block of which all segments are here, of one ring and inside the window.
bool Tally::take_columns(formats::PieceStore& store, uint32_t block) {
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
    if (stored != records || !columns_.count(**columns, recording_.rings[ring], *consumers_[ring]))
        return false;
    RingProgram& program = consumers_[ring]->program();
    for (const formats::LayoutColumns& layout : (*columns)->layouts())
        if (layout.count != 0 && program.find(layout.record.word & DBK_EPID_MAX)->is_wanted)
            wanted_ += layout.count;
    for (const Taken& one : block_) {
        tallied_[ring][one.place.cpu].set(one.place.segment, kAllTallied);
        note(ring, one.segment, one.segment.record_count);
    }
    return true;
}

/// Whether the columns are those of the segments at hand, no more and no others.  Segments of
/// version 1 do not say which records are of one firing.
bool Tally::is_block_of(const formats::ColumnBlock& block) const {
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

void Tally::take_rows(const Place& place, const formats::SegmentInfo& segment) {
    if (!is_inside(place))
        return;
    bool is_all = false;
    uint32_t counted = count_rows(place.ring, segment, is_all);
    if (counted == 0)
        return;
    tallied_[place.ring][place.cpu].set(place.segment, is_all ? kAllTallied : counted);
    note(place.ring, segment, counted);
}

/// Returns whether all records of a segment are inside the window, and those of its neighbours, in
/// which firings of it may begin or end.
bool Tally::is_inside(const Place& place) const {
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

void Tally::note(size_t ring, const formats::SegmentInfo& segment, uint64_t records) {
    const formats::ClockModel& clock = recording_.rings[ring].clock;
    if (records == 0)
        return;
    records_ += records;
    first_boot_ns_ = std::min(first_boot_ns_, clock.boot_ns(clock.mono_ns(segment.min_ticks)));
    if (records == segment.record_count) // else the merge has later ones
        last_boot_ns_ = std::max(last_boot_ns_, clock.boot_ns(clock.mono_ns(segment.last_ticks)));
}

/// Gathers the records at the beginning of a segment that only aggregate.  Returns whether these
/// are all; `whole` is how many of them are of firings that end among them.
bool Tally::gather(RingProgram& program, formats::RecordCursor& cursor, size_t& whole) {
    formats::RecordView record;
    gathered_.clear();
    whole = 0;
    while (cursor.next(record)) {
        if (record.firing == Firing::begins)
            whole = gathered_.size();
        EcbPlan* plan = program.find(record.epid);
        if (!plan || !plan->only_aggregates || record.firing == Firing::unsaid ||
            record.commit_ticks != 0)
            return false;
        gathered_.push_back({plan, record.bytes});
    }
    return !cursor.damage();
}

/// Counts the firings at the beginning of a segment that only aggregate; returns their records, and
/// whether these are all that the segment should have.
uint32_t Tally::count_rows(size_t ring, const formats::SegmentInfo& segment, bool& is_all) {
    Consumer& consumer = *consumers_[ring];
    formats::RecordCursor cursor = formats::records_of(segment, recording_.rings[ring]);
    size_t counted = 0;
    is_all = gather(consumer.program(), cursor, counted) &&
             gathered_.size() == segment.record_count;
    if (is_all)
        counted = gathered_.size();
    for (const Gathered& one : std::span(gathered_).first(counted)) {
        consumer.count(*one.plan, one.record, &recent_);
        wanted_ += one.plan->is_wanted;
    }
    return static_cast<uint32_t>(counted);
}

} // namespace daybreak::analyze
