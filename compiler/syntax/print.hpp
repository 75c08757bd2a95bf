// SPDX-License-Identifier: Apache-2.0
//
// The syntax tree as canonical D text.
//
// Canonical text has one spelling for one meaning: single blanks around binary operators, no
// redundant parentheses, macros replaced.  Parsing it again gives the same tree.  The capture table
// of a trace names recorded values by it, so two clauses that evaluate the same expression agree.
#pragma once

#include "compiler/syntax/ast_types.hpp"

namespace daybreak::compiler {

/// Returns the canonical text of an expression: `self->ts + arg0 * 2`, `(int)x`, `@a[pid]`.
std::string expression_text(const Expr& expression);

/// Returns a type as written: `struct task_struct *`, `int (*)(void)`.
std::string type_name_text(const TypeName& type);

std::string declaration_text(const Declaration& declaration);
std::string clause_text(const Clause& clause);
std::string program_text(const Program& program);

/// Returns `text` as a D string constant, quotes and escapes included.
std::string quoted_text(std::string_view text);

/// Returns "+", "<<", "&&" ...
std::string_view operator_text(BinaryOp op);

} // namespace daybreak::compiler
