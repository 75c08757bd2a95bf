// SPDX-License-Identifier: Apache-2.0
//
// Programs for a machine that is not asked while they are compiled: for its next boot, or to go on
// by themselves.
#pragma once

#include "cmd/program.hpp"

#include <optional>
#include <string>

namespace daybreak::cmd {

/// Compiles with all probes that a kernel can have, and functions of the files that descriptions
/// name by path ("pid*:/usr/lib/systemd/systemd:main:entry"), as they are on this machine.  Empty:
/// as compile_program().
std::optional<CompiledProgram> compile_for_machine(const ProgramArguments& arguments);

/// Returns why a file that a description names by its path has no such probe, or by which path
/// "pid*:libc.so.6:malloc:entry" has one; "": the description is another, or the file has it.
std::string hint_for_path(const formats::DofProbeName& description);
std::string hint_for_path(const compiler::ProbeDescription& description);

/// Returns the marks of running processes that a misspelt description meant: "python*:::line"; "":
/// none are near.
std::string similar_mark(const compiler::ProbeDescription& description);

} // namespace daybreak::cmd
