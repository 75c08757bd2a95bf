// SPDX-License-Identifier: Apache-2.0
//
// FiringMerge: the firings of all recordings of a replay, in the order of their common time.
#include "analyze/replay/firing_merge.hpp"

#include <utility>

namespace daybreak::analyze {

FiringMerge::FiringMerge(std::span<const ReplayedRecording> recordings,
                         const std::vector<ReplayedProbesById>& probes,
                         std::span<const FiringReader::Choice> choices)
    : recordings_(recordings), times_ns_(recordings.size()) {
    for (size_t i = 0; i < recordings.size(); i++)
        readers_.push_back(std::make_unique<FiringReader>(
            *recordings[i].recording, recordings[i].ring_index, *recordings[i].table, probes[i],
            choices[i]));
}

bool FiringMerge::next_of_several() {
    auto later = [this](size_t a, size_t b) { return is_later(a, b); };
    bool goes_on = false;
    if (has_begun_) {
        goes_on = advance(recording_);
    } else {
        has_begun_ = true;
        for (size_t i = 0; i < readers_.size(); i++)
            if (advance(i))
                heap_.push_back(i);
        std::make_heap(heap_.begin(), heap_.end(), later);
    }
    if (goes_on && (heap_.empty() || is_later(heap_.front(), recording_)))
        return true;
    if (heap_.empty())
        return false;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    size_t before = std::exchange(recording_, heap_.back());
    heap_.pop_back();
    if (goes_on) {
        heap_.push_back(before);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    return true;
}

} // namespace daybreak::analyze
