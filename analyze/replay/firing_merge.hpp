// SPDX-License-Identifier: Apache-2.0
//
// FiringMerge: the firings of all recordings of a replay, in the order of their common time.
//
// Firings of one moment come in the order of the recordings.
#pragma once

#include "analyze/replay/firing_reader.hpp"
#include "analyze/replay/replayed_recording.hpp"

#include <algorithm>
#include <memory>

namespace daybreak::analyze {

class FiringMerge {
public:
    /// `probes` has those of each recording by the ids that they were recorded under, `choices` which
    /// firings are read of each.  All must outlive the merge.
    FiringMerge(std::span<const ReplayedRecording> recordings,
                const std::vector<ReplayedProbesById>& probes,
                std::span<const FiringReader::Choice> choices);

    /// Goes to the next firing; false at the end.
    bool next() { return has_begun_ && heap_.empty() ? advance(recording_) : next_of_several(); }
    // Of the firing at hand:
    const FiringReader& reader() const { return *readers_[recording_]; }
    size_t recording() const { return recording_; }
    uint64_t common_ns() const { return times_ns_[recording_]; }
    /// How many records were passed, of all recordings.
    uint64_t passed() const {
        uint64_t sum = 0;
        for (const auto& reader : readers_)
            sum += reader->passed();
        return sum;
    }

private:
    /// Goes to the next firing of a recording; false when it has no more.
    bool advance(size_t recording) {
        FiringReader& reader = *readers_[recording];
        if (!reader.next())
            return false;
        // A firing that lies after a later one comes next, as it does alone.
        uint64_t& time_ns = times_ns_[recording];
        time_ns = std::max(time_ns, recordings_[recording].common_ns(reader.mono_ns()));
        return true;
    }
    bool next_of_several();
    bool is_later(size_t a, size_t b) const {
        return times_ns_[a] != times_ns_[b] ? times_ns_[a] > times_ns_[b] : a > b;
    }

    std::span<const ReplayedRecording> recordings_;
    std::vector<std::unique_ptr<FiringReader>> readers_;
    std::vector<uint64_t> times_ns_; // common time of each reader's firing
    std::vector<size_t> heap_;       // of readers but the one at hand, the earliest in front
    size_t recording_ = 0;
    bool has_begun_ = false;
};

} // namespace daybreak::analyze
