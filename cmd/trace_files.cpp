// SPDX-License-Identifier: Apache-2.0
#include "cmd/trace_files.hpp"

namespace daybreak::cmd {

void add_trace_files(CLI::App& command, TraceFiles& files, bool required) {
    CLI::Option* paths = command.add_option(
        "FILE", files.paths, "Trace files (.dbrk), or folders of them: together one recording");
    if (required)
        paths->required();
    command.add_option("--boot", files.options.boot,
                       "Of files of several boots, the one whose ID begins so, not the newest");
}

base::Result<formats::Trace> read_trace_files(const TraceFiles& files) {
    return formats::read_traces(files.paths, files.options);
}

} // namespace daybreak::cmd
