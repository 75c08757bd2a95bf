// SPDX-License-Identifier: Apache-2.0
//
// Names of the profile provider.
#include "engine/sim/profile_name.hpp"

#include "engine/sim/virtual_clock.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace daybreak::sim {

namespace {

struct Unit {
    std::string_view name;
    uint64_t ns;
};

constexpr uint64_t kMinuteNs = 60 * kNsPerSecond;
constexpr Unit kUnits[] = {
    {"ns", 1},
    {"nsec", 1},
    {"us", 1000},
    {"usec", 1000},
    {"ms", 1'000'000},
    {"msec", 1'000'000},
    {"s", kNsPerSecond},
    {"sec", kNsPerSecond},
    {"m", kMinuteNs},
    {"min", kMinuteNs},
    {"h", 60 * kMinuteNs},
    {"hour", 60 * kMinuteNs},
    {"d", 24 * 60 * kMinuteNs},
    {"day", 24 * 60 * kMinuteNs},
};

// Returns 0 for what is no interval.
uint64_t interval_ns(uint64_t count, std::string_view unit) {
    if (count == 0)
        return 0;
    if (unit.empty() || unit == "hz")
        return kNsPerSecond / count;
    const Unit* found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                     [unit](const Unit& u) { return u.name == unit; });
    uint64_t ns = 0;
    if (found == std::end(kUnits) || __builtin_mul_overflow(count, found->ns, &ns) ||
        ns > INT64_MAX)
        return 0;
    return ns;
}

} // namespace

std::optional<ProfileName> parse_profile_name(std::string_view name) {
    ProfileName result;
    if (name.starts_with("tick-")) {
        name.remove_prefix(5);
    } else if (name.starts_with("profile-")) {
        name.remove_prefix(8);
        result.every_cpu = true;
    } else {
        return std::nullopt;
    }
    uint64_t count = 0;
    auto parsed = std::from_chars(name.data(), name.data() + name.size(), count);
    if (parsed.ec != std::errc{})
        return std::nullopt;
    name.remove_prefix(static_cast<size_t>(parsed.ptr - name.data()));
    result.interval_ns = interval_ns(count, name);
    if (result.interval_ns < kProfileIntervalNsMin)
        return std::nullopt;
    return result;
}

} // namespace daybreak::sim
