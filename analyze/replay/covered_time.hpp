// SPDX-License-Identifier: Apache-2.0
//
// CoveredTime: the common time in which any of several recordings goes on.
//
// Between the boots of a machine lie days, of which nothing is recorded: the replay's timers do not
// fire there.
#pragma once

#include "analyze/replay/replayed_recording.hpp"
#include "engine/sim/bare_host.hpp"

#include <span>
#include <utility>
#include <vector>

namespace daybreak::analyze {

/// When a recording begins, by its own clock: with the ring, if all that it recorded is here, else
/// with the first record.
uint64_t begin_of(const ReplayedRecording& recording);

class CoveredTime {
public:
    explicit CoveredTime(std::span<const ReplayedRecording> recordings);

    /// When the first recording begins; 0 when none has a record.
    uint64_t begin_ns() const { return stretches_.empty() ? 0 : stretches_[0].first; }
    /// Whether a timer is due while none of them goes on: then those of `timers` that are due
    /// before the next one begins are due in it.
    bool skip(uint64_t due_ns, std::span<sim::SimProbe* const> timers) const;

private:
    std::vector<std::pair<uint64_t, uint64_t>> stretches_; // from and to, ascending, apart
};

} // namespace daybreak::analyze
