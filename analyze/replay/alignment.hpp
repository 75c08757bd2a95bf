// SPDX-License-Identifier: Apache-2.0
//
// The common time of several recordings, and what is known of how good it is.
//
// Each boot has a CLOCK_MONOTONIC of its own.  Where a recording has read it side by side with the
// wall clock (the ring's start, each file's begin and end, triggers, the machine's end), the newest
// such pair says when its zero was: a clock that is set late in a boot is right then.  The common
// time is the CLOCK_MONOTONIC of the recording whose zero is the earliest.
//
//     wall clock  ----|--------------|------------------->
//     db-1            0======x=========x======             shift 0: the common time
//     web-1                          0===x====x===         shift: from the one 0 to the other
//
// Or an event that all recordings have is taken as one moment.
#pragma once

#include "analyze/replay/replayed_recording.hpp"
#include "formats/trace/reader.hpp"

#include <span>
#include <string>
#include <vector>

namespace daybreak::analyze {

/// CLOCK_MONOTONIC and the wall clock, read side by side.
struct WallPair {
    uint64_t mono_ns = 0, wall_ns = 0;
    /// When CLOCK_MONOTONIC was 0, by the wall clock.
    uint64_t zero_wall_ns() const { return wall_ns - mono_ns; }
};

/// Returns the pairs that a recording has, ascending; those that cannot be are left out.
std::vector<WallPair> wall_pairs_of(const formats::Trace& trace,
                                    const formats::RingRecording& ring);

/// A recording to be aligned.
struct AlignedRecording {
    std::string name; ///< for messages
    std::vector<WallPair> pairs;
    uint64_t event_ns = 0; ///< its CLOCK_MONOTONIC of the event that all have, if one is named
};

struct Alignment {
    std::vector<uint64_t> shifts_ns; ///< for ReplayedRecording
    std::string note;                ///< what is known of the uncertainty: a line
};

/// Aligns by the wall clock.  Error: not_found, when a recording has no pair; it is named.
base::Result<Alignment> align_by_wall(std::span<const AlignedRecording> recordings);
/// Aligns by an event, which `event` names.  No errors.
base::Result<Alignment> align_by_event(std::span<const AlignedRecording> recordings, const std::string& event);

} // namespace daybreak::analyze
