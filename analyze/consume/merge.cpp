// SPDX-License-Identifier: Apache-2.0
//
// RecordMerge: the records of all CPUs and rings in the order of time.
#include "analyze/consume/merge.hpp"

#include <algorithm>

namespace daybreak::analyze {

RecordMerge::RecordMerge(const formats::Recording& recording, const MergeStarts& starts)
    : by_nanoseconds_(recording.rings.size() > 1) {
    for (size_t ring = 0; ring < recording.rings.size(); ring++) {
        for (const formats::CpuInfo& cpu : recording.rings[ring].cpus) {
            Run run;
            run.ring = ring;
            run.recording = &recording.rings[ring];
            run.cpu = &cpu;
            runs_.push_back(std::move(run));
        }
    }
    for (size_t i = 0; i < runs_.size(); i++) {
        auto start = starts.find({runs_[i].recording->ring_id, runs_[i].cpu->cpu});
        begin(runs_[i], start == starts.end() ? MergeStart{} : start->second);
        if (advance(runs_[i]))
            heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) { return later(a, b); });
}

bool RecordMerge::later(size_t a, size_t b) const {
    return runs_[a].key != runs_[b].key ? runs_[a].key > runs_[b].key : a > b;
}

void RecordMerge::begin(Run& run, const MergeStart& start) {
    while (run.segment < run.cpu->segments.size() &&
           run.cpu->segments[run.segment].sequence < start.sequence)
        run.segment++;
    do
        read_following(run);
    while (run.has_following && run.following_sequence == start.sequence &&
           run.following_index < start.records);
}

void RecordMerge::read_following(Run& run) {
    run.following_index++;
    while (!run.cursor || !run.cursor->next(run.following)) {
        run.has_following = run.segment < run.cpu->segments.size();
        if (!run.has_following)
            return;
        const formats::SegmentInfo& segment = run.cpu->segments[run.segment++];
        run.cursor = formats::records_of(segment, *run.recording);
        run.following_sequence = segment.sequence;
        run.following_index = 0;
    }
    run.has_following = true;
}

bool RecordMerge::advance(Run& run) {
    if (!run.has_following)
        return false;
    run.current = run.following;
    run.current_sequence = run.following_sequence;
    run.current_index = run.following_index;
    read_following(run);
    uint64_t key =
        by_nanoseconds_ ? run.recording->clock.mono_ns(run.current.ticks) : run.current.ticks;
    // A CPU's records are in the order it wrote them, whatever its clock did.
    run.key = std::max(run.key, key);
    return true;
}

bool RecordMerge::next(MergedRecord& merged) {
    if (heap_.empty())
        return false;
    auto order = [this](size_t a, size_t b) { return later(a, b); };
    Run& run = runs_[heap_.front()];
    merged = {run.ring,
              run.cpu->cpu,
              run.current,
              run.has_following ? run.following.epid : 0,
              run.current_sequence,
              run.current_index};
    if (heap_.size() == 1) {
        if (!advance(run))
            heap_.clear();
        return true;
    }
    std::pop_heap(heap_.begin(), heap_.end(), order);
    if (advance(run))
        std::push_heap(heap_.begin(), heap_.end(), order);
    else
        heap_.pop_back();
    return true;
}

} // namespace daybreak::analyze
