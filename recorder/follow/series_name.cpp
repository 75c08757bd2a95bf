// SPDX-License-Identifier: Apache-2.0
//
// The names of a series' files.
#include "recorder/follow/series.hpp"

#include <algorithm>
#include <charconv>

namespace daybreak::recorder {

namespace {

constexpr size_t kBootDigits = 8, kNumberDigits = 6;
constexpr size_t kTriggerWordMax = 32;
constexpr std::string_view kSuffix = ".dbrk";

bool is_boot(std::string_view text) {
    return text.size() == kBootDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace

std::optional<SeriesName> parse_series_name(const std::string& name) {
    std::string_view rest(name);
    if (!rest.ends_with(kSuffix) || rest.size() < kBootDigits + 1 + kSuffix.size())
        return std::nullopt;
    rest.remove_suffix(kSuffix.size());
    SeriesName parts;
    parts.boot = rest.substr(0, kBootDigits);
    if (!is_boot(parts.boot) || rest[kBootDigits] != '-')
        return std::nullopt;
    rest.remove_prefix(kBootDigits + 1);
    std::string_view digits = rest.substr(0, rest.find('+'));
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parts.number);
    if (error != std::errc() || end != digits.data() + digits.size() ||
        digits.size() < kNumberDigits || parts.number == 0)
        return std::nullopt;
    parts.triggers = rest.substr(digits.size());
    return parts;
}

std::string series_name(const SeriesName& parts) {
    return base::strprintf("%s-%06u%s.dbrk", parts.boot.c_str(), parts.number,
                           parts.triggers.c_str());
}

std::string boot_name(const std::array<uint8_t, 16>& boot_uuid) {
    return base::strprintf("%02x%02x%02x%02x", boot_uuid[0], boot_uuid[1], boot_uuid[2],
                           boot_uuid[3]);
}

std::string trigger_file_word(std::string_view name) {
    std::string word(name.substr(0, kTriggerWordMax));
    for (char& c : word) {
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_' || c == '.';
        c = plain ? c : '_';
    }
    return word.empty() ? "_" : word;
}

} // namespace daybreak::recorder
