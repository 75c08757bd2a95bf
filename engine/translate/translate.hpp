/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
//
// A loaded program as C: what engine/native.h describes, one file for one or many programs
//
// The input is a consumer: its program is verified, and its plans say what each clause stores
// where. Nothing is made of DOF that the engine has not taken.
#pragma once

#include "formats/dof/dof_program.hpp"

extern "C" {
#include "engine/types/internal.h"
}

#include <string>
#include <vector>

namespace daybreak::translate {

/// How much of a clause is translated: nothing, for it has no expression that the interpreter would run; its
/// expressions, while its steps are run by the engine; or all of it, from the predicate to the record.
using Way = dbk_native_way;

struct Clause {
    uint32_t section = 0; ///< of its ECBDESC in the DOF
    Way way = DBK_NATIVE_INTERPRETED;
    std::string why; ///< not whole: because of what
};

struct Translation {
    std::string text; ///< functions and the table `name`, without native_file_head()
    std::vector<Clause> clauses;
};

/// Translates what `consumer` runs into functions and a table `const struct dbk_native_program
/// NAME`. `source` is the same DOF as parse_dof() has it: it is quoted in comments, and nothing
/// else of it is used.
Translation translate(const dbk_consumer& consumer, const formats::DofProgram& source,
                      const std::string& name);

/// What stands before the translations in a file.
std::string native_file_head();

/// What stands after those of a module: the table of tables that kmod/core/native.c looks at.
std::string native_file_tail(const std::vector<std::string>& names);

/// "whole", "expressions, because of a string": what is said of a clause.
std::string describe(const Clause& clause);

} // namespace daybreak::translate
