// SPDX-License-Identifier: Apache-2.0
//
// Options: names, the syntax of their values, where they go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::formats {

enum class OptionTarget : uint8_t {
    program,      ///< goes into the DOF as `id` = `value`
    compile_time, ///< concerns the compiler or the tool only
};

/// Why an option is refused, in dtrace(1)'s words.
inline constexpr std::string_view kInvalidOptionName = "Invalid option name";
inline constexpr std::string_view kInvalidOptionValue = "Invalid value for specified option";
/// What dtrace(1) would do is not done here.
inline constexpr std::string_view kOptionNotOffered = "Option is not offered";

struct OptionSetting {
    OptionTarget target = OptionTarget::program;
    uint32_t id = 0;
    uint64_t value = 0;
    std::string error; ///< not empty: why it is refused
    std::string hint;  ///< what it could be instead, or ""
};

/// Parses `name` and its value as `#pragma D option` and -x take them.
OptionSetting parse_option(std::string_view name, const std::optional<std::string>& value);

/// Returns the names of all options that can be set, sorted.
std::vector<std::string> option_names();

/// Whether setopt() may set it while tracing goes on; the others are for before.
bool is_dynamic_option(uint32_t id);

/// Sizes: 64, 0x40, 4k, 1M, 2g; nothing when it is none.
std::optional<uint64_t> parse_size(std::string_view text);
/// Rates in nanoseconds: 500, 10ms, 2s, 101hz.
std::optional<uint64_t> parse_rate(std::string_view text);
/// The same for what is not a rate: without hz, and not 0.
std::optional<uint64_t> parse_duration(std::string_view text);

} // namespace daybreak::formats
