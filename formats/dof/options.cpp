// SPDX-License-Identifier: Apache-2.0
//
// Options: names, the syntax of their values, where they go.
#include "formats/dof/options.hpp"

#include "base/nearest_name.hpp"
#include "formats/abi/dof.h"
#include "formats/abi/meta.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace daybreak::formats {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

/// Reads an integer of any C base from the front of `text`; nothing when there is none or it is
/// larger than 64 bits.
std::optional<uint64_t> take_integer(std::string_view& text) {
    uint64_t base = 10, value = 0;
    if (text.size() > 1 && text[0] == '0') {
        bool hex = text[1] == 'x' || text[1] == 'X';
        base = hex ? 16 : 8;
        text.remove_prefix(hex ? 2 : 1);
        if (!hex && (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))))
            return 0; // "0" and a suffix
    }
    size_t digits = 0;
    for (; digits < text.size(); digits++) {
        auto c = static_cast<unsigned char>(text[digits]);
        uint64_t digit = std::isdigit(c)   ? c - '0'
                         : std::isalpha(c) ? std::tolower(c) - 'a' + 10u
                                           : 99;
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            return std::nullopt;
        value = value * base + digit;
    }
    if (digits == 0)
        return std::nullopt;
    text.remove_prefix(digits);
    return value;
}

struct Choice {
    std::string_view name;
    uint64_t value;
};

constexpr Choice kPolicies[] = {
    {"fill", DBK_POLICY_FILL}, {"switch", DBK_POLICY_SWITCH}, {"ring", DBK_POLICY_RING}};
constexpr Choice kResizing[] = {{"auto", 0}, {"manual", 1}};
constexpr Choice kAggregating[] = {{"record", DBK_AGGREGATE_RECORD},
                                   {"engine", DBK_AGGREGATE_ENGINE}};

/// The values of an option that has a few words for them; empty for the others.
std::span<const Choice> choices_of(uint32_t id) {
    switch (id) {
    case DTRACEOPT_BUFPOLICY:
        return kPolicies;
    case DTRACEOPT_BUFRESIZE:
        return kResizing;
    case DBK_OPT_AGGREGATE:
        return kAggregating;
    default:
        return {};
    }
}

/// Whether an option is a switch: set or not, of no other meaning.
bool is_switch(uint32_t id) {
    switch (id) {
    case DTRACEOPT_GRABANON:
    case DTRACEOPT_FLOWINDENT:
    case DTRACEOPT_QUIET:
    case DTRACEOPT_DESTRUCTIVE:
    case DTRACEOPT_RAWBYTES:
    case DTRACEOPT_AGGSORTKEY:
    case DTRACEOPT_AGGSORTREV:
    case DTRACEOPT_QUIETRESIZE:
    case DTRACEOPT_NORESOLVE:
    case DBK_OPT_TEMPORAL:
        return true;
    default:
        return false;
    }
}

/// yes, off, 3; no value sets a switch, and is 0 for what counts something.
std::optional<uint64_t> parse_runtime(uint32_t id, const std::optional<std::string>& value) {
    if (!value)
        return is_switch(id) ? 1 : 0;
    std::string text = lower(*value);
    if (text.empty())
        return DTRACEOPT_UNSET;
    for (const char* word : {"yes", "enable", "enabled", "true", "on", "set"})
        if (text == word)
            return 1;
    for (const char* word : {"no", "disable", "disabled", "false", "off", "unset"})
        if (text == word)
            return DTRACEOPT_UNSET;
    std::string_view rest = text;
    auto number = take_integer(rest);
    return rest.empty() ? number : std::nullopt;
}

/// What the values of an option of the program are.
enum class Values : uint8_t { size, duration, rate, choice, toggle, number };

Values values_of(uint32_t id) {
    switch (id) {
    case DTRACEOPT_BUFSIZE:
    case DTRACEOPT_DYNVARSIZE:
    case DTRACEOPT_AGGSIZE:
    case DTRACEOPT_SPECSIZE:
    case DTRACEOPT_STRSIZE:
    case DTRACEOPT_JSTACKSTRSIZE:
    case DTRACEOPT_PCAPSIZE:
    case DBK_OPT_SEGMENTSIZE:
    case DBK_OPT_RINGMAX:
    case DBK_OPT_USTACKBYTES:
        return Values::size;
    case DBK_OPT_RINGTIME:
        return Values::duration;
    case DTRACEOPT_CLEANRATE:
    case DTRACEOPT_AGGRATE:
    case DTRACEOPT_SWITCHRATE:
    case DTRACEOPT_STATUSRATE:
    case DBK_OPT_SNAPSHOTRATE:
        return Values::rate;
    default:
        return !choices_of(id).empty() ? Values::choice
               : is_switch(id)         ? Values::toggle
                                       : Values::number;
    }
}

