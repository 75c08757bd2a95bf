// SPDX-License-Identifier: Apache-2.0
//
// daybreak replay: a D program run over recordings that were made before it was written.
#include "analyze/replay/replay.hpp"
#include "analyze/completeness.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/replay/partial.hpp"
#include "analyze/report.hpp"
#include "analyze/verify.hpp"
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/partial.hpp"
#include "cmd/outside.hpp"
#include "cmd/program.hpp"
#include "cmd/progress.hpp"
#include "cmd/recorded_table.hpp"
#include "cmd/recording_set.hpp"
#include "cmd/replayed_program.hpp"
#include "cmd/terminal.hpp"
#include "cmd/this_process.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/user_symbols.hpp"

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
    std::string align; ///< a probe description
    bool where_possible = false;
    bool names_machines = false;
    SymbolsArguments symbols;
    analyze::UserNameStyle user_style;
    std::string partial; ///< the file for partial states; "": print
};

/// Says what faulted when it was recorded: such a clause stored nothing.
void complain_of_faults(const RecordingSet& set) {
    for (const auto& one : set.all()) {
        uint64_t faults = 0;
        for (const OpenRing& ring : one->rings)
            for (const formats::CpuInfo& cpu : ring.ring->cpus)
                faults += cpu.completeness.errors;
        if (faults != 0)
            complain(set.prefix(*one) + base::counted(faults, "recorded clause") +
                     " faulted, and stored nothing");
    }
}

/// Whether a clause is of a probe that was recorded, not of the replay's own.
bool asks_recorded(const formats::DofProgram& program) {
    return std::ranges::any_of(program.ecbs, [](const formats::DofEcb& clause) {
        return clause.probe.provider != "dtrace" && !clause.probe.name.starts_with("tick-");
    });
}

/// Says what is missing in the recordings.  Returns the exit status that they advise.
int complain_of_gaps(const RecordingSet& set, bool has_records) {
    int status = analyze::kStatusComplete;
    bool all_complete = true;
    for (const auto& one : set.all()) {
        analyze::CompletenessNote note =
            analyze::completeness_of(one->trace.recording, one->window);
        if ((!note.complete || !note.until.empty() || !note.end.empty()) && !is_testing())
            complain(set.prefix(*one) + note.verdict());
        status = std::max(status, note.advised_status());
        all_complete = all_complete && note.complete;
    }
    if (!has_records && all_complete)
        complain_of_nothing(set.all()[0]->window);
    return status;
}

uint64_t records_of(const RecordingSet& set) {
    uint64_t all = 0;
    for (const OpenRing* ring : set.rings())
        all += ring->ring->completeness().present;
    return all;
}

/// Passes on what is printed, and knows its digest.
class DigestingSink : public analyze::Sink {
public:
    explicit DigestingSink(analyze::Sink& to) : to_(to) {}
    void write(std::string_view text) override {
        digest_.write(text);
        to_.write(text);
    }
    void message(const analyze::Message& message) override { to_.message(message); }
    const analyze::OutputDigest& text() const { return digest_.text(); }

private:
    analyze::Sink& to_;
    analyze::DigestSink digest_;
};

/// Whether the replay should print what report does: it is the recorded program, as it was, over
/// all of a recording from BEGIN to END.
bool is_as_reported(const ReplayArguments& arguments, const RecordingSet& set) {
    const ProgramArguments& program = arguments.program;
    const OpenRecording& one = *set.all()[0];
    if (!program.source || !program.options.empty() || !program.bufsize.empty() ||
        program.destructive || arguments.where_possible || set.is_of_several() ||
        one.trace.recording.rings.size() != 1 || is_testing())
        return false;
    analyze::CompletenessNote note = analyze::completeness_of(one.trace.recording, one.window);
    bool is_part = one.window.is_set() || !arguments.window.cpus.empty() ||
                   analyze::cut_window_of(one.trace.recording).is_set();
    return !is_part && note.complete && note.until.empty() && note.end.empty();
}

/// What report prints of the recording; `options` are those of the replay.
analyze::OutputDigest reported(const ReplayArguments& arguments, const OpenRecording& one,
                               analyze::ReportOptions options) {
    analyze::DigestSink sink;
    Progress progress("daybreak: comparing with the report", ProgressUnit::records);
    const uint64_t all = one.trace.recording.records_present();
    options.output.quiet = arguments.program.quiet;
    options.output.flowindent = arguments.program.flowindent;
    options.progress = [&](uint64_t records) { progress.update(records, all); };
    options.interrupted = is_interrupted;
    analyze::render_report(one.trace.recording, options, sink);
    progress.clear();
    return sink.text();
}

