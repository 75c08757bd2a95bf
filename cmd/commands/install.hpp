// SPDX-License-Identifier: Apache-2.0
//
// What `status` takes of `install`; the subcommands of an installation.
#pragma once

#include "cmd/commands.hpp"

namespace daybreak::cmd {

void add_install(Command app, int& status);
void add_uninstall(Command app, int& status);
void add_selftest(Command app, int& status);

/// Has the next boot traced, once, with a program, as `install --once` does.  Returns the exit status.
int install_once(const std::string& program_path);

/// Prints what is installed on this machine, what the next boot does, and what the last one did.
/// Returns whether something is installed, and sets `is_wrong_ret` when not all is as it should be.
bool print_installation(const std::string& root, bool& is_wrong_ret);

} // namespace daybreak::cmd
