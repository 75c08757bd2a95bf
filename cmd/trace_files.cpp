// SPDX-License-Identifier: Apache-2.0
#include "cmd/trace_files.hpp"

#include "base/file.hpp"
#include "cmd/terminal.hpp"
#include "formats/trace/boots.hpp"

#include <algorithm>
#include <fstream>

namespace daybreak::cmd {

/// For --boot.
constexpr const char* kAllBoots = "all";

void add_trace_files(Command command, TraceFiles& files, bool required) {
    Option paths = command.add_option(
        "FILE", files.paths, "Trace files (.dbrk), or folders of them: together one recording");
    if (required)
        paths.required();
    command.add_option("--boot", files.options.boot,
                       "Boot to read, by ID prefix (default: this one, else the newest)");
}

namespace {

formats::ReadOptions read_options(const TraceFiles& files) {
    formats::ReadOptions options = files.options;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> options.running_boot;
    return options;
}

} // namespace

base::Result<formats::Trace> read_trace_files(const TraceFiles& files) {
    formats::ReadOptions options = read_options(files);
    DBK_TRY(formats::Trace trace, formats::read_traces(files.paths, options));
    if (trace.boots.size() > 1 && options.boot.empty())
        complain(base::strprintf("boot %s, one of %zu in these files; --boot reads another",
                                 formats::boot_name(trace.recording.boot_id).c_str(),
                                 trace.boots.size()));
    return trace;
}

void add_recordings(Command command, TraceFiles& files) {
    command
        .add_option("FILE", files.paths,
                    "Trace files (.dbrk), or folders of them, of one or several boots and machines")
        .required();
    command.add_option("--boot", files.options.boot,
                       "Boot to read, by ID prefix; all (default: that of each file; of a folder "
                       "this one, else the newest)");
}

base::Result<std::vector<formats::Trace>> read_recordings(const TraceFiles& files) {
    const bool all = files.options.boot == kAllBoots;
    std::vector<formats::Trace> traces;
    bool is_of_one = files.paths.size() == 1 && !all;
    // What comes by a pipe can be read only once.
    if (is_of_one || (!files.options.boot.empty() && !all) ||
        std::ranges::any_of(files.paths, base::is_nameless_pipe)) {
        DBK_TRY(formats::Trace trace, read_trace_files(files));
        traces.push_back(std::move(trace));
        return traces;
    }
    formats::ReadOptions options = read_options(files);
    options.boot.clear();
    DBK_TRY(formats::WantedBoots wanted, formats::find_boots(files.paths, options, all));
    if (wanted.boots.empty()) // of files that say none
        wanted.boots.push_back({0, "", files.paths});
    for (const formats::WantedBoot& boot : wanted.boots) {
        options.boot = wanted.boots.size() == 1 && wanted.left_out == 0 ? "" : boot.name;
        DBK_TRY(formats::Trace trace, formats::read_traces(boot.paths, options));
        traces.push_back(std::move(trace));
    }
    if (wanted.left_out != 0)
        complain(base::strprintf("%zu of %zu boots, of each folder one; --boot all reads all",
                                 wanted.boots.size(), wanted.boots.size() + wanted.left_out));
    return traces;
}

} // namespace daybreak::cmd
