// SPDX-License-Identifier: Apache-2.0
//
// Output options: numbers, names and values.
#include "analyze/values/options.hpp"

#include "formats/dof/options.hpp"

#include <algorithm>
#include <string>

namespace daybreak::analyze {

void OutputOptions::set(uint32_t option, uint64_t value) {
    bool is_set = value != DTRACEOPT_UNSET;
    rates.set(option, value);
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
    case DBK_OPT_USTACKBYTES:
        stack_bytes = is_set && value != 0;
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
    formats::OptionSetting setting = formats::parse_option(name, std::string(value));
    if (setting.error == formats::kInvalidOptionName)
        return SetOption::unknown;
    // What concerns the compiler is taken, as by dtrace(1): there is nothing left to compile.
    bool is_of_program = setting.target == formats::OptionTarget::program;
    if (is_of_program && !formats::is_dynamic_option(setting.id))
        return SetOption::too_late;
    if (!setting.error.empty())
        return SetOption::bad_value;
    if (is_of_program)
        set(setting.id, setting.value);
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
