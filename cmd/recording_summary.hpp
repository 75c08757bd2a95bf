// SPDX-License-Identifier: Apache-2.0
//
// What record, snapshot, recover and extract say on stderr of the trace file they wrote.
#pragma once

#include "recorder/record.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// What --rows and --replace of a command that writes a trace file do.
inline constexpr const char* kRowsHelp = "Write records in rows, not in columns";
inline constexpr const char* kReplaceHelp = "Replace the file that -o names, if it is there";

/// A line for each ring: what is in the file of it, and what is not.  Of a window (`is_window`)
/// what the ring overwrote is not news.
void complain_of_rings(const std::vector<recorder::RecordedRing>& rings, bool is_window = false);

/// Where the symbols are, when the file has them in another.
void complain_of_symbols(const recorder::RecordSummary& summary, const std::string& path);

/// What was found, then the file and how to read it.
void complain_of_file(const std::vector<formats::Finding>& findings, const std::string& path,
                      uint64_t file_bytes, bool interrupted = false);

} // namespace daybreak::cmd
