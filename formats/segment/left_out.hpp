// SPDX-License-Identifier: Apache-2.0
//
// LeftOut: segments that a file does not have because a window was cut out of it
// (docs/design/0063-windows-cut-out.md).
#pragma once

#include "formats/segment/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace daybreak::formats {

/// The most that one file may have: as many holes a recording may have outside its window.
constexpr size_t kLeftOutMax = 1u << 16;

/// The window that a file was cut to.  CLOCK_MONOTONIC; both ends belong to it.
struct CutWindow {
    uint64_t since_mono_ns = 0, until_mono_ns = UINT64_MAX;
};

/// Segments of one CPU that follow each other without a hole: nothing of them is lost.
struct LeftOut {
    uint16_t ring_id = 0, cpu = 0;
    uint64_t first_sequence = 0, last_sequence = 0;
    uint64_t records_before = 0;  ///< that the CPU had committed before the first
    uint64_t records = 0;         ///< readable ones, of all of them
    uint64_t from_mono_ns = 0;    ///< the earliest of their openings and records
    uint64_t to_mono_ns = 0;      ///< the latest
    std::vector<uint64_t> drops;  ///< while they were open, by enum dbk_drop; empty: none
    std::vector<ClockPair> pairs; ///< of each its opening, where ticks are TSC ticks; else empty
    uint32_t file_number = 0, window_id = 0; ///< as a segment of that file has them
    /// Segments of the stretch are here, from another file: what `records` counts is known when
    /// the records around it are.
    bool cut_before = false, cut_after = false;
};

} // namespace daybreak::formats
