// SPDX-License-Identifier: Apache-2.0
//
// Recordings on a command line: files and folders, and which boot of theirs.
#pragma once

#include "cmd/command.hpp"
#include "formats/trace/reader.hpp"

namespace daybreak::cmd {

/// What the user named.
struct TraceFiles {
    std::vector<std::string> paths;
    formats::ReadOptions options;
};

/// Adds FILE... and --boot to a subcommand.
void add_trace_files(Command command, TraceFiles& files, bool required);

/// Reads them as one recording.
base::Result<formats::Trace> read_trace_files(const TraceFiles& files);

/// Adds FILE... and --boot to a subcommand that takes several recordings.
void add_recordings(Command command, TraceFiles& files);

/// Reads them as the recordings of several boots: of each file its boot, of each folder the running
/// or the newest one, or all with --boot all.
base::Result<std::vector<formats::Trace>> read_recordings(const TraceFiles& files);

} // namespace daybreak::cmd
