// SPDX-License-Identifier: Apache-2.0
#include "cmd/trace_files.hpp"

#include "cmd/terminal.hpp"

#include <algorithm>
#include <fstream>

namespace daybreak::cmd {

void add_trace_files(CLI::App& command, TraceFiles& files, bool required) {
    CLI::Option* paths = command.add_option(
        "FILE", files.paths, "Trace files (.dbrk), or folders of them: together one recording");
    if (required)
        paths->required();
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

base::Result<void> keep_ring(formats::Recording& recording, const std::string& name) {
    auto is_named = [&](const formats::RingRecording& ring) { return ring.info.name == name; };
    auto is_numbered = [&](const formats::RingRecording& ring) {
        return std::to_string(ring.ring_id) == name;
    };
    std::vector<formats::RingRecording>& rings = recording.rings;
    bool by_name = std::any_of(rings.begin(), rings.end(), is_named);
    if (!by_name && std::none_of(rings.begin(), rings.end(), is_numbered)) {
        std::string names;
        for (const formats::RingRecording& ring : rings)
            if (ring.ring_id != 0)
                names += (names.empty() ? "" : ", ") + ring.info.name;
        return base::errorf(base::ErrorCode::not_found, "no ring %s: there are %s", name.c_str(),
                            names.empty() ? "none" : names.c_str());
    }
    std::erase_if(rings, [&](const formats::RingRecording& ring) {
        return ring.ring_id != 0 && !(by_name ? is_named(ring) : is_numbered(ring));
    });
    return {};
}

} // namespace daybreak::cmd
