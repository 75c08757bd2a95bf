// SPDX-License-Identifier: Apache-2.0
//
// daybreak sim: run a D program on the simulated host and print what dtrace(1) would.
#include "analyze/completeness.hpp"
#include "analyze/report.hpp"
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/dof_files.hpp"
#include "cmd/dtrace/stability.hpp"
#include "cmd/image_probes.hpp"
#include "cmd/native.hpp"
#include "cmd/outside.hpp"
#include "cmd/possible_probes.hpp"
#include "cmd/program.hpp"
#include "cmd/recording_summary.hpp"
#include "cmd/this_process.hpp"
#include "cmd/trace_sink.hpp"
#include "daybreak_version.hpp"
#include "engine/sim/sim_host.hpp"
#include "engine/sim/sim_kernel.hpp"
#include "engine/sim/simulation.hpp"
#include "formats/dof/dialect.hpp"
#include "formats/dof/dof_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <functional>
#include <memory>
#include <random>

namespace daybreak::cmd {

namespace {

struct SimArguments {
    ProgramArguments program;
    std::vector<std::string> dof_paths; ///< instead of the program
    std::string dialect = "oracle";
    std::string output_path;
    std::string host = "simulated"; ///< the machine's name
    bool replace = false, rows = false;
    std::string time, injection, privileges;
    std::optional<uint64_t> seed, target; ///< target: $target
    uint64_t cpu_count = 1, ring = 1;
    bool compile_only = false;
    bool verbose = false; ///< -v
    bool native = false;
};

/// What the arguments say beyond the program.
struct SimSetting {
    sim::BareHostConfig host;
    sim::SimFaults faults;
    sim::SimulationOptions run;
};

/// "nested=3": every third firing.  False when it is not an injection.
bool parse_injection(std::string_view text, sim::SimFaults& faults) {
    size_t equals = text.find('=');
    if (equals == std::string_view::npos)
        return false;
    std::string_view what = text.substr(0, equals), digits = text.substr(equals + 1);
    uint64_t count = 0;
    auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() || count == 0)
        return false;
    if (what == "nested")
        faults.nest_every = count;
    else if (what == "load")
        faults.load_every = count;
    else if (what == "slow")
        faults.load_ms = count;
    else if (what == "alloc")
        faults.alloc_at = count;
    else if (what == "missed")
        faults.miss_every = count;
    else if (what == "stack")
        faults.stack_every = count;
    else
        return false;
    return true;
}

/// "proc,kernel": everything else is lacking.  False when it is not a list of privileges.
bool parse_privileges(std::string_view text, uint32_t& lacks) {
    lacks = DBK_LACKS_KERNEL | DBK_LACKS_PROC;
    while (!text.empty()) {
        std::string_view name = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), name.size() + 1));
        if (name == "kernel")
            lacks &= ~DBK_LACKS_KERNEL;
        else if (name == "proc")
            lacks &= ~DBK_LACKS_PROC;
        else if (name != "user")
            return false;
    }
    return true;
}