/// Runs the compiled program, and says what was missing; `partial` is what to say of values that
/// were recorded now and then, if that matters.  Returns the exit status.
int run(const ReplayArguments& arguments, const RecordingSet& set,
        const analyze::ReplayedProbes& probes, const CompiledProgram& compiled, base::ByteView dof,
        const std::string& partial) {
    analyze::ReportOptions options;
    options.testing = is_testing();
    UserNamesOfAll users;
    std::vector<analyze::CommonPlaces::Source> sources;
    for (const auto& one : set.all()) {
        users.push_back(user_names_of(one->trace, set.places()));
        sources.push_back({&one->trace, users.back().get()});
    }
    analyze::CommonPlaces common(sources); // an address of one boot is nothing to the next
    options.symbols = set.is_of_several() ? &common.symbols() : &set.all()[0]->trace.symbols;
    options.users = set.is_of_several() ? &common.users() : users[0].get();
    options.user_style = arguments.user_style;
    OutputFile output;
    TerminalSink sink(
        {.drop_tags = arguments.program.has_option("droptags"), .details = !options.testing});
    if (arguments.program.destructive)
        options.hooks = outside_hooks(output, [&sink] { sink.flush(); });
    Progress progress("daybreak: replaying", ProgressUnit::records);
    CleanSink clean(sink, progress);
    DigestingSink digesting(clean);
    analyze::LiveReport report(options, digesting);
    analyze::ReplayOptions how;
    how.release = compiled.release;
    how.destructive = true; // the machine is the replay's
    how.places = set.is_of_several() ? &common : nullptr;
    install_interrupt();
    how.interrupted = [] { return interrupted.load(); };
    const uint64_t all = records_of(set);
    how.progress = [&](uint64_t records) { progress.update(records, all); };
    analyze::Replay replay(probes, how);
    auto done = replay.run(dof, report);
    progress.clear();
    sink.finish();
    if (!done.ok())
        return fail(done.error());
    bool is_empty =
        set.all()[0]->window.is_set() && !replay.has_fired() && asks_recorded(compiled.program);
    int advised = complain_of_gaps(set, is_empty || replay.records() != 0);
    if (is_empty) {
        complain("no probe of the program fired in that window; daybreak info has the first and "
                 "last time of each CPU");
        advised = std::max(advised, static_cast<int>(Exit::failed));
    }
    bool is_compared = is_as_reported(arguments, set) && !replay.was_interrupted();
    bool differs = is_compared && reported(arguments, *set.all()[0], options) != digesting.text();
    if (is_interrupted())
        is_compared = differs = false;
    if (differs) {
        complain("this is not what report prints: the recording has not all that the program's "
                 "clauses asked for when it ran");
        advised = std::max(advised, analyze::kStatusLosses);
    }
    if (differs || !is_compared) {
        complain_of_predicates(compiled.program, set, arguments.program.source.has_value());
        if (arguments.program.source && !partial.empty() && !is_testing())
            complain(partial);
    }
    if (!options.testing) {
        complain_of_faults(set);
        complain_of_unnamed(report.unnamed(), set.traces());
        complain_of_missing(users);
    }
    if (replay.has_timers_ended())
        complain(base::strprintf("timers fired %" PRIu64
                                 " times, and no more: the recording is too "
                                 "long for them",
                                 how.timer_firings_max));
    if (replay.was_interrupted())
        complain("interrupted after " + base::counted(replay.records(), "record") + " of " +
                 std::to_string(all));
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    int status = replay.exit_status().value_or(0);
    if ((replay.drops() != 0 || replay.was_interrupted()) && status == 0)
        return analyze::kStatusLosses;
    return status != 0 ? status : advised;
}

/// Compiles the program against the recordings, and runs it.
int compile_and_run(const ReplayArguments& arguments, const RecordingSet& set,
                    const std::string& alignment) {
    analyze::ReplayedProbes probes(set.replayed());
    RecordedTable state(probes);
    if (!arguments.partial.empty())
        state.place_processes();
    KnownProbes known;
    known.exist = [&](const compiler::ProbeDescription& description) {
        return !state.matches(description).empty();
    };
    known.hint = [&](const compiler::ProbeDescription& description) {
        return hint_for(description, set);
    };
    known.recorded = &state;
    known.where_possible = arguments.where_possible;
    known.names_machines = arguments.names_machines;
    know_target(known, set.replayed(), !arguments.partial.empty());
    auto compiled = compile_program(arguments.program, known);
    if (!compiled)
        return static_cast<int>(Exit::failed);
    if (state.has_too_many_sets())
        return fail(errorf(base::ErrorCode::unsupported,
                           "probe descriptions ask for more than %u sets of machines",
                           analyze::CaptureSlots::kMachineSetsMax));
    if (auto once = check_recorded_once(compiled->program, state, set.replayed()); !once.ok())
        return fail(once.error());
    // The recorded program has the options of its command line, too.
    std::vector<formats::DofOption> given;
    if (arguments.program.source)
        given = set.rings()[0]->program->options();
    if (auto checked = check_destructive(compiled->program);
        !arguments.program.source && !checked.ok())
        return fail(checked.error());
    std::string partial;
    if (!state.partial().empty())
        partial = "recorded at some firings only, and clauses run for these: " +
                  base::some_of(state.partial());
    if (!partial.empty() && !arguments.program.source && !is_testing())
        complain(partial);
    auto dof = replayed_dof(*compiled, given);
    if (!dof.ok())
        return fail(dof.error());
    if (!arguments.partial.empty() && !state.of_ends().empty())
        return fail(errorf(base::ErrorCode::unsupported,
                           "BEGIN or END uses %s of the recording: of many parts none is the one "
                           "that is meant",
                           base::some_of(state.of_ends()).c_str()));
    if (!arguments.partial.empty()) {
        complain_of_predicates(compiled->program, set, arguments.program.source.has_value());
        return replay_partial({*set.all()[0], probes, *compiled, arguments.partial, set.places()});
    }
    if (!alignment.empty() && !is_testing())
        complain(alignment);
    return run(arguments, set, probes, *compiled, *dof, partial);
}

