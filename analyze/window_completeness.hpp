// SPDX-License-Identifier: Apache-2.0
//
// Completeness of a window: what is missing between two times, CPU by CPU.
#pragma once

#include "analyze/decode/window.hpp"
#include "formats/segment/recording.hpp"

#include <string>

namespace daybreak::analyze {

/// What is missing of one CPU in a window.
struct WindowMissing {
    uint64_t overwritten = 0, elsewhere = 0, left_out = 0, lost = 0; ///< records
    bool lost_known = true;                            ///< false: `lost` is the least there was
    formats::DropCounts drops{};
    uint64_t drops_unseen = 0; ///< at a time that is not known
    uint64_t later = 0;        ///< records that came after the copy

    uint64_t drops_total() const;
    /// Overwriting, files that are not here, and what was left out of a file are no losses.
    bool has_losses() const;
    /// Returns it as parts of a sentence; "" when nothing is missing, whatever came later.
    std::string text(bool is_snapshot) const;
};

/// A hole counts whole when a part of the time it may have covered lies in the window.
WindowMissing missing_in(const TimeWindow& window, const formats::RingRecording& ring,
                         const formats::CpuInfo& cpu);

} // namespace daybreak::analyze
