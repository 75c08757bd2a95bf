// SPDX-License-Identifier: Apache-2.0
#include "cmd/quantity.hpp"

#include <cctype>
#include <charconv>
#include <span>

namespace daybreak::cmd {

namespace {

using base::errorf;
using base::Result;

struct Unit {
    std::string_view name;
    uint64_t factor;
};

constexpr Unit kTimes[] = {{"ns", 1},
                           {"us", 1000},
                           {"ms", 1'000'000},
                           {"s", 1'000'000'000},
                           {"", 1'000'000'000},
                           {"m", 60'000'000'000},
                           {"h", 3600'000'000'000},
                           {"d", 86400'000'000'000}};
constexpr Unit kSizes[] = {{"b", 1},         {"", 1},          {"k", 1u << 10},
                           {"m", 1u << 20}, {"g", 1u << 30}, {"t", uint64_t{1} << 40}};
constexpr Unit kCounts[] = {{"", 1}};
constexpr double kMost = 9e18; // of 64 bits, with a sign

/// Reads a number and its unit, in small or capital letters; `fractions` allows 1.5.
Result<uint64_t> parse(const std::string& option, const std::string& text, std::span<const Unit> units,
                       bool fractions, const char* what) {
    double number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number,
                                        std::chars_format::fixed);
    std::string written(text.c_str(), end), unit(end, text.data() + text.size());
    for (char& c : unit)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    bool good = error == std::errc() && std::isdigit(static_cast<unsigned char>(written[0])) &&
                (fractions || written.find('.') == std::string::npos);
    for (const Unit& known : units)
        if (good && unit == known.name && number * static_cast<double>(known.factor) < kMost)
            return static_cast<uint64_t>(number * static_cast<double>(known.factor));
    return errorf(base::ErrorCode::invalid, "%s: '%s' is not %s", option.c_str(), text.c_str(), what);
}

} // namespace

Result<uint64_t> parse_time(const std::string& option, const std::string& text) {
    return parse(option, text, kTimes, true, "a time (500ms, 30s, 5m, 2h, 7d)");
}

Result<uint64_t> parse_size(const std::string& option, const std::string& text) {
    return parse(option, text, kSizes, false, "a size (4096, 64m, 2g)");
}

Result<uint64_t> parse_count(const std::string& option, const std::string& text) {
    return parse(option, text, kCounts, false, "a number");
}

} // namespace daybreak::cmd
