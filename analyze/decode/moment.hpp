// SPDX-License-Identifier: Apache-2.0
//
// Moment: a point in time as a person says it, and where it lies in a recording.
#pragma once

#include "analyze/decode/wanted_probes.hpp"
#include "formats/segment/recording.hpp"

#include <string>

namespace daybreak::analyze {

/// An anchor and a distance from it: "the panic", 5 seconds before.
struct Moment {
    enum class Anchor : uint8_t {
        boot,    ///< when the machine started
        wall,    ///< 1970-01-01 00:00:00 UTC
        day,     ///< midnight, local time, of the day on which the recording begins
        start,   ///< the first record that is here
        end,     ///< the last record that is here
        panic,   ///< how the machine ended: a panic, else an oops, else an orderly end
        trigger, ///< the newest trigger, or the newest of that name
        probe,   ///< the first record of a probe: what a program marked
    };
    Anchor anchor = Anchor::boot;
    int64_t offset_ns = 0;
    std::string name;       ///< of the trigger or the probe; empty: any trigger
    std::string whole_name; ///< the same as it was written, distance included
};

/// Returns CLOCK_MONOTONIC of the moment, 0 when it lies before that clock's beginning.  Of a wall
/// clock that was set after the ring's start the earlier setting counts.
/// `probes` are those that a probe's name matches, of others none.
/// Error: not_found, when the recording does not know the anchor; with what it knows.
base::Result<uint64_t> mono_ns_of(const Moment& moment, const formats::Recording& recording,
                                  const WantedProbes& probes);

} // namespace daybreak::analyze
