// SPDX-License-Identifier: Apache-2.0
//
// Output options: numbers, names and values.
#include "analyze/print/options.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <string>
#include <strings.h>

namespace daybreak::analyze {

namespace {

struct Word {
    const char* text;
    bool on;
};

constexpr Word kWords[] = {
    {"yes", true},     {"no", false},       {"enable", true}, {"disable", false},
    {"enabled", true}, {"disabled", false}, {"true", true},   {"false", false},
    {"on", true},      {"off", false},      {"set", true},    {"unset", false},
};

constexpr struct {
    const char* name;
    uint32_t option;
} kNames[] = {
#define DBK_OPTION_NAME(symbol, id, text) {text, id},
    DBK_DTRACE_OPTIONS(DBK_OPTION_NAME)
#undef DBK_OPTION_NAME
};

bool concerns_output(uint32_t option) {
    switch (option) {
    case DTRACEOPT_QUIET:
    case DTRACEOPT_FLOWINDENT:
    case DTRACEOPT_RAWBYTES:
    case DTRACEOPT_NORESOLVE:
    case DTRACEOPT_QUIETRESIZE:
    case DTRACEOPT_STACKINDENT:
    case DTRACEOPT_AGGSORTKEY:
    case DTRACEOPT_AGGSORTREV:
    case DTRACEOPT_AGGSORTPOS:
    case DTRACEOPT_AGGSORTKEYPOS:
        return true;
    default:
        return false;
    }
}

/// Returns whether it is a number with a unit of time or hz, or without.
bool is_rate(std::string_view text) {
    static constexpr const char* kUnits[] = {"",    "ns", "nsec", "us", "usec", "ms", "msec", "s",
                                             "sec", "m",  "min",  "h",  "hour", "d",  "day",  "hz"};
    size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    std::string unit(text.substr(digits));
    return digits > 0 && std::any_of(std::begin(kUnits), std::end(kUnits), [&](const char* known) {
               return strcasecmp(unit.c_str(), known) == 0;
           });
}

} // namespace

std::optional<uint64_t> parse_option_value(std::string_view text) {
    if (text.empty())
        return DTRACEOPT_UNSET;
    std::string copy(text);
    for (const Word& word : kWords)
        if (strcasecmp(copy.c_str(), word.text) == 0)
            return word.on ? 1 : DTRACEOPT_UNSET;
    char* end = nullptr;
    errno = 0;
    uint64_t value = std::strtoull(copy.c_str(), &end, 0);
    if (copy[0] == '-' || *end != '\0' || end == copy.c_str() || errno != 0)
        return std::nullopt;
    return value;
}

void OutputOptions::set(uint32_t option, uint64_t value) {
    bool is_set = value != DTRACEOPT_UNSET;
    switch (option) {
    case DTRACEOPT_QUIET:
        quiet = is_set;
        break;
    case DTRACEOPT_FLOWINDENT:
        flowindent = is_set;
        break;
    case DTRACEOPT_RAWBYTES:
        rawbytes = is_set;
        break;
    case DTRACEOPT_NORESOLVE:
        noresolve = is_set;
        break;
    case DBK_OPT_TEMPORAL:
        temporal = is_set;
        break;
    case DTRACEOPT_STACKINDENT:
        stackindent = is_set ? static_cast<int>(std::min<uint64_t>(value, kFieldWidthMax))
                             : kStackIndentDefault;
        break;
    case DTRACEOPT_AGGSORTKEY:
        aggsortkey = is_set;
        break;
    case DTRACEOPT_AGGSORTREV:
        aggsortrev = is_set;
        break;
    case DTRACEOPT_AGGSORTPOS:
        aggsortpos = is_set ? value : 0;
        break;
    case DTRACEOPT_AGGSORTKEYPOS:
        aggsortkeypos = is_set ? value : 0;
        break;
    default:
        break;
    }
}

SetOption OutputOptions::set(std::string_view name, std::string_view value) {
    auto found = std::find_if(std::begin(kNames), std::end(kNames),
                              [&](const auto& entry) { return name == entry.name; });
    if (found == std::end(kNames))
        return SetOption::unknown;
    if (found->option == DTRACEOPT_AGGRATE || found->option == DTRACEOPT_SWITCHRATE)
        return is_rate(value) ? SetOption::done : SetOption::bad_value;
    if (!concerns_output(found->option))
        return SetOption::too_late;
    auto parsed = parse_option_value(value);
    if (!parsed)
        return SetOption::bad_value;
    set(found->option, *parsed);
    return SetOption::done;
}

const char* set_option_text(SetOption result) {
    switch (result) {
    case SetOption::done:
        return "";
    case SetOption::unknown:
        return "Invalid option name";
    case SetOption::bad_value:
        return "Invalid value for specified option";
    case SetOption::too_late:
        return "Operation illegal when tracing is active";
    }
    return "";
}

void OutputOptions::apply(const std::vector<formats::DofOption>& options) {
    for (const formats::DofOption& option : options)
        set(option.option, option.value);
}

} // namespace daybreak::analyze
