// SPDX-License-Identifier: Apache-2.0
//
// Names of user addresses in a recording, by the files of this machine.
#pragma once

#include "analyze/symbols/address_names.hpp"
#include "analyze/symbols/recorded_names.hpp"
#include "cmd/command.hpp"
#include "formats/trace/reader.hpp"

#include <memory>
#include <string>
#include <vector>

namespace daybreak::cmd {

/// Returns what names the user addresses of a recording, which must outlive it; null when the
/// recording has no maps of processes.  `folders` are those of --symbols.
std::unique_ptr<analyze::RecordedNames> user_names_of(const formats::Trace& trace,
                                                      std::vector<std::string> folders = {});

/// How they are written.
void add_user_style_options(Command command, analyze::UserNameStyle& style);

/// Says of which files that addresses were in this machine has no such build.
void complain_of_missing(const analyze::RecordedNames& names);

} // namespace daybreak::cmd
