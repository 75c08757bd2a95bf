// SPDX-License-Identifier: Apache-2.0
//
// daybreak info: what a trace file holds, and how complete it is.
#include "analyze/info.hpp"
#include "cmd/commands.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/window_options.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

struct InfoArguments {
    TraceFiles files;
    WindowOptions window;
    bool whole_log = false;
    bool json = false;
};

int info(const InfoArguments& arguments) {
    if (auto checked = check_window_options(arguments.window); !checked.ok())
        return fail_window("info", checked.error());
    auto trace = read_trace_files(arguments.files);
    if (!trace.ok())
        return fail(trace.error());
    auto window = apply_window_options(arguments.window, trace->recording);
    if (!window.ok())
        return fail_window("info", window.error());
    auto probes = probes_asked_for(arguments.window, trace->recording);
    if (!probes.ok())
        return fail_window("info", probes.error());
    analyze::InfoOptions options;
    options.window = *window;
    options.probes = *probes;
    options.cpus = arguments.window.cpus;
    if (arguments.whole_log)
        options.log_lines = SIZE_MAX;
    TerminalSink sink({});
    analyze::CompletenessNote note = arguments.json
                                         ? analyze::print_info_json(*trace, sink, options)
                                         : analyze::print_info(*trace, sink, options);
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    return note.advised_status();
}

} // namespace

void add_info(Command app, int& status) {
    auto arguments = std::make_shared<InfoArguments>();
    Command command =
        app.add_subcommand("info", "Summarize a trace file and say how complete it is");
    add_trace_files(command, arguments->files, true);
    add_window_options(command, arguments->window);
    add_probe_option(command, arguments->window);
    command.add_flag("--log", arguments->whole_log,
                     "Print all of the kernel's log that was kept, not only a dead machine's last "
                     "lines");
    command.add_flag("--json", arguments->json, "One line of JSON");
    command.footer("\nExample: is anything missing? (exit status 3 when data was lost)\n"
                   "  daybreak info boot.dbrk\n"
                   "Example: is anything missing of the last 5 seconds?\n"
                   "  daybreak info --since -5 boot.dbrk");
    command.callback([arguments, &status] { status = info(*arguments); });
}

} // namespace daybreak::cmd
