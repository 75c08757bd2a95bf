// SPDX-License-Identifier: Apache-2.0
#include "cmd/trace_files.hpp"

#include "cmd/terminal.hpp"

#include <fstream>

namespace daybreak::cmd {

void add_trace_files(Command command, TraceFiles& files, bool required) {
    Option paths = command.add_option(
        "FILE", files.paths, "Trace files (.dbrk), or folders of them: together one recording");
    if (required)
        paths.required();
    command.add_option("--boot", files.options.boot,
                       "Boot to read, by ID prefix (default: this one, else the newest)");
}

base::Result<formats::Trace> read_trace_files(const TraceFiles& files) {
    formats::ReadOptions options = files.options;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> options.running_boot;
    DBK_TRY(formats::Trace trace, formats::read_traces(files.paths, options));
    if (trace.boots.size() > 1 && options.boot.empty())
        complain(base::strprintf("boot %s, one of %zu in these files; --boot reads another",
                                 formats::boot_name(trace.recording.boot_id).c_str(),
                                 trace.boots.size()));
    return trace;
}

} // namespace daybreak::cmd
