// SPDX-License-Identifier: Apache-2.0
//
// Completeness of a window: what is missing between two times, CPU by CPU.
#pragma once

#include "analyze/decode/window.hpp"
#include "formats/segment/recording.hpp"

#include <functional>
#include <string>
#include <vector>

namespace daybreak::analyze {

/// Records that are not here, by cause.
struct MissingRecords {
    uint64_t overwritten = 0, elsewhere = 0, left_out = 0, lost = 0;
    bool lost_known = true; ///< false: `lost` is the least there was
    uint64_t later = 0;     ///< came after the copy

    bool is_none() const {
        return overwritten == 0 && elsewhere == 0 && left_out == 0 && lost == 0 && lost_known &&
               later == 0;
    }
    void add(const MissingRecords& more);
    /// Takes away as many as `less` has, at most what is there.
    void subtract(const MissingRecords& less);
    /// Returns "12 records overwritten", ..., one for each cause, whatever came later.
    std::vector<std::string> phrases(bool is_snapshot) const;
};

/// Where records of one CPU are missing: between two that are here, before the first or after the
/// last.  CLOCK_MONOTONIC; 0 and UINT64_MAX where there is no record on that side.
struct Hole {
    uint64_t from_mono_ns = 0, to_mono_ns = UINT64_MAX;
    MissingRecords records;
};

/// Calls `use` for each hole that may lie in the window, the oldest first.
void for_each_hole(const TimeWindow& window, const formats::RingRecording& ring,
                   const formats::CpuInfo& cpu, const std::function<void(const Hole&)>& use);

/// What is missing of one CPU in a window.
struct WindowMissing : MissingRecords {
    formats::DropCounts drops{};
    uint64_t drops_unseen = 0; ///< at a time that is not known

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
