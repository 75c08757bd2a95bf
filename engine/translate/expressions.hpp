/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
//
// DIF and lowered expressions as C
#pragma once

#include "engine/translate/translate.hpp"

namespace daybreak::translate {

/// The D text of a program, for comments.
class Quotes {
public:
    explicit Quotes(const formats::DofProgram& source);

    /// "boot.d:12: n++" if instruction `pc` of the object begins there, else "".
    std::string line(uint32_t difo_section, uint32_t pc) const;

private:
    const formats::DofProgram& source_;
    std::vector<std::string> lines_; ///< of the program's text
};

/// Text that may stand in a comment: printable, ending none and beginning none.
std::string in_comment(std::string_view text);

/// What a clause does at most, as far as it is known before: what it is charged.
struct Cost {
    uint64_t work = 0; ///< DBK_WORK_ units
    uint32_t args = 0; ///< how many of the first arguments it may read
};

/// Because of what an object cannot be part of a whole clause: an instruction that can fault, or
/// needs what only dbk_run_plan() sets up; "": it can.  Adds to `cost` what it may cost.
std::string why_not_plain(const dbk_program& program, const dbk_difo& difo, Cost& cost);

/// Whether it stores into variables.
bool has_stores(const dbk_difo& difo);

/// A function `NAME_value_SECTION` in the interpreter's place.
std::string value_function(const dbk_program& program, const dbk_difo& difo,
                           const std::string& name, const Quotes& quotes);

/// A function `NAME_plain_SECTION` for a whole clause, inlined.
std::string plain_function(const dbk_program& program, const dbk_difo& difo,
                           const std::string& name, const Quotes& quotes);

/// An expression in a whole clause, as C.
std::string expression_text(const dbk_expr& expr, const std::string& name);

} // namespace daybreak::translate
