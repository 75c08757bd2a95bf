// SPDX-License-Identifier: Apache-2.0
//
// daybreak backfill: a D program over what the kernel kept of its start, before the module came.
#include "cmd/commands/backfill.hpp"
#include "analyze/report.hpp"
#include "base/crc32c.hpp"
#include "cmd/commands.hpp"
#include "cmd/outside.hpp"
#include "cmd/possible_probes.hpp"
#include "cmd/program.hpp"
#include "cmd/recording_summary.hpp"
#include "cmd/this_process.hpp"
#include "cmd/trace_sink.hpp"
#include "daybreak_version.hpp"
#include "engine/sim/simulation.hpp"
#include "recorder/host.hpp"

#include <cinttypes>
#include <memory>

namespace daybreak::cmd {

namespace {

using base::Result;
using Kind = StartEvent::Kind;

/// Above the numbers that the module gives its rings.  All programs begin at the same time: only by
/// the number are the rings of two not the same.
constexpr uint16_t kFirstRingId = 0xf000;
constexpr const char* kStandardName = "before";
/// Where an event's text, and the phase, lie for the program.
constexpr uint64_t kTextAddress = 0xffff888000100000, kPhaseAddress = 0xffff888000200000;
/// In place of the one of a machine whose memory can be asked; "" in BEGIN and END.
std::string phase_library() {
    return base::strprintf("inline string bootphase = stringof((char *)%#" PRIx64 ");\n",
                           kPhaseAddress);
}
/// The first program, which loads the module before anything else runs.
constexpr std::string_view kEarlyInit = "Run /daybreak/early-init as init process";

struct BackfillArguments {
    ProgramArguments program;
    StartSource source;
    std::string output_path;
    bool replace = false, release = false;
};

std::vector<sim::SimProbeName> probe_names() {
    std::vector<sim::SimProbeName> names;
    for (const char* name : kBackfillProbes)
        names.push_back({"boot", "", "", name});
    return names;
}

std::optional<CompiledProgram> compile(const ProgramArguments& program) {
    static const std::vector<sim::SimProbeName> names = probe_names();
    auto exists = [](const compiler::ProbeDescription& description) {
        return sim::probe_can_exist({description.provider.c_str(), description.module.c_str(),
                                     description.function.c_str(), description.name.c_str(), 0},
                                    names);
    };
    auto similar = [](const compiler::ProbeDescription& description) {
        std::vector<ProbeParts> probes;
        for (const sim::SimProbeName& name : names)
            probes.push_back({name.provider, name.module, name.function, name.name});
        return nearest_probe(description, probes);
    };
    auto hint = [similar](const compiler::ProbeDescription& description) {
        if (!similar(description).empty())
            return std::string();
        std::string text = "daybreak backfill has dtrace:::BEGIN, END, ERROR";
        for (const char* name : kBackfillProbes)
            text += std::string(", boot:::") + name;
        return text;
    };
    KnownProbes known{exists, similar, hint};
    known.library = phase_library();
    return compile_program(program, known);
}

/// How far the boot is after an event.  What runs between the first process and the module is known
/// only where that process loads it.
const char* phase_after(const StartEvent& event, const char* phase) {
    if (event.kind != Kind::message || !event.text.starts_with("Run /"))
        return phase;
    return event.text == kEarlyInit ? "initrd" : "";
}

void fire(sim::Simulation& simulation, sim::SimProbe& probe, const StartEvent& event,
          const char* phase) {
    sim::BareHost& host = simulation.host();
    sim::SimThread thread{.pid = static_cast<uint32_t>(event.tid),
                          .tid = static_cast<uint32_t>(event.tid),
                          .ppid = 0,
                          .key = static_cast<uint64_t>(event.tid) + 1};
    thread.set_execname(event.task);
    host.set_thread(thread);
    host.set_cpu(event.cpu);
    // Later than all before: of equal times a report prints the lower CPU first.
    host.clock().advance_to(std::max(event.mono_ns, host.clock().now_mono_ns() + 1));
    host.kernel_memory().map_string(kTextAddress, event.text);
    host.kernel_memory().map_string(kPhaseAddress, phase);
    std::array<uint64_t, DBK_PROBE_ARGS_MAX> args{};
    args[0] = event.kind == Kind::loader_done ? event.took_ns : kTextAddress;
    args[1] = event.kind == Kind::message ? event.log_level : event.took_ns;
    args[2] = static_cast<uint64_t>(event.error);
    simulation.fire(probe, args);
    simulation.drain();
}

/// From BEGIN to END.
Result<void> fire_all(const KernelStart& start, sim::BareHost& host, sim::Simulation& simulation,
                      const std::vector<sim::SimProbe*>& probes) {
    host.kernel_memory().map_string(kPhaseAddress, "");
    DBK_TRY_VOID(simulation.start());
    for (const StartLoss& loss : start.losses)
        for (const auto& [kind, count] : loss.missed)
            host.miss(*probes[static_cast<size_t>(kind)],
                      static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX)));
    const char* phase = "kernel";
    for (const StartEvent& event : start.events) {
        if (simulation.exit_called())
            break;
        fire(simulation, *probes[static_cast<size_t>(event.kind)], event,
             event.kind == Kind::loader_done ? "loader" : phase);
        phase = phase_after(event, phase);
    }
    host.clock().advance(1);
    host.set_cpu(0);
    host.kernel_memory().map_string(kPhaseAddress, "");
    simulation.finish();
    return {};
}

