// SPDX-License-Identifier: Apache-2.0
//
// daybreak backfill: a D program over what the kernel kept of its start, before the module came.
#include "cmd/commands/backfill.hpp"
#include "analyze/report.hpp"
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

#include <memory>

namespace daybreak::cmd {

namespace {

using base::Result;
using Kind = StartEvent::Kind;

/// Above the numbers that the module gives its rings.
constexpr uint16_t kRingId = 0xffff;
constexpr const char* kStandardName = "before";
/// Where an event's text lies for the program.
constexpr uint64_t kTextAddress = 0xffff888000100000;

struct BackfillArguments {
    ProgramArguments program;
    StartSource source;
    std::string output_path;
    bool replace = false, release = false;
};

struct StartProbe {
    Kind kind;
    const char* name;
    uint8_t arg_count;
};

constexpr StartProbe kProbes[] = {
    {Kind::level, "initcall-level", 1},        {Kind::initcall_start, "initcall-start", 1},
    {Kind::initcall_done, "initcall-done", 3}, {Kind::message, "kernel-message", 2},
    {Kind::module_loaded, "module-loaded", 0},
};

std::vector<sim::SimProbeName> probe_names() {
    std::vector<sim::SimProbeName> names;
    for (const StartProbe& probe : kProbes)
        names.push_back({"boot", "", "", probe.name});
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
    return compile_program(program, {exists, similar});
}

void fire(sim::Simulation& simulation, sim::SimProbe& probe, const StartEvent& event) {
    sim::SimHost& host = simulation.host();
    sim::SimThread thread{.pid = static_cast<uint32_t>(event.tid),
                          .tid = static_cast<uint32_t>(event.tid),
                          .ppid = 0,
                          .key = static_cast<uint64_t>(event.tid) + 1};
    thread.set_execname(event.task);
    host.set_thread(thread);
    host.set_cpu(event.cpu);
    host.clock().advance_to(event.mono_ns);
    host.kernel_memory().map_string(kTextAddress, event.text);
    bool is_message = event.kind == Kind::message;
    simulation.fire(probe, std::array<uint64_t, 3>{kTextAddress,
                                                   is_message ? event.log_level : event.took_ns,
                                                   static_cast<uint64_t>(event.error)});
}

/// From BEGIN to END.
Result<void> fire_all(const KernelStart& start, sim::SimHost& host, sim::Simulation& simulation,
                      const std::vector<sim::SimProbe*>& probes) {
    DBK_TRY_VOID(simulation.start());
    for (const StartEvent& event : start.events) {
        if (simulation.exit_called())
            break;
        fire(simulation, *probes[static_cast<size_t>(event.kind)], event);
    }
    host.set_cpu(0);
    simulation.finish();
    return {};
}

int print(const sim::Simulation& simulation) {
    formats::Recording recording = simulation.recording();
    analyze::ReportOptions options;
    OutputFile output;
    TerminalSink sink({});
    options.hooks = outside_hooks(output, [&sink] { sink.flush(); });
    analyze::Report report = analyze::render_report(recording, options, sink);
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    return report.exit_status.value_or(0);
}

/// A program that ran over the kernel's start.
struct FinishedRun {
    formats::TraceHeader header;
    std::unique_ptr<sim::SimHost> host;
    std::unique_ptr<sim::Simulation> simulation;
};

Result<FinishedRun> run_over(const KernelStart& start, const CompiledProgram& compiled) {
    FinishedRun made;
    made.header = recorder::read_host_facts(DAYBREAK_VERSION);
    made.header.origin = formats::TraceOrigin::backfill;
    sim::SimHostConfig config;
    for (const StartEvent& event : start.events)
        config.cpu_count = std::max(config.cpu_count, event.cpu + 1);
    config.start_mono_ns = std::max<uint64_t>(start.events.front().mono_ns, 1);
    config.start_wall_ns =
        made.header.clocks.wall_ns - made.header.clocks.boot_ns + config.start_mono_ns;
    config.kernel = false;
    config.still_clock = true;
    config.boot_uuid = made.header.boot_uuid;
    DBK_TRY(made.host, sim::SimHost::create(config));
    std::vector<sim::SimProbe*> probes(std::size(kProbes));
    for (const StartProbe& known : kProbes) {
        DBK_TRY(sim::SimProbe * probe,
                made.host->add_probe({"boot", "", "", known.name}, known.arg_count));
        probes[static_cast<size_t>(known.kind)] = probe;
    }
    sim::SimulationOptions options;
    options.name = kStandardName;
    options.ring_id = kRingId;
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

int run(BackfillArguments& arguments) {
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
    auto start = read_kernel_start(arguments.source);
    if (!start.ok())
        return fail(start.error());
    auto made = run_over(*start, *compiled);
    if (!made.ok())
        return fail(made.error());
    for (const std::string& loss : start->losses)
        complain(loss);
    int status = 0;
    if (file) {
        auto written = made->simulation->write_trace_file(*file, made->header);
        if (!written.ok())
            return fail(written.error());
    } else {
        status = print(*made->simulation);
    }
    if (arguments.release)
        if (auto released = release_kernel_start(arguments.source); !released.ok())
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
    DBK_TRY(KernelStart start, read_kernel_start(source));
    DBK_TRY(FinishedRun made, run_over(start, *compiled));
    std::string path = base::free_path(folder + "/" + kStandardName, ".dbrk");
    DBK_TRY(base::OutputFile file, formats::create_trace_file(path, false));
    DBK_TRY_VOID(made.simulation->write_trace_file(file, made.header));
    DBK_TRY_VOID(release_kernel_start(source));
    return BackfilledFile{path, std::move(start.losses)};
}

void add_backfill(CLI::App& app, int& status) {
    auto arguments = std::make_shared<BackfillArguments>();
    CLI::App* command = app.add_subcommand(
        "backfill", "Run a D program over the boot before the module: initcalls, messages");
    add_program_options(*command, arguments->program);
    command->add_option("-o,--output", arguments->output_path,
                        "Write a trace file (.dbrk) of this boot, and print nothing");
    command->add_flag("--replace", arguments->replace, kReplaceHelp)->needs("--output");
    command->add_flag("--release", arguments->release,
                      "Then end the kernel's events, and give ftrace back as it was");
    command->add_option("--tracefs", arguments->source.tracefs,
                        "Where tracefs is mounted (/sys/kernel/tracing)");
    command->footer("\nThe kernel has to be booted with trace_event=initcall trace_clock=x86-tsc.\n"
                    "Example: which initcalls took longer than 10 ms?\n"
                    "  daybreak backfill -qn 'boot:::initcall-done /args[1] > 10000000/\n"
                    "      { printf(\"%s %d us\\n\", args[0], args[1] / 1000); }'");
    command->callback([arguments, &status] { status = run(*arguments); });
}

} // namespace daybreak::cmd
