// SPDX-License-Identifier: Apache-2.0
//
// Coverage: from when to when a recording holds everything that a CPU recorded.
//
//     segments   3 4 5 . 7 8 9     6 is not here: covered is what 7, 8 and 9 cover
//                        |---->
#pragma once

#include "formats/segment/recording.hpp"

namespace daybreak::formats {

struct CpuCoverage {
    uint16_t ring_id = 0, cpu = 0;
    /// CLOCK_MONOTONIC from which on nothing is absent: when the oldest segment that is here
    /// without a hole after it was opened, or when the ring was made.
    uint64_t from_mono_ns = 0;
    uint64_t to_mono_ns = 0;    ///< of the newest record; from_mono_ns when there is none
    bool is_from_start = false; ///< nothing was before
    bool is_known = false;      ///< false: nothing is here, though records were committed
    bool has_older = false;     ///< more is here, after a hole

    /// Returns whether all of [from, now] is here: a CPU that stayed silent is covered.
    bool covers_since(uint64_t mono_ns) const {
        return is_known && (is_from_start || from_mono_ns <= mono_ns);
    }
};

/// Returns what is covered of one CPU.
CpuCoverage coverage_of(const RingRecording& ring, const CpuInfo& cpu);

/// Returns the coverage of every CPU of every ring that does not have all since then.
std::vector<CpuCoverage> not_covered_since(const Recording& recording, uint64_t mono_ns);

} // namespace daybreak::formats
