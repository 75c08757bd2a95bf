// SPDX-License-Identifier: Apache-2.0
//
// Runs of segments: what is kept of them, and reading them again.
#include "formats/segment/segment_list.hpp"

#include <algorithm>

namespace daybreak::formats {

namespace {

/// Returns whether these are the segments that the run was made of.
bool is_run_of(const SegmentRun& run, const std::vector<SegmentInfo>& all) {
    if (run.from > all.size() || run.count > all.size() - run.from)
        return false;
    const SegmentInfo* first = all.data() + run.from;
    for (uint32_t i = 0; i < run.count; i++)
        if (!may_be_in_run(first[i]) || (i > 0 && !follows_in_run(first[i - 1], first[i])))
            return false;
    SegmentRun now = run_of(first, run.count);
    return now.first_sequence == run.first_sequence && now.records_before == run.records_before &&
           now.record_count == run.record_count && now.opened.ticks == run.opened.ticks &&
           now.opened.mono_ns == run.opened.mono_ns && now.last_mono_ns == run.last_mono_ns &&
           now.min_ticks == run.min_ticks && now.max_ticks == run.max_ticks &&
           now.last_ticks == run.last_ticks && now.says_tsc == run.says_tsc;
}

/// What stands for segments that cannot be read any more: they are there, and have no record.
std::vector<SegmentInfo> stand_ins(const SegmentRun& run) {
    SegmentInfo one;
    one.recorded_ticks = one.min_ticks = one.last_ticks = run.opened.ticks;
    one.base_mono_ns = run.opened.mono_ns;
    one.records_before = run.records_before;
    one.counted = one.damaged = true;
    one.says_tsc = run.says_tsc;
    std::vector<SegmentInfo> all(run.count, one);
    for (uint32_t i = 0; i < run.count; i++)
        all[i].sequence = run.first_sequence + i;
    return all;
}

/// Of a run with holes what is there, by sequence number.
std::vector<SegmentInfo> found_of(const SegmentRun& run, const std::vector<SegmentInfo>& source) {
    std::vector<SegmentInfo> all = stand_ins(run);
    const SegmentInfo stand_in = all[0];
    for (const SegmentInfo& segment : source)
        if (segment.sequence >= run.first_sequence &&
            segment.sequence - run.first_sequence < run.count && may_be_in_run(segment) &&
            segment.says_tsc == run.says_tsc && segment.min_ticks >= run.min_ticks &&
            segment.last_ticks <= run.max_ticks)
            all[segment.sequence - run.first_sequence] = segment;
    for (size_t i = 1; i < all.size(); i++) {
        const SegmentInfo& before = all[i - 1];
        uint64_t records = before.records_before + before.record_count;
        SegmentInfo& segment = all[i];
        if (!segment.damaged && segment.records_before >= records &&
            segment.min_ticks >= before.last_ticks)
            continue;
        uint64_t sequence = segment.sequence;
        segment = stand_in;
        segment.sequence = sequence;
        segment.recorded_ticks = segment.min_ticks = segment.last_ticks = before.last_ticks;
        segment.base_mono_ns = before.base_mono_ns;
        segment.records_before = records;
    }
    return all;
}

} // namespace

bool may_be_in_run(const SegmentInfo& segment) {
    return segment.counted && !segment.damaged && segment.record_count != 0 &&
           segment.sequence != UINT64_MAX &&
           segment.records_before <= UINT64_MAX - segment.record_count;
}

bool follows_in_run(const SegmentInfo& segment, const SegmentInfo& next) {
    return next.sequence == segment.sequence + 1 &&
           next.records_before == segment.records_before + segment.record_count &&
           next.says_tsc == segment.says_tsc && next.file_number == segment.file_number &&
           next.window_id == segment.window_id;
}

SegmentRun run_of(const SegmentInfo* segments, size_t count) {
    const SegmentInfo &first = segments[0], &last = segments[count - 1];
    SegmentRun run;
    run.count = static_cast<uint32_t>(count);
    run.first_sequence = first.sequence;
    run.records_before = first.records_before;
    run.record_count = last.records_before + last.record_count - first.records_before;
    run.opened = {first.recorded_ticks, first.base_mono_ns};
    run.last_mono_ns = last.base_mono_ns;
    run.min_ticks = first.min_ticks;
    run.last_ticks = last.last_ticks;
    run.file_number = first.file_number;
    run.window_id = first.window_id;
    run.says_tsc = first.says_tsc;
    for (size_t i = 0; i < count; i++) {
        run.min_ticks = std::min(run.min_ticks, segments[i].min_ticks);
        run.max_ticks = std::max(run.max_ticks, segments[i].last_ticks);
        if (run.drops_place == 0)
            run.drops_place = segments[i].drops_place;
    }
    return run;
}

std::vector<SegmentInfo> segments_of(const SegmentRun& run) {
    SegmentSource::Segments source = run.source->segments(run.group, run.stream);
    if (!source)
        return stand_ins(run);
    std::vector<SegmentInfo> all;
    if (run.source->has_holes(run.group)) {
        all = found_of(run, *source);
    } else if (is_run_of(run, *source)) {
        auto first = source->begin() + run.from;
        all.assign(first, first + run.count);
    } else {
        run.source->add_changed(run.group);
        return stand_ins(run);
    }
    uint32_t drops_place = run.drops_place;
    for (SegmentInfo& segment : all) {
        segment.file_number = run.file_number;
        segment.window_id = run.window_id;
        if (segment.drops_place != 0)
            segment.drops_place = drops_place == 0 ? 0 : drops_place++;
    }
    return all;
}

size_t SegmentList::part_at(size_t index) const {
    if (last_part_ < parts_.size() && parts_[last_part_].begin <= index &&
        index < parts_[last_part_].end)
        return last_part_;
    return search(index);
}

size_t SegmentList::search(size_t index) const {
    DBK_ASSERT(index < size());
    auto above =
        std::upper_bound(parts_.begin(), parts_.end(), index,
                         [](size_t at, const Part& part) { return at < part.begin; });
    return last_part_ = static_cast<size_t>(above - parts_.begin()) - 1;
}

SegmentInfo SegmentList::of_run(const Part& part, size_t index) const {
    if (!last_ || last_begin_ != part.begin) {
        last_ = std::make_shared<const std::vector<SegmentInfo>>(segments_of(part.run));
        last_begin_ = part.begin;
    }
    return (*last_)[index - part.begin];
}

SegmentInfo& SegmentList::in_memory(size_t index) {
    Part& part = parts_[part_at(index)];
    DBK_ASSERT(!part.is_run());
    return part.segments[index - part.begin];
}

void SegmentList::push_back(const SegmentInfo& segment) {
    if (parts_.empty() || parts_.back().is_run()) {
        size_t begin = size();
        parts_.emplace_back().begin = begin;
        parts_.back().end = begin;
    }
    parts_.back().segments.push_back(segment);
    parts_.back().end++;
}

void SegmentList::push_back(const SegmentRun& run) {
    DBK_ASSERT(run.source && run.count != 0);
    size_t begin = size();
    Part& part = parts_.emplace_back();
    part.begin = begin;
    part.end = begin + run.count;
    part.run = run;
}

void SegmentList::append(SegmentList more) {
    if (empty()) {
        *this = std::move(more);
        return;
    }
    for (Part& part : more.parts_) {
        if (part.is_run())
            push_back(part.run);
        else
            for (const SegmentInfo& segment : part.segments)
                push_back(segment);
    }
}

std::vector<SegmentInfo> SegmentList::take_from(size_t begin) {
    std::vector<SegmentInfo> taken;
    if (begin >= size())
        return taken;
    Part& part = parts_.back();
    DBK_ASSERT(!part.is_run() && begin >= part.begin);
    taken.reserve(part.end - begin);
    for (size_t i = begin - part.begin; i < part.segments.size(); i++)
        taken.push_back(part.segments[i]);
    part.segments.truncate(begin - part.begin);
    part.end = begin;
    if (part.size() == 0)
        parts_.pop_back();
    return taken;
}

void SegmentList::unfold(size_t index) {
    Part& part = parts_[index];
    if (!part.is_run())
        return;
    for (const SegmentInfo& segment : segments_of(part.run))
        part.segments.push_back(segment);
    part.run = {};
    last_ = {};
}

void SegmentList::unfold_all() {
    for (size_t i = 0; i < parts_.size(); i++)
        unfold(i);
}

void SegmentList::move_drops(uint32_t places) {
    for (Part& part : parts_) {
        part.run.drops_place += part.run.drops_place != 0 ? places : 0;
        for (SegmentInfo& segment : part.segments)
            segment.drops_place += segment.drops_place != 0 ? places : 0;
    }
    last_ = {};
}

} // namespace daybreak::formats