std::optional<uint64_t> parse_value(uint32_t id, const std::optional<std::string>& value) {
    Values values = values_of(id);
    if (values == Values::toggle || values == Values::number)
        return parse_runtime(id, value);
    if (!value)
        return std::nullopt;
    switch (values) {
    case Values::size:
        return parse_size(*value);
    case Values::duration:
        return parse_duration(*value);
    case Values::rate:
        return parse_rate(*value);
    default:
        for (const Choice& choice : choices_of(id))
            if (*value == choice.name)
                return choice.value;
        return std::nullopt;
    }
}

/// Says which values an option has.
std::string values_text(uint32_t id) {
    switch (values_of(id)) {
    case Values::size:
        return "its value is a size: 65536, 64k, 4m";
    case Values::duration:
        return "its value is a time: 500ms, 10s, 2m";
    case Values::rate:
        return "its value is a rate or a time: 10hz, 100ms, 1s";
    case Values::toggle:
        return "its value is on or off";
    case Values::number:
        return "its value is a number";
    default: {
        std::string text = "its values are ";
        for (const Choice& choice : choices_of(id))
            text += (text.back() == ' ' ? "" : ", ") + std::string(choice.name);
        return text;
    }
    }
}

/// What an option takes that concerns the compiler or the tool.
enum class Takes : uint8_t { anything, nothing, text, number, choice, refused };

struct CompileTimeOption {
    std::string_view name;
    Takes takes;
    std::string_view choices = ""; ///< separated and ended by |
};

constexpr CompileTimeOption kCompileTimeOptions[] = {
    {"aggpercpu", Takes::refused},
    {"amin", Takes::text},
    {"argref", Takes::nothing},
    {"context", Takes::text},
    {"core", Takes::anything},
    {"cpp", Takes::nothing},
    {"cppargs", Takes::text},
    {"cpphdrs", Takes::nothing},
    {"cpppath", Takes::text},
    {"ctypes", Takes::refused},
    {"ctfpath", Takes::text},
    {"defaultargs", Takes::nothing},
    {"dtypes", Takes::refused},
    {"debug", Takes::anything},
    {"debugassert", Takes::anything},
    {"define", Takes::text},
    {"droptags", Takes::nothing},
    {"empty", Takes::nothing},
    {"errtags", Takes::nothing},
    {"evaltime", Takes::choice, "exec|preinit|postinit|main|"},
    {"incdir", Takes::text},
    {"iregs", Takes::number},
    {"kdefs", Takes::nothing},
    {"knodefs", Takes::nothing},
    {"late", Takes::choice, "dynamic|static|"},
    {"lazyload", Takes::anything},
    {"ldpath", Takes::text},
    {"libdir", Takes::text},
    {"linkmode", Takes::choice, "kernel|primary|dynamic|static|"},
    {"linktype", Takes::choice, "elf|dof|"},
    {"modpath", Takes::text},
    {"nolibs", Takes::nothing},
    {"pgmax", Takes::number},
    {"preallocate", Takes::anything},
    {"procfspath", Takes::text},
    {"pspec", Takes::nothing},
    {"stdc", Takes::choice, "a|c|s|t|"},
    {"strip", Takes::anything},
    {"syslibdir", Takes::text},
    {"sysslice", Takes::text},
    {"tree", Takes::number},
    {"tregs", Takes::number},
    {"udefs", Takes::nothing},
    {"undef", Takes::text},
    {"unodefs", Takes::nothing},
    {"useruid", Takes::anything},
    {"verbose", Takes::nothing},
    {"version", Takes::text},
    {"zdefs", Takes::nothing},
};

bool is_choice(std::string_view text, std::string_view choices) {
    for (size_t end; (end = choices.find('|')) != std::string_view::npos;
         choices.remove_prefix(end + 1))
        if (text == choices.substr(0, end))
            return true;
    return false;
}

bool is_taken(const CompileTimeOption& option, const std::optional<std::string>& value) {
    switch (option.takes) {
    case Takes::nothing:
        return !value;
    case Takes::text:
        return value && !value->empty();
    case Takes::choice:
        return value && is_choice(*value, option.choices);
    case Takes::number: {
        std::string_view rest = value ? std::string_view(*value) : "";
        return take_integer(rest) && rest.empty();
    }
    default:
        return true;
    }
}

std::string values_text(const CompileTimeOption& option) {
    switch (option.takes) {
    case Takes::nothing:
        return "it takes no value";
    case Takes::text:
        return "it needs a value: " + std::string(option.name) + "=TEXT";
    case Takes::choice: {
        std::string text(option.choices.substr(0, option.choices.size() - 1));
        for (size_t at; (at = text.find('|')) != std::string::npos;)
            text.replace(at, 1, ", ");
        return "its values are " + text;
    }
    default:
        return "its value is a number";
    }
}

