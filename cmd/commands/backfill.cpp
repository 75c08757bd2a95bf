// SPDX-License-Identifier: Apache-2.0
//
// daybreak backfill: a D program over what the kernel kept of its start, before the module came.
#include "analyze/report.hpp"
#include "cmd/backfill/kernel_start.hpp"
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
    {Kind::level, "initcall-level", 1},          {Kind::initcall_start, "initcall-start", 1},
    {Kind::initcall_done, "initcall-done", 3},   {Kind::message, "kernel-message", 2},
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
    sim::SimThread thread{.pid = static_cast<uint32_t>(event.tid), .tid = static_cast<uint32_t>(event.tid),
                          .ppid = 0, .key = static_cast<uint64_t>(event.tid) + 1};
    thread.set_execname(event.task);
    host.set_thread(thread);
    host.set_cpu(event.cpu);
    host.clock().advance_to(event.mono_ns);
    host.kernel_memory().map_string(kTextAddress, event.text);
    bool is_message = event.kind == Kind::message;
    simulation.fire(probe, std::array<uint64_t, 3>{
                               kTextAddress, is_message ? event.log_level : event.took_ns,
                               static_cast<uint64_t>(event.error)});
}

/// From BEGIN to END.
Result<void> run_over(const KernelStart& start, sim::SimHost& host, sim::Simulation& simulation,
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

int print(const CompiledProgram& compiled, const sim::Simulation& simulation) {
    formats::Recording recording = simulation.recording();
    analyze::ReportOptions options;
    OutputFile output;
    TerminalSink sink({});
    options.hooks = outside_hooks(output, [&sink] { sink.flush(); });
    static_cast<void>(compiled);
    analyze::Report report = analyze::render_report(recording, options, sink);
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    return report.exit_status.value_or(0);
}

int run(BackfillArguments& arguments) {
    if (arguments.program.script.empty() && arguments.program.text.empty()) {
        auto standard = own_file("../share/daybreak/before.d", "../packaging/before.d");
        if (!standard.ok())
            return fail(standard.error());
        arguments.program.script = *standard;
    }
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

    formats::TraceHeader header = recorder::read_host_facts(DAYBREAK_VERSION);
    header.origin = formats::TraceOrigin::backfill;
    sim::SimHostConfig config;
    for (const StartEvent& event : start->events)
        config.cpu_count = std::max(config.cpu_count, event.cpu + 1);
    config.start_mono_ns = std::max<uint64_t>(start->events.front().mono_ns, 1);
    config.start_wall_ns = header.clocks.wall_ns - header.clocks.boot_ns + config.start_mono_ns;
    config.kernel = false;
    config.still_clock = true;
    config.boot_uuid = header.boot_uuid;
    auto host = sim::SimHost::create(config);
    if (!host.ok())
        return fail(host.error());
    std::vector<sim::SimProbe*> probes(std::size(kProbes));
    for (const StartProbe& known : kProbes) {
        auto probe = (*host)->add_probe({"boot", "", "", known.name}, known.arg_count);
        if (!probe.ok())
            return fail(probe.error());
        probes[static_cast<size_t>(known.kind)] = *probe;
    }
    sim::SimulationOptions options;
    options.name = "before";
    options.ring_id = kRingId;
    options.release = compiled->release.empty() ? header.release : compiled->release;
    auto simulation = sim::Simulation::load(**host, compiled->dof, options);
    if (!simulation.ok())
        return fail(simulation.error());
    if (auto done = run_over(*start, **host, **simulation, probes); !done.ok())
        return fail(done.error());
    for (const std::string& loss : start->losses)
        complain(loss);
    int status = 0;
    if (file) {
        auto written = (*simulation)->write_trace_file(*file, header);
        if (!written.ok())
            return fail(written.error());
    } else {
        status = print(*compiled, **simulation);
    }
    if (arguments.release)
        if (auto released = release_kernel_start(arguments.source); !released.ok())
            return fail(released.error());
    return status != 0 || start->losses.empty() ? status : static_cast<int>(Exit::losses);
}

} // namespace

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
    command->footer("\nThe kernel has to be booted with trace_event=initcall:* trace_clock=x86-tsc.\n"
                    "Example: which initcalls took longer than 10 ms?\n"
                    "  daybreak backfill -qn 'boot:::initcall-done /args[1] > 10000000/\n"
                    "      { printf(\"%s %d us\\n\", args[0], args[1] / 1000); }'");
    command->callback([arguments, &status] { status = run(*arguments); });
}

} // namespace daybreak::cmd