/// Returns what is wrong with the arguments; empty when nothing is.
std::optional<std::string> check(const SimArguments& arguments, SimSetting& setting) {
    if (!formats::dof_dialect_named(arguments.dialect))
        return "--dialect " + arguments.dialect +
               ": expected oracle, illumos, freebsd or opendtrace";
    if (arguments.dof_paths.empty())
        if (auto wrong = program_usage_error(arguments.program, "sim"))
            return wrong;
    if (arguments.cpu_count < 1 || arguments.cpu_count > DBK_CPUS_MAX)
        return base::strprintf("--cpus %" PRIu64 ": expected 1 to %u", arguments.cpu_count,
                               DBK_CPUS_MAX);
    if (!arguments.time.empty()) {
        auto limit_ns = sim::parse_duration_ns(arguments.time);
        if (!limit_ns)
            return "--time " + arguments.time + ": expected a time as 35ms, 10s or 2min";
        setting.run.time_limit_ns = *limit_ns;
    }
    if (arguments.target.value_or(1) - 1 >= INT32_MAX)
        return base::strprintf("--target %" PRIu64 ": expected a process ID", *arguments.target);
    if (arguments.ring < 1 || arguments.ring >= UINT16_MAX)
        return base::strprintf("--ring %" PRIu64 ": expected 1 to %u", arguments.ring,
                               UINT16_MAX - 1);
    if (!arguments.injection.empty() && !parse_injection(arguments.injection, setting.faults))
        return "--inject " + arguments.injection +
               ": expected nested=N, load=N, slow=N, alloc=N, missed=N or stack=N";
    if (!arguments.privileges.empty() && !parse_privileges(arguments.privileges, setting.run.lacks))
        return "--privileges " + arguments.privileges +
               ": expected user, proc and kernel, separated by commas";
    setting.host.cpu_count = static_cast<uint32_t>(arguments.cpu_count);
    setting.host.seed = arguments.seed.value_or(1);
    setting.run.ring_id = static_cast<uint16_t>(arguments.ring);
    if (arguments.ring != 1)
        setting.run.name += base::strprintf("-%" PRIu64, arguments.ring);
    return std::nullopt;
}

bool is_simulated(const compiler::ProbeDescription& description) {
    if (description.id)
        return *description.id >= 1 && *description.id <= 3; // BEGIN, END, ERROR
    return sim::probe_can_exist({description.provider.c_str(), description.module.c_str(),
                                 description.function.c_str(), description.name.c_str(), 0});
}

/// Compiles a program of any kernel's probes: those that are not simulated are counted in
/// *silent_ret, and fire nothing.  A suite of DTrace expects them to be refused.
std::optional<CompiledProgram> compile_for_sim(const SimArguments& arguments, size_t* silent_ret) {
    auto exists = [&](const compiler::ProbeDescription& description) {
        if (is_simulated(description))
            return true;
        bool silent = !is_testing() && !description.id && probe_is_possible(description);
        *silent_ret += silent;
        return silent;
    };
    KnownProbes known{exists, similar_possible_probe};
    if (arguments.target)
        known.target = static_cast<uint32_t>(*arguments.target);
    return compile_program(arguments.program, known);
}

formats::TraceHeader trace_header(const SimArguments& arguments, const SimSetting& setting,
                                  const sim::BareHost& host) {
    formats::TraceHeader header;
    header.boot_uuid = host.boot_uuid();
    header.tool_version = DAYBREAK_VERSION;
    header.origin = formats::TraceOrigin::simulator;
    header.hostname = arguments.host;
    header.release = setting.run.release;
    header.version = "daybreak sim";
    header.machine = "x86_64";
    header.cpus_online = setting.host.cpu_count;
    header.modules = {{"vmlinux", 0, 0, sim::kernel_build_id()}};
    if (!arguments.program.script.empty())
        header.d_files.push_back(arguments.program.script);
    return header;
}

/// Prints the recording.  Returns the exit status of the command.
int print(const SimArguments& arguments, sim::Simulation& simulation) {
    formats::Recording recording = simulation.recording();
    formats::SymbolTable symbols = sim::kernel_symbols();
    analyze::ReportOptions options;
    options.testing = is_testing();
    options.output.field_width_max = analyze::kOwnFieldWidthMax;
    options.symbols = &symbols;
    OutputFile output;
    TerminalSink sink({.drop_tags = arguments.program.has_option("droptags"), .details = false});
    // The user runs this program now, and has said that it is destructive.
    options.hooks = outside_hooks(output, [&sink] { sink.flush(); });
    analyze::Report report = analyze::render_report(recording, options, sink);
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    return report.exit_status.value_or(0);
}

/// "2m", "96 bytes": the largest unit whose power of 1024 the size reaches, when it divides it.
std::string size_text(uint64_t bytes) {
    unsigned unit = 0;
    while (unit < 6 && bytes >> (10 * (unit + 1)) != 0)
        unit++;
    if (unit == 0 || (bytes & ((uint64_t{1} << (10 * unit)) - 1)) != 0)
        return base::strprintf("%" PRIu64 " bytes", bytes);
    return base::strprintf("%" PRIu64 "%c", bytes >> (10 * unit), " kmgtpe"[unit]);
}

