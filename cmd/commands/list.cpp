// SPDX-License-Identifier: Apache-2.0
//
// daybreak list: the probes of the running kernel, or those that a trace file has.
#include "analyze/list.hpp"
#include "cmd/commands.hpp"
#include "cmd/trace_sink.hpp"
#include "formats/trace/reader.hpp"
#include "recorder/device.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

base::Result<void> list_trace(const std::string& path, TerminalSink& sink) {
    DBK_TRY(auto trace, formats::read_trace(path));
    analyze::print_probe_list(trace.recording, sink);
    return {};
}

base::Result<void> list_kernel(TerminalSink& sink) {
    DBK_TRY(auto device, recorder::open_device());
    std::string line;
    analyze::print_probe_heading(line);
    for (uint32_t index = 0;; index++) {
        sink.write(line);
        line.clear();
        DBK_TRY(auto probe, device->probe(index));
        if (!probe)
            return {};
        analyze::print_probe(line, probe->probe_id, probe->provider, probe->module, probe->function,
                             probe->name);
    }
}

} // namespace

void add_list(CLI::App& app, int& status) {
    auto path = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("list", "List probes: the kernel's, or a trace file's");
    command->add_option("FILE", *path,
                        "A trace file (.dbrk); without it, the running kernel is asked");
    command->footer("\nExample: the system calls that can be traced here (as root)\n"
                    "  daybreak list | grep syscall");
    command->callback([path, &status] {
        TerminalSink sink({});
        auto done = path->empty() ? list_kernel(sink) : list_trace(*path, sink);
        sink.flush();
        status = done.ok() ? static_cast<int>(finish_stdout()) : fail(done.error());
    });
}

} // namespace daybreak::cmd