struct RuntimeOption {
    std::string_view name;
    uint32_t id;
};

constexpr RuntimeOption kRuntimeOptions[] = {
#define DBK_OPTION(published, id, text) {text, id},
    DBK_DTRACE_OPTIONS(DBK_OPTION)
#undef DBK_OPTION
        {"aggregate", DBK_OPT_AGGREGATE},
    {"ringmax", DBK_OPT_RINGMAX},
    {"ringtime", DBK_OPT_RINGTIME},
    {"segmentsize", DBK_OPT_SEGMENTSIZE},
    {"snapshotrate", DBK_OPT_SNAPSHOTRATE},
    {"temporal", DBK_OPT_TEMPORAL},
    {"ustackbytes", DBK_OPT_USTACKBYTES},
};

} // namespace

std::vector<std::string> option_names() {
    std::vector<std::string> names;
    for (const RuntimeOption& option : kRuntimeOptions)
        names.emplace_back(option.name);
    for (const CompileTimeOption& option : kCompileTimeOptions)
        if (option.takes != Takes::refused)
            names.emplace_back(option.name);
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<uint64_t> parse_size(std::string_view text) {
    auto value = take_integer(text);
    if (!value)
        return std::nullopt;
    unsigned shift = 0;
    if (text.size() == 1) {
        switch (std::tolower(static_cast<unsigned char>(text[0]))) {
        case 'k':
            shift = 10;
            break;
        case 'm':
            shift = 20;
            break;
        case 'g':
            shift = 30;
            break;
        case 't':
            shift = 40;
            break;
        default:
            return std::nullopt;
        }
    } else if (!text.empty()) {
        return std::nullopt;
    }
    if (*value > UINT64_MAX >> shift)
        return std::nullopt;
    return *value << shift;
}

std::optional<uint64_t> parse_rate(std::string_view text) {
    auto value = take_integer(text);
    if (!value)
        return std::nullopt;
    static const struct {
        std::string_view name;
        uint64_t ns;
    } units[] = {
        {"", 1},
        {"ns", 1},
        {"nsec", 1},
        {"us", 1000},
        {"usec", 1000},
        {"ms", 1000000},
        {"msec", 1000000},
        {"s", 1000000000},
        {"sec", 1000000000},
        {"m", 60000000000},
        {"min", 60000000000},
        {"h", 3600000000000},
        {"hour", 3600000000000},
        {"d", 86400000000000},
        {"day", 86400000000000},
    };
    std::string unit = lower(text);
    if (unit == "hz")
        return *value == 0 ? 0 : 1000000000 / *value;
    for (const auto& known : units)
        if (unit == known.name)
            return *value > UINT64_MAX / known.ns ? std::nullopt : std::optional(*value * known.ns);
    return std::nullopt;
}

bool is_dynamic_option(uint32_t id) {
    switch (id) {
    case DTRACEOPT_FLOWINDENT:
    case DTRACEOPT_QUIET:
    case DTRACEOPT_AGGRATE:
    case DTRACEOPT_SWITCHRATE:
    case DTRACEOPT_STACKINDENT:
    case DTRACEOPT_RAWBYTES:
    case DTRACEOPT_AGGSORTKEY:
    case DTRACEOPT_AGGSORTREV:
    case DTRACEOPT_AGGSORTPOS:
    case DTRACEOPT_AGGSORTKEYPOS:
    case DTRACEOPT_QUIETRESIZE:
    case DTRACEOPT_NORESOLVE:
        return true;
    default:
        return false;
    }
}

std::optional<uint64_t> parse_duration(std::string_view text) {
    bool is_rate = text.size() > 2 && lower(text.substr(text.size() - 2)) == "hz";
    auto ns = parse_rate(text);
    return is_rate || ns == 0u ? std::nullopt : ns;
}

OptionSetting parse_option(std::string_view name, const std::optional<std::string>& value) {
    OptionSetting setting;
    for (const RuntimeOption& option : kRuntimeOptions) {
        if (option.name != name)
            continue;
        setting.id = option.id;
        auto parsed = parse_value(option.id, value);
        if (parsed) {
            setting.value = *parsed;
        } else {
            setting.error = kInvalidOptionValue;
            setting.hint = values_text(option.id);
        }
        return setting;
    }
    setting.target = OptionTarget::compile_time;
    for (const CompileTimeOption& option : kCompileTimeOptions) {
        if (option.name != name)
            continue;
        if (option.takes == Takes::refused) {
            setting.error = kOptionNotOffered;
        } else if (!is_taken(option, value)) {
            setting.error = kInvalidOptionValue;
            setting.hint = values_text(option);
        }
        return setting;
    }
    setting.error = kInvalidOptionName;
    setting.hint = base::did_you_mean(base::nearest_name(name, option_names()),
                                      "daybreak complete --settings lists the options");
    return setting;
}

} // namespace daybreak::formats
