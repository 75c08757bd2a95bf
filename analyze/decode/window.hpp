// SPDX-License-Identifier: Apache-2.0
//
// TimeWindow: which records count and print.
#pragma once

#include <cstdint>
#include <optional>

namespace daybreak::analyze {

/// CLOCK_MONOTONIC; both ends belong to it.
struct TimeWindow {
    std::optional<uint64_t> since_mono_ns, until_mono_ns;

    bool operator==(const TimeWindow&) const = default;
    bool is_set() const { return since_mono_ns || until_mono_ns; }
    uint64_t since_ns() const { return since_mono_ns.value_or(0); }
    uint64_t until_ns() const { return until_mono_ns.value_or(UINT64_MAX); }
    bool has(uint64_t mono_ns) const { return mono_ns >= since_ns() && mono_ns <= until_ns(); }
    /// Returns whether [from, to] has a part in it.
    bool overlaps(uint64_t from_mono_ns, uint64_t to_mono_ns) const {
        return to_mono_ns >= since_ns() && from_mono_ns <= until_ns();
    }
};

} // namespace daybreak::analyze
