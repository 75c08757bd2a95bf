// SPDX-License-Identifier: Apache-2.0
//
// ReplayedRecording: one recording of a replay, which may have several machines' and boots'.
#pragma once

#include "analyze/decode/window.hpp"
#include "analyze/replay/capture_table.hpp"

#include <string>

namespace daybreak::analyze {

/// What a machine recorded in one boot in one ring.  All that it refers to must outlive it.
struct ReplayedRecording {
    const formats::Recording* recording = nullptr;
    size_t ring_index = 0;
    const CaptureTable* table = nullptr; ///< of that ring
    TimeWindow window;                   ///< of its own time
    std::string vmname;                  ///< the host's name; "" when it is not known
    std::string bootid;                  ///< the boot's UUID, as far as it is known
    /// The common time of all recordings, less its CLOCK_MONOTONIC.
    uint64_t shift_ns = 0;
    uint32_t target = 0; ///< $target; 0: not recorded with -c or -p
    size_t boot = 0;     ///< which of the replay's, from 0; the rings of one follow each other

    const formats::RingRecording& ring() const { return recording->rings[ring_index]; }
    uint64_t common_ns(uint64_t mono_ns) const {
        uint64_t sum;
        return __builtin_add_overflow(mono_ns, shift_ns, &sum) ? UINT64_MAX : sum;
    }
    uint64_t own_ns(uint64_t common_ns) const {
        return common_ns > shift_ns ? common_ns - shift_ns : 0;
    }
};

} // namespace daybreak::analyze
