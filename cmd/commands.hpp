// SPDX-License-Identifier: Apache-2.0
//
// The subcommands.  Each add_…() describes its options to the parser and leaves a callback there
// that does the work and puts the exit status into `status`.
#pragma once

#include "cmd/command.hpp"
#include "cmd/terminal.hpp"

namespace daybreak::cmd {

/// What --symbols takes, of every subcommand that has it.
constexpr const char* kSymbolsHelp =
    "Symbols: another trace of that boot or kernel, or its kallsyms";

void add_backfill(Command app, int& status);
void add_boot_report(Command app, int& status);
void add_compile(Command app, int& status);
void add_complete(Command app, int& status);
void add_diff(Command app, int& status);
void add_dof(Command app, int& status);
void add_sim(Command app, int& status);
void add_embed(Command app, int& status);
void add_extract(Command app, int& status);
void add_postmortem(Command app, int& status);
void add_record(Command app, int& status);
void add_recover(Command app, int& status);
void add_replay(Command app, int& status);
void add_report(Command app, int& status);
void add_sign(Command app, int& status);
void add_info(Command app, int& status);
void add_list(Command app, int& status);
void add_merge(Command app, int& status);
void add_pack(Command app, int& status);
void add_snapshot(Command app, int& status);
void add_start(Command app, int& status);
void add_status(Command app, int& status);
void add_stop(Command app, int& status);
void add_verify(Command app, int& status);
void add_watch(Command app, int& status);

} // namespace daybreak::cmd
