// SPDX-License-Identifier: Apache-2.0
//
// DOF and DIF as text: what `daybreak dof` and `daybreak compile -S` show.
//
// The disassembly has the columns of `dtrace -S`; a remark after "!" gives the name of a
// variable, subroutine, string or integer.
#pragma once

#include "formats/dof/dof_reader.hpp"

#include <string>

namespace daybreak::formats {

/// Returns the whole image: header, sections, target, options, then print_ecbs().
std::string print_dof(const DofImage& image);

/// Returns every ECB with its probe, predicate and actions, each with its disassembly.
std::string print_ecbs(const DofProgram& program);

/// Returns the rows of one DIF object: instructions, then its variable table.
std::string print_difo(const Difo& difo);

/// Returns one instruction: "ldgs DT_VAR(262), %r1    ! arg0".  An unknown opcode is shown as such.
std::string print_instruction(const Difo& difo, uint32_t instruction);

/// Returns the name in D of a built-in variable; "" of an id that is none.
const char* builtin_name(uint32_t id);

/// Returns a type: "D type (integer) (size 8)", "string (unknown) by ref (size 256)".
std::string print_dif_type(const dif_type& type);

/// Returns "printf", "sum", "clear" (for a library action with that argument), or "0x...".
std::string print_action_kind(const DofAction& action);

/// Returns the text as a C string constant, quotes and escapes included.
std::string quote(const std::string& text);

} // namespace daybreak::formats
