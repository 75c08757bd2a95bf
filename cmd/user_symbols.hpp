// SPDX-License-Identifier: Apache-2.0
//
// Names of addresses in recordings: those of --symbols, and of processes by files of this machine.
#pragma once

#include "analyze/symbols/address_names.hpp"
#include "analyze/symbols/recorded_names.hpp"
#include "cmd/command.hpp"
#include "formats/trace/reader.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace daybreak::cmd {

/// Where names come from that a recording does not have.
struct SymbolsArguments {
    std::vector<std::string>
        paths; ///< --symbols: folders and files of programs; a file of the kernel
    bool debuginfod = false;
};

void add_symbols_options(Command command, SymbolsArguments& symbols);

/// Gives each trace the kernel's symbols of those files that are of its kernel.  Returns where the
/// programs are to be looked for: the files, the folders, and servers, if they may be asked.
/// Errors: invalid: a program's file is of no build that is in them; as
/// recorder::read_old_symbols(), when a file is of none of them; invalid: the file does
///         not say of which kernel it is, and they are of several; as of debuginfod_fetch().
base::Result<analyze::ObjectPlaces> take_symbols(const SymbolsArguments& symbols,
                                                 std::span<formats::Trace* const> traces);

/// Returns what names the user addresses of a recording, which must outlive it; null when the
/// recording has no maps of processes.
std::unique_ptr<analyze::RecordedNames> user_names_of(const formats::Trace& trace,
                                                      analyze::ObjectPlaces places = {});

/// How they are written.
void add_user_style_options(Command command, analyze::UserNameStyle& style);

/// Says of which recordings addresses stayed numbers, and why.
void complain_of_unnamed(const analyze::UnnamedAddresses& unnamed,
                         std::span<const formats::Trace* const> traces);

using UserNamesOfAll = std::vector<std::unique_ptr<analyze::RecordedNames>>; ///< each may be null

/// What to say of files whose functions are not named: path, and why.
std::vector<std::string> unnamed_texts(const std::map<std::string, std::string>& unnamed);

/// Says of which files that addresses were in this machine has no such build.
void complain_of_missing(const analyze::MissingFiles& missing);
void complain_of_missing(const UserNamesOfAll& names);

} // namespace daybreak::cmd