int replay(ReplayArguments arguments) {
    if (!arguments.partial.empty() && !arguments.window.cpus.empty())
        return misuse("replay", "--partial is of all CPUs: leave out --cpu");
    if (!arguments.partial.empty() && arguments.where_possible)
        return misuse("replay", "--partial is of the whole program: leave out --where-possible");
    if (auto checked = check_window_options(arguments.window); !checked.ok())
        return fail_window("replay", checked.error());
    TraceFiles files = arguments.files;
    files.options.skim = arguments.window.may_skim();
    auto set = RecordingSet::open(files);
    if (!set.ok())
        return fail(set.error());
    if (auto taken = (*set)->take_symbols(arguments.symbols); !taken.ok())
        return fail(taken.error());
    if (auto cut = (*set)->cut(arguments.window); !cut.ok())
        return fail_window("replay", cut.error());
    if (auto prepared = (*set)->prepare(); !prepared.ok())
        return fail(prepared.error());
    if (!arguments.partial.empty() && (*set)->is_of_several())
        return fail(errorf(base::ErrorCode::unsupported,
                           "--partial takes one boot of one machine: write a file for each, and "
                           "merge them"));
    if (!arguments.partial.empty() && (*set)->rings().size() > 1)
        return fail(
            errorf(base::ErrorCode::unsupported, "--partial takes one ring: name it with --ring"));
    if (!arguments.partial.empty()) {
        OpenRecording& one = *(*set)->all()[0];
        one.window = analyze::window_of_part(one.trace.recording, one.window);
    }
    if (!arguments.align.empty() && !(*set)->is_of_several())
        complain("--align does nothing: there is one recording");
    auto note = (*set)->align(arguments.align);
    if (!note.ok())
        return fail_window("replay", note.error());
    if (arguments.program.script.empty() && arguments.program.text.empty()) {
        auto source = stored_source(**set);
        if (!source.ok())
            return fail(source.error());
        arguments.program.source = std::move(*source);
    }
    return compile_and_run(arguments, **set, *note);
}

} // namespace

void add_replay(Command app, int& status) {
    auto arguments = std::make_shared<ReplayArguments>();
    Command command =
        app.add_subcommand("replay", "Run a D program over recordings, as if it had been there");
    add_program_text_options(command, arguments->program);
    command.add_flag("-E", arguments->names_machines,
                     "Probe descriptions may begin with a machine's name: "
                     "'web-*:syscall::openat:entry'");
    add_recordings(command, arguments->files);
    add_window_options(command, arguments->window);
    command
        .add_option("--align", arguments->align,
                    "Several recordings: take the first record of this probe in each as one moment "
                    "(default: their wall clocks)")
        .type_name("PROBE");
    add_symbols_options(command, arguments->symbols);
    add_user_style_options(command, arguments->user_style);
    command.add_flag("--where-possible", arguments->where_possible,
                     "Leave out clauses that ask what was not recorded, and say which");
    command
        .add_option("--partial", arguments->partial,
                    "Write what was aggregated there, for daybreak merge; print nothing")
        .type_name("STATES");
    command.footer("\nWithout -s and -n the program that was recorded with runs again.\n"
                   "Example: which programs opened files during a boot whose opens were recorded?\n"
                   "  daybreak replay boot.dbrk \\\n"
                   "    -n 'syscall::openat:entry { @[execname] = count(); }'\n"
                   "Example: the same of all machines, each by its name\n"
                   "  daybreak replay *.dbrk \\\n"
                   "    -n 'syscall::openat:entry { @[vmname, execname] = count(); }'");
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
