// SPDX-License-Identifier: Apache-2.0
//
// Names of addresses in recordings: those of --symbols, and of processes by files of this machine.
#pragma once

#include "analyze/symbols/address_names.hpp"
#include "analyze/symbols/recorded_names.hpp"
#include "cmd/command.hpp"
#include "formats/trace/reader.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace daybreak::cmd {

/// --symbols: folders of programs and libraries, and files of the kernel's symbols.
void add_symbols_option(Command command, std::vector<std::string>& paths);

/// Gives each trace the kernel's symbols of those files that are of its kernel.  Returns the
/// folders.
/// Errors: as recorder::read_old_symbols(), when a file is of none of them; invalid: the file does
///         not say of which kernel it is, and they are of several.
base::Result<std::vector<std::string>> take_symbols(const std::vector<std::string>& paths,
                                                    std::span<formats::Trace* const> traces);

/// Returns what names the user addresses of a recording, which must outlive it; null when the
/// recording has no maps of processes.  `folders` are those of --symbols, `fetch` that of
/// --debuginfod.
std::unique_ptr<analyze::RecordedNames> user_names_of(const formats::Trace& trace,
                                                      std::vector<std::string> folders = {},
                                                      analyze::ObjectFetch fetch = {});

/// How they are written.
void add_user_style_options(Command command, analyze::UserNameStyle& style);

/// Says of which recordings addresses stayed numbers, and why.
void complain_of_unnamed(const analyze::UnnamedAddresses& unnamed,
                         std::span<const formats::Trace* const> traces);

using UserNamesOfAll = std::vector<std::unique_ptr<analyze::RecordedNames>>; ///< each may be null

/// Says of which files that addresses were in this machine has no such build.
void complain_of_missing(const analyze::MissingFiles& missing);
void complain_of_missing(const UserNamesOfAll& names);

} // namespace daybreak::cmd
