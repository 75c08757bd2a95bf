// SPDX-License-Identifier: Apache-2.0
//
// The pieces that printing declarations shares with printing programs.
#pragma once

#include "compiler/syntax/print.hpp"

namespace daybreak::compiler {

std::string specifiers_text(const Specifiers& specifiers);

/// Returns a declarator's text, its bit-field width included; empty for a plain abstract one.
std::string declarator_text(const Declarator& declarator);

/// Returns "int x", "char *", "struct foo".
std::string declared_text(const Specifiers& specifiers, const Declarator& declarator);

} // namespace daybreak::compiler