/// -x quietresize, which suites run with.
bool quiet_about_sizes(const CompiledProgram& compiled) {
    for (const formats::DofOption& option : compiled.program.options)
        if (option.option == DTRACEOPT_QUIETRESIZE)
            return compiled.option(DTRACEOPT_QUIETRESIZE).has_value();
    return is_testing();
}

void tell_lowered(const sim::Simulation& simulation) {
    for (const auto& [name, bytes] : simulation.lowered())
        complain(name + " lowered to " + size_text(bytes));
}

/// The images of --dof as one program of Daybreak's.
base::Result<CompiledProgram> read_program(const SimArguments& arguments) {
    CompiledProgram compiled;
    DBK_TRY(compiled.program, read_dof_files(arguments.dof_paths, arguments.dialect));
    DBK_TRY(compiled.dof, formats::write_dof(compiled.program));
    compiled.description = "script '" + arguments.dof_paths[0] + "'";
    if (compiled.program.target)
        compiled.release = compiled.program.target->release;
    return compiled;
}

std::optional<CompiledProgram> program_of(const SimArguments& arguments) {
    if (arguments.dof_paths.empty()) {
        size_t silent = 0;
        auto dry = compile_for_sim(arguments, &silent);
        if (!dry)
            return dry;
        if (auto checked = check_kernel(arguments.program, *dry); !checked.ok()) {
            fail(checked.error());
            return std::nullopt;
        }
        if (silent != 0)
            complain(base::counted(silent, "probe description is", "probe descriptions are") +
                     " of a kernel's probes, which fire nothing here" +
                     (dry->kernel ? "" : ", and are not looked up without --kernel"));
        return dry;
    }
    auto compiled = read_program(arguments);
    if (compiled.ok())
        return std::move(*compiled);
    fail(compiled.error());
    return std::nullopt;
}

int run(const SimArguments& arguments, SimSetting setting) {
    auto compiled = program_of(arguments);
    if (!compiled)
        return static_cast<int>(Exit::failed);
    if (arguments.compile_only)
        return static_cast<int>(Exit::ok);
    std::optional<base::OutputFile> file; // before anything runs: it may be there already
    if (!arguments.output_path.empty()) {
        auto created = formats::create_trace_file(arguments.output_path, arguments.replace);
        if (!created.ok())
            return fail(created.error());
        file.emplace(std::move(*created));
    }
    setting.host.thread = this_process();
    // Dates are today's and the boot is one of its own, unless every run is to be the same.
    if (!arguments.seed) {
        setting.host.start_wall_ns = clock_ns(CLOCK_REALTIME);
        std::random_device random;
        std::ranges::generate(setting.host.boot_uuid, std::ref(random));
    }
    // Nothing but this process is there to be destroyed.
    setting.run.destructive = true;
    // The simulated kernel is the one that the types are of; a BTF file does not say which that is.
    bool typed = compiled->program.target && compiled->program.target->typed;
    if (typed || !compiled->release.empty())
        setting.run.release = compiled->release;

    auto host = sim::SimHost::create(setting.host, setting.faults);
    if (!host.ok())
        return fail(host.error());
    setting.run.matched = [&](uint32_t matched) {
        if (!compiled->option(DTRACEOPT_QUIET))
            complain(compiled->description + " matched " + base::counted(matched, "probe"));
        if (!arguments.verbose)
            return;
        put(stability_text(compiled->description, compiled->stability));
    };
    NativeProgram native;
    if (arguments.native)
        setting.run.created = native.binding(compiled->dof, arguments.verbose);
    auto allowed = check_destructive(compiled->program);
    auto simulation = allowed.ok() ? sim::Simulation::load(**host, compiled->dof, setting.run)
                                   : std::move(allowed).error();
    if (!simulation.ok()) {
        complain("could not enable tracing: " + simulation.error().message());
        return static_cast<int>(Exit::failed);
    }
    if (!compiled->option(DTRACEOPT_QUIET) && compiled->option(DTRACEOPT_DESTRUCTIVE))
        complain("allowing destructive actions");
    if (!quiet_about_sizes(*compiled))
        tell_lowered(**simulation);
    for (const std::string& text : formats::changed_rates(compiled->program.options))
        complain(text);
    install_interrupt();
    auto end = (*simulation)->run([] { return interrupted.load(); });
    if (!end.ok())
        return fail(end.error());
    if (file) {
        formats::TraceHeader header = trace_header(arguments, setting, (*simulation)->host());
        auto written = (*simulation)->write_trace_file(*file, header, {.columns = !arguments.rows});
        if (!written.ok())
            return fail(written.error());
    }
    int status = print(arguments, **simulation);
    if (!(*simulation)->is_killed())
        return status;
    complain(std::string("processing aborted: ") + analyze::kUnresponsive);
    return static_cast<int>(Exit::failed);
}

} // namespace