/// Returns the exit status; empty when not all of it could be written.
std::optional<int> print(const formats::Recording& recording) {
    analyze::ReportOptions options;
    OutputFile output;
    TerminalSink sink({});
    options.hooks = outside_hooks(output, [&sink] { sink.flush(); });
    analyze::Report report = analyze::render_report(recording, options, sink);
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return std::nullopt;
    if (!report.completeness.complete)
        complain(report.completeness.verdict());
    return report.status();
}

/// A program that ran over the kernel's start.
struct FinishedRun {
    formats::TraceHeader header;
    std::unique_ptr<sim::BareHost> host;
    std::unique_ptr<sim::Simulation> simulation;
};

Result<FinishedRun> run_over(const KernelStart& start, const CompiledProgram& compiled) {
    FinishedRun made;
    made.header = recorder::read_host_facts(DAYBREAK_VERSION);
    made.header.origin = formats::TraceOrigin::backfill;
    sim::BareHostConfig config;
    for (const StartEvent& event : start.events)
        config.cpu_count = std::max(config.cpu_count, event.cpu + 1);
    config.start_mono_ns = std::max<uint64_t>(start.events.front().mono_ns, 2) - 1;
    config.start_wall_ns =
        made.header.clocks.wall_ns - made.header.clocks.boot_ns + config.start_mono_ns;
    config.still_clock = true;
    config.boot_uuid = made.header.boot_uuid;
    DBK_TRY(made.host, sim::BareHost::create(config));
    std::vector<sim::SimProbe*> probes; // by Kind
    for (const char* name : kBackfillProbes) {
        DBK_TRY(sim::SimProbe * probe,
                made.host->add_probe({"boot", "", "", name}, DBK_PROBE_ARGS_MAX));
        probes.push_back(probe);
    }
    sim::SimulationOptions options;
    options.name = kStandardName;
    options.ring_id = static_cast<uint16_t>(kFirstRingId + base::crc32c(compiled.dof) %
                                                               (UINT16_MAX - kFirstRingId));
    options.release = compiled.release.empty() ? made.header.release : compiled.release;
    DBK_TRY(made.simulation, sim::Simulation::load(*made.host, compiled.dof, options));
    DBK_TRY_VOID(fire_all(start, *made.host, *made.simulation, probes));
    return made;
}

/// Takes the standard program when none is named.  Error: not_found.
Result<void> complete(ProgramArguments& program) {
    if (!program.script.empty() || !program.text.empty())
        return {};
    DBK_TRY(program.script, own_file("../share/daybreak/before.d", "../packaging/before.d"));
    return {};
}

/// Whether all that the program recorded is here: what the kernel did not have is not the ring's
/// loss.
bool is_whole(const formats::Recording& recording) {
    uint64_t unmissed = 0;
    for (const formats::RingRecording& ring : recording.rings) {
        formats::Completeness sum = ring.completeness();
        unmissed += sum.drops_total() - sum.drops[DBK_DROP_MISSED] + sum.lost + sum.overwritten;
    }
    return unmissed == 0;
}

Result<void> release(const StartSource& source, const formats::Recording& recording) {
    if (!is_whole(recording))
        return base::errorf(base::ErrorCode::limit,
                            "the kernel's events are kept: not all of them had room in the "
                            "program's buffers");
    DBK_TRY(std::string left, release_kernel_start(source));
    if (!left.empty())
        complain(left);
    return {};
}

