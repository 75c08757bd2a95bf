// SPDX-License-Identifier: Apache-2.0
//
// daybreak info: what a trace file holds, and how complete it is.
#include "analyze/info.hpp"
#include "cmd/commands.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/trace_sink.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

int info(const TraceFiles& files, std::optional<size_t> log_lines, bool json) {
    auto trace = read_trace_files(files);
    if (!trace.ok())
        return fail(trace.error());
    TerminalSink sink({});
    analyze::CompletenessNote note = json ? analyze::print_info_json(*trace, sink)
                                          : analyze::print_info(*trace, sink, log_lines);
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    return note.advised_status();
}

} // namespace

void add_info(CLI::App& app, int& status) {
    auto files = std::make_shared<TraceFiles>();
    auto whole_log = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
    CLI::App* command =
        app.add_subcommand("info", "Summarize a trace file and say how complete it is");
    add_trace_files(*command, *files, true);
    command->add_flag("--log", *whole_log,
                      "Print all of the kernel's log that was kept, not only a dead machine's last "
                      "lines");
    command->add_flag("--json", *json, "One line of JSON");
    command->footer("\nExample: is anything missing? (exit status 3 when data was lost)\n"
                    "  daybreak info boot.dbrk");
    command->callback([files, whole_log, json, &status] {
        status = info(*files, *whole_log ? std::optional(SIZE_MAX) : std::nullopt, *json);
    });
}

} // namespace daybreak::cmd
