// SPDX-License-Identifier: Apache-2.0
//
// Programs that go on by themselves: those of `start` and of `record --follow`.
#pragma once

#include "cmd/program.hpp"
#include "recorder/programs.hpp"

namespace daybreak::cmd {

/// What to enable, as given.
struct EnablingArguments {
    ProgramArguments program;           ///< -s and its kin
    std::vector<std::string> dof_files; ///< --dof: the same, compiled
    std::string name;                   ///< --name: of the one program
};

/// Adds -x, -w, --dof and --name.
void add_enabling_options(Command command, EnablingArguments& arguments,
                          const std::string& group = "OPTIONS");

/// Returns why a program cannot have that name; "" when it can.  A name is part of files' names,
/// and stands on command lines where options and numbers of rings do.
std::string name_problem(const std::string& name);

/// Returns the name of the program in a file: the file's, without folder and ".d" or ".dof", with
/// '_' for what a name does not have, and as much of it as a name takes.
/// Error: invalid, when that is not a name either.
base::Result<std::string> program_name(const std::string& path);

/// Returns those of several files.  Error: invalid, too, when two are one.
base::Result<std::vector<std::string>> program_names(const std::vector<std::string>& paths);

/// Compiles and reads the programs.  Empty: what is wrong was said.
std::optional<std::vector<recorder::NamedProgram>>
read_enablings(const EnablingArguments& arguments);

} // namespace daybreak::cmd
