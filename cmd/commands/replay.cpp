// SPDX-License-Identifier: Apache-2.0
//
// daybreak replay: a D program run over a recording that was made before it was written.
#include "analyze/replay/replay.hpp"
#include "analyze/completeness.hpp"
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/outside.hpp"
#include "cmd/program.hpp"
#include "cmd/recorded_table.hpp"
#include "cmd/replayed_program.hpp"
#include "cmd/terminal.hpp"
#include "cmd/this_process.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/window_options.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>
#include <memory>
#include <set>

namespace daybreak::cmd {

namespace {

using base::errorf;

struct ReplayArguments {
    ProgramArguments program;
    TraceFiles files;
    WindowOptions window;
    bool where_possible = false;
};

/// Says what faulted when it was recorded: such a clause stored nothing.
void complain_of_faults(const formats::RingRecording& ring) {
    uint64_t faults = 0;
    for (const formats::CpuInfo& cpu : ring.cpus)
        faults += cpu.completeness.errors;
    if (faults != 0)
        complain(base::counted(faults, "recorded clause") + " faulted, and stored nothing");
}

/// Takes the line that shows how far it is away before anything else is written.
class CleanSink : public analyze::Sink {
public:
    CleanSink(TerminalSink& sink, Progress& progress) : sink_(sink), progress_(progress) {}
    void write(std::string_view text) override {
        progress_.clear();
        sink_.write(text);
    }
    void message(const analyze::Message& message) override {
        progress_.clear();
        sink_.message(message);
    }

private:
    TerminalSink& sink_;
    Progress& progress_;
};

/// Runs the compiled program, and says what was missing.  Returns the exit status.
int run(const ReplayArguments& arguments, const formats::Trace& trace,
        const analyze::CaptureTable& table, size_t index, const analyze::TimeWindow& window,
        const CompiledProgram& compiled, base::ByteView dof) {
    analyze::ReportOptions options;
    options.testing = is_testing();
    options.symbols = &trace.symbols;
    OutputFile output;
    TerminalSink sink(
        {.drop_tags = arguments.program.has_option("droptags"), .details = !options.testing});
    if (arguments.program.destructive)
        options.hooks = outside_hooks(output, [&sink] { sink.flush(); });
    Progress progress("daybreak: replaying");
    CleanSink clean(sink, progress);
    analyze::LiveReport report(options, clean);
    analyze::ReplayOptions how;
    how.window = window;
    how.release = compiled.release;
    how.destructive = true; // the machine is the replay's
    install_interrupt();
    how.interrupted = [] { return interrupted.load(); };
    uint64_t all = 0;
    for (const formats::CpuInfo& cpu : trace.recording.rings[index].cpus)
        all += cpu.completeness.present;
    how.progress = [&](uint64_t records) { progress.update(records, all); };
    analyze::Replay replay(trace.recording, index, table, how);
    auto done = replay.run(dof, report);
    progress.clear();
    sink.finish();
    if (!done.ok())
        return fail(done.error());
    analyze::CompletenessNote note = analyze::completeness_of(trace.recording, window);
    if ((!note.complete || !note.until.empty() || !note.end.empty()) && !options.testing)
        complain(note.verdict());
    if (!arguments.program.source && !options.testing)
        complain_of_predicates(compiled.program, table);
    if (!options.testing)
        complain_of_faults(trace.recording.rings[index]);
    if (replay.has_timers_ended())
        complain(base::strprintf("timers fired %" PRIu64
                                 " times, and no more: the recording is too "
                                 "long for them",
                                 how.timer_firings_max));
    if (replay.was_interrupted())
        complain("interrupted after " + base::counted(replay.records(), "record") + " of " +
                 std::to_string(all));
    if (replay.records() == 0 && note.complete)
        complain_of_nothing(window);
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    int status = replay.exit_status().value_or(0);
    if (replay.drops() != 0 && status == 0)
        return analyze::kStatusLosses;
    return status != 0 ? status : note.advised_status();
}

int replay(ReplayArguments arguments) {
    if (auto checked = check_window_options(arguments.window); !checked.ok())
        return fail_window("replay", checked.error());
    TraceFiles files = arguments.files;
    files.options.skim = arguments.window.may_skim();
    auto trace = read_trace_files(files);
    if (!trace.ok())
        return fail(trace.error());
    auto window = apply_window_options(arguments.window, trace->recording);
    if (!window.ok())
        return fail_window("replay", window.error());
    auto index = ring_of(trace->recording);
    if (!index.ok())
        return fail(index.error());
    const formats::RingRecording& ring = trace->recording.rings[*index];
    analyze::RingProgram recorded(ring);
    analyze::CaptureTable table(ring, recorded);
    if (arguments.program.script.empty() && arguments.program.text.empty()) {
        auto source = stored_source(recorded);
        if (!source.ok())
            return fail(source.error());
        arguments.program.source = std::move(*source);
    }
    RecordedTable state(table);
    auto exists = [&](const compiler::ProbeDescription& description) {
        return !state.matches(description).empty();
    };
    auto hint = [&](const compiler::ProbeDescription& description) {
        return hint_for(description, ring, trace->path);
    };
    auto compiled =
        compile_program(arguments.program, {exists, {}, hint, &state, arguments.where_possible});
    if (!compiled)
        return static_cast<int>(Exit::failed);
    // The recorded program has the options of its command line, too.
    std::vector<formats::DofOption> given;
    if (arguments.program.source)
        given = recorded.options();
    if (auto checked = check_destructive(compiled->program);
        !arguments.program.source && !checked.ok())
        return fail(checked.error());
    if (!state.partial().empty() && !arguments.program.source && !is_testing())
        complain("recorded at some firings only, and clauses run for these: " +
                 some_of(state.partial()));
    auto dof = replayed_dof(*compiled, given);
    if (!dof.ok())
        return fail(dof.error());

    return run(arguments, *trace, table, *index, *window, *compiled, *dof);
}

} // namespace

void add_replay(Command app, int& status) {
    auto arguments = std::make_shared<ReplayArguments>();
    Command command =
        app.add_subcommand("replay", "Run a D program over a recording, as if it had been there");
    add_program_text_options(command, arguments->program);
    add_trace_files(command, arguments->files, true);
    add_window_options(command, arguments->window);
    command.add_flag("--where-possible", arguments->where_possible,
                     "Leave out clauses that ask what was not recorded, and say which");
    command.footer(
        "\nWithout -s and -n the program that was recorded with runs again.\n"
        "Example: which programs opened files during a boot whose opens were recorded?\n"
        "  daybreak replay -n 'syscall::openat:entry { @[execname] = count(); }' boot.dbrk");
    command.callback([arguments, &status] {
        const ProgramArguments& program = arguments->program;
        if (!program.script.empty() && !program.text.empty()) {
            status = misuse("replay", "replay takes one program: -s FILE or -n TEXT");
            return;
        }
        status = replay(*arguments);
    });
}

} // namespace daybreak::cmd