void add_sim(Command app, int& status) {
    auto arguments = std::make_shared<SimArguments>();
    Command command = app.add_subcommand(
        "sim", "Run a D program on a simulated machine: BEGIN, END, ERROR, tick and profile fire");
    add_program_options(command, arguments->program);
    command.add_option("--dof", arguments->dof_paths,
                       "Run compiled programs instead, as one enabling: other compilers' too, "
                       "which keep options in an image of their own");
    command.add_option("--dialect", arguments->dialect,
                       "Whose numbers --dof has: oracle (as Daybreak), illumos, freebsd, "
                       "opendtrace");
    command.add_flag("-e", arguments->compile_only, "Compile only; do not run");
    command.add_flag("-v", arguments->verbose, "Print how stable the program's interfaces are");
    if (can_run_native())
        command.add_flag(
            "--native", arguments->native,
            "Translate the program to C, compile it, and run that (builds with tests)");
    command.add_option("-o,--output", arguments->output_path,
                       "Write what was recorded as a trace file too (.dbrk)");
    command.add_flag("--replace", arguments->replace, kReplaceHelp).needs("--output");
    command.add_flag("--rows", arguments->rows, kRowsHelp);
    command.add_option("--seed", arguments->seed,
                       "Of everything random (1); given, dates and boot are the same in every run");
    command.add_option("--cpus", arguments->cpu_count, "Simulated CPUs (1)");
    command.add_option("--host", arguments->host,
                       "The machine's name in what -o writes (simulated)");
    command.add_option("--ring", arguments->ring,
                       "The ring's number in what -o writes (1): of one boot's programs each has "
                       "its own");
    command.add_option("--target", arguments->target, "The process that $target is")
        .type_name("PID");
    command.add_option("--time", arguments->time,
                       "Virtual time after which tracing ends: 35ms, 10s, 2min (10s; 10min when "
                       "the program calls exit())");
    command.add_option("--inject", arguments->injection,
                       "Failures: nested=N (every Nth firing is interrupted by itself), load=N "
                       "(every Nth load of foreign memory faults), slow=N (each takes N "
                       "milliseconds), alloc=N (the Nth allocation), "
                       "missed=N (every Nth firing does not come), stack=N (every Nth user stack "
                       "is bad)");
    command.add_option("--privileges", arguments->privileges,
                       "What the program's owner may look into, as DTrace's dtrace_proc and "
                       "dtrace_kernel: proc, kernel (both), or user alone for neither");
    command.footer("\nExample: what does my program print in ten seconds?\n"
                   "  daybreak sim -q -n 'tick-1s { printf(\"%d\\n\", n++); }'\n"
                   "Example: is this program for a boot right?\n"
                   "  daybreak sim -s boot.d --kernel $(uname -r)");
    command.callback([arguments, &status] {
        SimSetting setting;
        if (auto wrong = check(*arguments, setting)) {
            status = misuse("sim", *wrong);
            return;
        }
        status = run(*arguments, setting);
    });
}

} // namespace daybreak::cmd
