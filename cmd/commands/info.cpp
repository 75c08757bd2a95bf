// SPDX-License-Identifier: Apache-2.0
//
// daybreak info: what a trace file holds, and how complete it is.
#include "analyze/info.hpp"
#include "cmd/commands.hpp"
#include "cmd/trace_sink.hpp"
#include "formats/trace/reader.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

int info(const std::string& path) {
    auto trace = formats::read_trace(path);
    if (!trace.ok())
        return fail(trace.error());
    TerminalSink sink({});
    analyze::CompletenessNote note = analyze::print_info(*trace, sink);
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    bool losses = note.losses || trace->has_losses();
    return static_cast<int>(losses ? Exit::losses : Exit::ok);
}

} // namespace

void add_info(CLI::App& app, int& status) {
    auto path = std::make_shared<std::string>();
    CLI::App* command =
        app.add_subcommand("info", "Summarize a trace file and say how complete it is");
    command->add_option("FILE", *path, "A trace file (.dbrk)")->required();
    command->footer("\nExample: is anything missing? (exit status 3 when data was lost)\n"
                    "  daybreak info boot.dbrk");
    command->callback([path, &status] { status = info(*path); });
}

} // namespace daybreak::cmd
