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
void add_enabling_options(CLI::App& command, EnablingArguments& arguments,
                          const std::string& group = "OPTIONS");

/// Returns the name for a program's ring: its file's, without folder and ".d" or ".dof", and as much
/// of it as a ring's name takes.
std::string ring_name(const std::string& path);

/// Compiles and reads the programs.  Empty: what is wrong was said.
std::optional<std::vector<recorder::NamedProgram>>
read_enablings(const EnablingArguments& arguments);

} // namespace daybreak::cmd
