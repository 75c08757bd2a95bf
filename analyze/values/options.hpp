// SPDX-License-Identifier: Apache-2.0
//
// Output options: how a consumer reads and prints, from the program's pragmas, setopt(), or the
// command line.
#pragma once

#include "formats/dof/dof_program.hpp"
#include "formats/dof/reading_rates.hpp"

#include <cstdint>
#include <string_view>

namespace daybreak::analyze {

/// DTrace: the stackindent that is used when none is set.
constexpr int kStackIndentDefault = 14;
/// The widest field printf() fills, and the largest precision; more is cut to it, with a note, so
/// that a hostile format cannot ask for gigabytes.  dtrace(1) has no bound.
constexpr int kFieldWidthMax = 1 << 16;
/// The same for the program that the user runs now.
constexpr int kOwnFieldWidthMax = 1 << 24;

/// What became of a setopt().
enum class SetOption : uint8_t {
    done,      ///< set, or of no concern any more
    unknown,   ///< no option has that name
    bad_value, ///< the option does not take that value
    too_late,  ///< only before tracing
};
/// Returns the reason in DTrace's words; "" when done.
const char* set_option_text(SetOption result);

struct OutputOptions {
    bool quiet = false;
    bool flowindent = false;
    bool rawbytes = false;
    bool noresolve = false;
    bool stack_bytes = false; ///< records have bytes of the user's stack (ustackbytes)
    bool temporal = false;    ///< committed records where they were made
    int stackindent = kStackIndentDefault;
    bool aggsortkey = false;
    bool aggsortrev = false;
    uint64_t aggsortpos = 0;
    uint64_t aggsortkeypos = 0;
    int field_width_max = kFieldWidthMax;
    /// For consumers beside the tracing; a recording has been read already.
    formats::ReadingRates rates;

    /// Sets an option by its number; DTRACEOPT_UNSET unsets.  Numbers that do not concern reading
    /// or printing change nothing.
    void set(uint32_t option, uint64_t value);
    /// Sets an option as setopt() does while records are being printed.
    SetOption set(std::string_view name, std::string_view value);
    /// Applies the option section of a program.
    void apply(const std::vector<formats::DofOption>& options);
};

} // namespace daybreak::analyze
