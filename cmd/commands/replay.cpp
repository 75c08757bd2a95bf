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
#include "cmd/terminal.hpp"
#include "cmd/this_process.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/window_options.hpp"
#include "formats/dof/dof_writer.hpp"

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

/// Returns "a, b, c and 5 more".
std::string some_of(const std::set<std::string>& names) {
    constexpr size_t kNamed = 3;
    std::string text;
    size_t named = 0;
    for (auto name = names.begin(); name != names.end() && named < kNamed; ++name, ++named)
        text += (named == 0 ? "" : ", ") + *name;
    return names.size() > named ? text + base::strprintf(" and %zu more", names.size() - named)
                                : text;
}

/// Says which probes of the program were recorded now and then only.
void complain_of_predicates(const formats::DofProgram& program,
                            const analyze::CaptureTable& table) {
    std::set<std::string> asked, refused;
    for (const formats::DofEcb& ecb : program.ecbs)
        asked.insert(ecb.probe.text());
    for (const auto& [id, probe] : table.probes()) {
        std::string name = formats::DofProbeName{probe.info.provider, probe.info.module,
                                                 probe.info.function, probe.info.name, 0}
                               .text();
        bool is_own = probe.info.provider == "dtrace" || probe.info.name.starts_with("tick-");
        if (probe.is_conditional && !is_own && asked.contains(name))
            refused.insert(name);
    }
    if (refused.empty())
        return;
    complain("not every firing was recorded, only what a predicate or a commit() let through: " +
             some_of(refused));
}

/// Returns the index of the ring that is replayed.
/// Error: invalid, when there are several to choose from; not_found, when there is none.
base::Result<size_t> ring_of(const formats::Recording& recording) {
    std::optional<size_t> found;
    std::string names;
    for (size_t i = 0; i < recording.rings.size(); i++) {
        const formats::RingRecording& ring = recording.rings[i];
        if (ring.ecbs.empty())
            continue;
        names += (names.empty() ? "" : ", ") + ring.info.name;
        if (found)
            return errorf(base::ErrorCode::invalid,
                          "the recording is of several programs (%s): name one with --ring",
                          names.c_str());
        found = i;
    }
    if (!found)
        return errorf(base::ErrorCode::not_found,
                      "the recording does not describe its records: nothing can be replayed");
    return *found;
}

/// The D text that was recorded with.
base::Result<compiler::CompileSource> stored_source(const analyze::RingProgram& program) {
    for (const auto& [index, image] : program.images())
        if (image.program.source) {
            compiler::CompileSource source;
            source.text = *image.program.source;
            source.name = image.program.target ? image.program.target->main_file : "";
            if (source.name.empty())
                source.name = "the recorded program";
            return source;
        }
    return errorf(base::ErrorCode::not_found,
                  "the recording does not have the text of its program: give one with -s or -n");
}

/// Buffers of a replay lose nothing: they are read in time, whatever the program asks of them.
base::Result<base::Bytes> replayed_dof(CompiledProgram& compiled,
                                       const std::vector<formats::DofOption>& recorded_options) {
    std::vector<formats::DofOption>& options = compiled.program.options;
    options.insert(options.begin(), recorded_options.begin(), recorded_options.end());
    std::erase_if(options, [](const formats::DofOption& option) {
        return option.option == DTRACEOPT_BUFPOLICY || option.option == DTRACEOPT_BUFSIZE ||
               option.option == DBK_OPT_AGGREGATE || option.option == DBK_OPT_RINGTIME;
    });
    options.push_back({DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH, std::nullopt});
    options.push_back({DTRACEOPT_BUFSIZE, 32u << 20, std::nullopt});
    options.push_back({DBK_OPT_AGGREGATE, DBK_AGGREGATE_RECORD, std::nullopt});
    return formats::write_dof(compiled.program);
}

/// What to do about a description that matches no probe with records.
std::string hint_for(const compiler::ProbeDescription& description,
                     const formats::RingRecording& ring, const std::string& path) {
    for (const auto& [id, probe] : ring.probes)
        if (sim::names_match(description, probe))
            return "its clauses stored nothing; what is counted in the kernel (aggregate=engine) "
                   "has no records: record with -x aggregate=record, or capture()";
    if (description.name.starts_with("profile-"))
        return "profile-N fires where it was recorded; tick-N fires in any replay";
    if (description.name.starts_with("tick-") && description.module.empty() &&
        description.function.empty() &&
        (description.provider.empty() || description.provider == "profile"))
        return "its interval is not one of a timer: tick-10ms, tick-97hz, from 200 us on";
    return "it was not recorded: daybreak list " + path + " prints what was";
}

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