int run(BackfillArguments& arguments) {
    if (!arguments.program.arguments.empty() && arguments.program.script.empty() &&
        arguments.program.text.empty())
        return misuse("backfill", arguments.program.arguments.front() +
                                      " is $1 of no program: -s " +
                                      arguments.program.arguments.front());
    if (auto known = complete(arguments.program); !known.ok())
        return fail(known.error());
    auto compiled = compile(arguments.program);
    if (!compiled)
        return static_cast<int>(Exit::failed);
    if (auto allowed = check_destructive(compiled->program); !allowed.ok())
        return fail(allowed.error());
    std::optional<base::OutputFile> file;
    if (!arguments.output_path.empty()) {
        auto created = formats::create_trace_file(arguments.output_path, arguments.replace);
        if (!created.ok())
            return fail(created.error());
        file.emplace(std::move(*created));
    }
    StartClocks clocks;
    auto start = read_kernel_start(arguments.source, clocks);
    if (!start.ok())
        return fail(start.error());
    auto made = run_over(*start, *compiled);
    if (!made.ok())
        return fail(made.error());
    for (const std::string& note : start->notes)
        complain(note);
    for (const StartLoss& loss : start->losses)
        complain(loss.text);
    formats::Recording recording = made->simulation->recording();
    int status = 0;
    if (file) {
        analyze::CompletenessNote note = analyze::completeness_of(recording);
        auto written = made->simulation->write_trace_file(*file, made->header);
        if (!written.ok())
            return fail(written.error());
        complain(arguments.output_path + ": " + note.verdict());
        status = note.advised_status();
    } else {
        auto printed = print(recording);
        if (!printed)
            return static_cast<int>(Exit::failed); // and nothing is released
        status = *printed;
    }
    if (arguments.release)
        if (auto released = release(arguments.source, recording); !released.ok())
            return fail(released.error());
    return status != 0 || start->losses.empty() ? status : static_cast<int>(Exit::losses);
}

} // namespace

Result<BackfilledFile> backfill_into(const std::string& folder, const StartSource& source) {
    ProgramArguments program;
    DBK_TRY_VOID(complete(program));
    auto compiled = compile(program);
    if (!compiled)
        return base::errorf(base::ErrorCode::invalid, "%s does not compile",
                            program.script.c_str());
    StartClocks clocks;
    DBK_TRY(KernelStart start, read_kernel_start(source, clocks));
    DBK_TRY(FinishedRun made, run_over(start, *compiled));
    std::string path = base::free_path(folder + "/" + kStandardName, ".dbrk");
    DBK_TRY(base::OutputFile file, formats::create_trace_file(path, false));
    DBK_TRY_VOID(made.simulation->write_trace_file(file, made.header));
    BackfilledFile result{path, {}};
    for (const StartLoss& loss : start.losses)
        result.losses.push_back(loss.text);
    if (auto released = release(source, made.simulation->recording()); !released.ok())
        result.losses.push_back(released.error().message());
    return result;
}

void add_backfill(Command app, int& status) {
    auto arguments = std::make_shared<BackfillArguments>();
    Command command = app.add_subcommand(
        "backfill", "Run a D program over the boot before the module: initcalls, messages");
    add_program_options(command, arguments->program);
    command.add_option(
        "-o,--output", arguments->output_path,
        "Write a trace file (.dbrk) of this boot instead, and say how complete it is");
    command.add_flag("--replace", arguments->replace, kReplaceHelp).needs("--output");
    command.add_flag("--release", arguments->release,
                     "Then end the kernel's events, and give ftrace back as it was");
    command.add_option("--tracefs", arguments->source.tracefs,
                       "Where tracefs is mounted (/sys/kernel/tracing)");
    command.footer("\nIt needs root, and a kernel booted with\n"
                   "trace_event=initcall trace_clock=x86-tsc.\n"
                   "Example: which initcalls took longer than 10 ms?\n"
                   "  daybreak backfill -qn 'boot:::initcall-done /args[1] > 10000000/\n"
                   "      { printf(\"%s %d us\\n\", args[0], args[1] / 1000); }'");
    command.callback([arguments, &status] { status = run(*arguments); });
}

} // namespace daybreak::cmd
