// SPDX-License-Identifier: Apache-2.0
//
// The subcommands.  Each add_…() describes its options to the parser and leaves a callback there
// that does the work and puts the exit status into `status`.
#pragma once

#include "cmd/terminal.hpp"

#include <CLI/CLI.hpp>

namespace daybreak::cmd {

/// What --symbols takes, of every subcommand that has it.
constexpr const char* kSymbolsHelp = "Symbols: another trace of that boot or kernel, or its kallsyms";

void add_backfill(CLI::App& app, int& status);
void add_compile(CLI::App& app, int& status);
void add_complete(CLI::App& app, int& status);
void add_dof(CLI::App& app, int& status);
void add_sim(CLI::App& app, int& status);
void add_embed(CLI::App& app, int& status);
void add_extract(CLI::App& app, int& status);
void add_record(CLI::App& app, int& status);
void add_recover(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_sign(CLI::App& app, int& status);
void add_info(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_pack(CLI::App& app, int& status);
void add_snapshot(CLI::App& app, int& status);
void add_start(CLI::App& app, int& status);
void add_status(CLI::App& app, int& status);
void add_stop(CLI::App& app, int& status);

} // namespace daybreak::cmd
