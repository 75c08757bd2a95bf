// SPDX-License-Identifier: Apache-2.0
//
// Output options: numbers, names and values.
#include "analyze/print/options.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <string>

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

} // namespace

std::optional<uint64_t> parse_option_value(std::string_view text) {
    if (text.empty())
        return DTRACEOPT_UNSET;
    for (const Word& word : kWords)
        if (text == word.text)
            return word.on ? 1 : DTRACEOPT_UNSET;
    std::string copy(text);
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

bool OutputOptions::set(std::string_view name, std::string_view value) {
    auto found = std::find_if(std::begin(kNames), std::end(kNames),
                              [&](const auto& entry) { return name == entry.name; });
    if (found == std::end(kNames) || !concerns_output(found->option))
        return false;
    auto parsed = parse_option_value(value);
    if (!parsed)
        return false;
    set(found->option, *parsed);
    return true;
}

void OutputOptions::apply(const std::vector<formats::DofOption>& options) {
    for (const formats::DofOption& option : options)
        set(option.option, option.value);
}

} // namespace daybreak::analyze
