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

// Returns 0 for what is not a duration.
uint64_t duration_ns(uint64_t count, std::string_view unit) {
    const Unit* found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                     [unit](const Unit& u) { return u.name == unit; });
    uint64_t ns = 0;
    if (found == std::end(kUnits) || __builtin_mul_overflow(count, found->ns, &ns) ||
        ns > INT64_MAX)
        return 0;
    return ns;
}

// Takes the digits off the front.
std::optional<uint64_t> take_count(std::string_view& text) {
    uint64_t count = 0;
    auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
    if (parsed.ec != std::errc{} || count == 0)
        return std::nullopt;
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
    return count;
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
    auto count = take_count(name);
    if (!count)
        return std::nullopt;
    bool per_second = name.empty() || name == "hz";
    result.interval_ns = per_second ? kNsPerSecond / *count : duration_ns(*count, name);
    if (result.interval_ns < kProfileIntervalNsMin)
        return std::nullopt;
    return result;
}

std::optional<uint64_t> parse_duration_ns(std::string_view text) {
    auto count = take_count(text);
    uint64_t ns = count ? duration_ns(*count, text.empty() ? "s" : text) : 0;
    return ns != 0 ? std::optional(ns) : std::nullopt;
}

} // namespace daybreak::sim
