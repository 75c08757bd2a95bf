// SPDX-License-Identifier: Apache-2.0
//
// Names of the profile provider: tick-N and profile-N with their units.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace daybreak::sim {

/// A faster probe does not exist.
constexpr uint64_t kProfileIntervalNsMin = 200'000;

struct ProfileName {
    bool every_cpu = false; ///< profile-N fires on all CPUs, tick-N on one
    uint64_t interval_ns = 0;
};

/// Returns what a probe of that name does; empty when there can be none: "tick-10ms", "profile-97"
/// (a second's share), units ns nsec us usec ms msec s sec m min h hour d day hz.
std::optional<ProfileName> parse_profile_name(std::string_view name);

/// Returns the nanoseconds of "35ms", "10s", "2min"; a bare number counts seconds.  Empty when it
/// is not a duration above 0.
std::optional<uint64_t> parse_duration_ns(std::string_view text);

} // namespace daybreak::sim
