// SPDX-License-Identifier: Apache-2.0
//
// A type as text, for print(): names, sizes and offsets of all that it holds.
#pragma once

#include "compiler/types/type.hpp"

#include <string>

namespace daybreak::compiler {

/// Returns what the analyzers print a value of the type by; the grammar is in formats/abi/dof.md,
/// "print()".  What is nested too deeply, or makes the text too long, is described as bytes.
std::string describe_type(TypeTable& types, TypeId type);

} // namespace daybreak::compiler
