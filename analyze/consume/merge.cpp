// SPDX-License-Identifier: Apache-2.0
//
// RecordMerge: the records of all CPUs and rings in the order of time.
#include "analyze/consume/merge.hpp"

#include <algorithm>

namespace daybreak::analyze {

RecordMerge::RecordMerge(const formats::Recording& recording)
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
        runs_[i].has_following = read(runs_[i], runs_[i].following);
        if (advance(runs_[i]))
            heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) { return later(a, b); });
}

bool RecordMerge::later(size_t a, size_t b) const {
    return runs_[a].key != runs_[b].key ? runs_[a].key > runs_[b].key : a > b;
}

bool RecordMerge::read(Run& run, formats::RecordView& record) {
    while (!run.cursor || !run.cursor->next(record)) {
        if (run.segment >= run.cpu->segments.size())
            return false;
        run.cursor = formats::records_of(run.cpu->segments[run.segment++], *run.recording);
    }
    return true;
}

bool RecordMerge::advance(Run& run) {
    if (!run.has_following)
        return false;
    run.current = run.following;
    run.has_following = read(run, run.following);
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
    merged = {run.ring, run.cpu->cpu, run.current, run.has_following ? run.following.epid : 0};
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
