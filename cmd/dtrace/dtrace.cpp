// SPDX-License-Identifier: Apache-2.0
//
// `daybreak dtrace`: what each mode of dtrace(1) does, in order.
#include "cmd/dtrace/dtrace.hpp"

#include "base/counted.hpp"
#include "base/visible.hpp"
#include "cmd/dtrace/anonymous.hpp"
#include "cmd/dtrace/listing.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/dtrace/own_probes.hpp"
#include "cmd/dtrace/run.hpp"
#include "cmd/file_places.hpp"
#include "cmd/program.hpp"
#include "cmd/terminal.hpp"
#include "cmd/this_process.hpp"
#include "daybreak_version.hpp"
#include "formats/abi/ioctl.h"
#include "formats/dof/dof_printer.hpp"
#include "formats/dof/options.hpp"
#include "live/session/live_session.hpp"
#include "live/session/simulated_session.hpp"
#include "recorder/host.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/utsname.h>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

/// The D language that is spoken, for scripts that look at `dtrace -V`.
constexpr const char* kLanguageVersion = "1.6.4";

int failed(const std::string& name, const std::string& message) {
    say(name, message);
    return static_cast<int>(Exit::failed);
}

/// Returns what is wrong with -x and its kin, in dtrace(1)'s words; "" when nothing is.
std::string refused_setting(const DtraceArguments& arguments) {
    for (const DtraceArguments::Setting& setting : arguments.settings) {
        formats::OptionSetting parsed = formats::parse_option(setting.name, setting.value);
        if (parsed.error.empty())
            continue;
        return "failed to set " + setting.text + ": " + parsed.error +
               (is_testing() || parsed.hint.empty() ? "" : "\n      = hint: " + parsed.hint);
    }
    return "";
}

/// DTRACE_OPT_NAME=value of the environment are options too, before those of the command line.
void add_environment(DtraceArguments& arguments) {
    constexpr const char* kPrefix = "DTRACE_OPT_";
    std::vector<DtraceArguments::Setting> settings;
    for (char** entry = environ; *entry != nullptr; entry++) {
        std::string text = *entry;
        if (!text.starts_with(kPrefix))
            continue;
        size_t equals = text.find('=');
        std::string name = text.substr(std::strlen(kPrefix), equals - std::strlen(kPrefix));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        settings.push_back({name, text.substr(equals + 1), text.substr(0, equals)});
    }
    arguments.settings.insert(arguments.settings.begin(), settings.begin(), settings.end());
}

/// Watches the process of a -p.  Errors: invalid, not_found.
base::Result<live::Target> watch(const std::string& pid_text) {
    pid_t pid = 0;
    const char* end = pid_text.data() + pid_text.size();
    auto parsed = std::from_chars(pid_text.data(), end, pid);
    if (parsed.ec != std::errc{} || parsed.ptr != end || pid <= 0)
        return base::errorf(base::ErrorCode::invalid, "invalid pid: %s", pid_text.c_str());
    auto target = live::Target::watch(pid);
    if (!target.ok() && !is_testing())
        return std::move(target).error().with_context("process " + pid_text);
    return target;
}

class Dtrace {
public:
    explicit Dtrace(DtraceArguments arguments)
        : arguments_(std::move(arguments)),
          output_({arguments_.name, has_setting(arguments_, "droptags")}) {}

    int run();

private:
    std::string no_program() const;
    int trace(const CompiledPrograms* compiled, live::ProbeIndex& probes);
    base::Result<void> open_targets();
    base::Result<void> open_session();
    void tell_matches(const CompiledPrograms& compiled, live::ProbeIndex& probes);
    int fail(const std::string& message) { return failed(arguments_.name, message); }

    DtraceArguments arguments_;
    DtraceOutput output_;
    std::vector<live::Target> targets_;
    recorder::ProcSymbolSource kernel_symbols_; // outlives the session
    std::unique_ptr<live::Session> session_;
    uint32_t matched_ = 0;
};

base::Result<void> Dtrace::open_targets() {
    if (arguments_.virtual_time && !(arguments_.commands.empty() && arguments_.pids.empty()))
        return base::Error(base::ErrorCode::invalid,
                           "--simulate=virtual: a process of -c or -p lives in real time");
    for (const std::string& command : arguments_.commands) {
        DBK_TRY(live::Target target, live::Target::start(command));
        targets_.push_back(std::move(target));
    }
    for (const std::string& pid : arguments_.pids) {
        DBK_TRY(live::Target target, watch(pid));
        targets_.push_back(std::move(target));
    }
    return {};
}

/// A machine is made up only when asked for, for test suites, and where nothing is run.
base::Result<void> Dtrace::open_session() {
    const bool only_compiles = arguments_.compile_only ||
                               arguments_.mode == DtraceMode::anonymous ||
                               arguments_.makes_own_probes();
    const live::SessionOutside outside = {recorder::read_clocks, [] { return interrupted.load(); },
                                          &kernel_symbols_};
    if (::access(DBK_DEVICE_PATH, F_OK) == 0 && !arguments_.simulate) {
        DBK_TRY(auto device, recorder::open_device());
        utsname names = {};
        ::uname(&names);
        DBK_TRY(session_, live::open_live_session(std::move(device), names.release, outside));
    } else {
        const bool made_up = arguments_.simulate || is_testing() || only_compiles;
        DBK_TRY(session_, live::open_simulated_session({.made_up = made_up,
                                                        .virtual_time = arguments_.virtual_time,
                                                        .cpu_count = online_cpus(),
                                                        .thread = this_process()},
                                                       outside));
        if (!is_testing() && !only_compiles)
            say(arguments_.name, made_up
                                     ? "--simulate: what follows is of a machine that is made up"
                                     : "the module daybreak is not loaded (insmod daybreak.ko): "
                                       "there are only timers, and the processes of -c, of "
                                       "whose calls CPU, stacks and CPU times read 0");
    }
    for (live::Target& target : targets_)
        session_->add_target(target);
    return {};
}

/// "dtrace: description 'BEGIN' matched 1 probe", and what -v adds.
void Dtrace::tell_matches(const CompiledPrograms& compiled, live::ProbeIndex& probes) {
    for (size_t i = 0; i < compiled.descriptions.size(); i++) {
        uint32_t matched = 0;
        for (const formats::DofEcb* ecb : compiled.ecbs_of(i)) {
            const uint32_t found = probes.count(ecb->probe);
            matched += found;
            // What -Z waits for: a file that is not there is not looked for again.
            std::string why = found == 0 ? hint_for_path(ecb->probe) : "";
            if (!why.empty())
                say(arguments_.name, ecb->probe.text() + " matches no probe: " + why);
        }
        matched_ += matched;
        if (!compiled.option(DTRACEOPT_QUIET))
            say(arguments_.name,
                compiled.descriptions[i] + " matched " + base::counted(matched, "probe"));
        if (arguments_.verbose)
            print_stability(compiled, i, output_);
    }
}

/// What is said when there is nothing to trace.
std::string Dtrace::no_program() const {
    std::string text = "no probes specified";
    if (!is_testing() && !arguments_.arguments.empty())
        text += ": " + arguments_.arguments[0] +
                " was taken as a program's argument $1; -s FILE or -n TEXT is the program";
    return text;
}

int Dtrace::trace(const CompiledPrograms* compiled, live::ProbeIndex& probes) {
    // -e with nothing at all, or libraries alone, is fine: there was nothing wrong with it.
    if (arguments_.compile_only && !arguments_.claim_anonymous)
        return compiled != nullptr || arguments_.arguments.empty() ? static_cast<int>(Exit::ok)
                                                                   : fail(no_program());
    if (arguments_.claim_anonymous && compiled != nullptr)
        return fail("Can't claim anonymous state and enable probes");
    if (compiled != nullptr)
        tell_matches(*compiled, probes);
    if (matched_ == 0 && !arguments_.claim_anonymous && !arguments_.zero_probes_allowed)
        return fail(compiled != nullptr ? "no probes matched" : no_program());
    return run_tracing(arguments_, compiled, *session_, targets_, output_);
}

int Dtrace::run() {
    add_environment(arguments_);
    std::string refused = refused_setting(arguments_);
    if (!refused.empty())
        return fail(refused);
    for (auto step : {&Dtrace::open_targets, &Dtrace::open_session}) {
        auto done = (this->*step)();
        if (!done.ok())
            return fail(done.error().message());
    }
    std::optional<compiler::BtfKernelTypes> kernel;
    if (!arguments_.kernel.empty()) {
        auto where = kernel_source_of(arguments_.kernel);
        if (!where.ok())
            return fail(where.error().message());
        kernel.emplace(std::move(*where));
    } else if (!session_->is_simulated()) {
        kernel.emplace(
            compiler::KernelSource{.release = session_->release(), .cache = cache_folder()});
    }

    live::ProbeIndex probes(*session_);
    CompileSetting setting;
    setting.probes = &probes;
    setting.kernel = kernel ? &*kernel : nullptr;
    if (!targets_.empty())
        setting.target = targets_[0].pid();
    setting.is_simulated = session_->is_simulated();
    setting.has_command = !arguments_.commands.empty();
    std::optional<CompiledPrograms> compiled;
    if (!arguments_.programs.empty() || !arguments_.library_folders.empty()) {
        compiled = compile_programs(arguments_, setting);
        if (!compiled || arguments_.mode == DtraceMode::list)
            say_remarks(arguments_.name, *session_); // of files that were looked into
        if (!compiled)
            return static_cast<int>(Exit::failed);
        if (has_setting(arguments_, "verbose"))
            std::fputs(base::visible(formats::print_ecbs(compiled->program())).c_str(), stderr);
    }
    const CompiledPrograms* programs = arguments_.programs.empty() ? nullptr : &*compiled;
    if (arguments_.mode == DtraceMode::anonymous)
        return save_anonymous(arguments_, programs);
    if (arguments_.makes_own_probes())
        return save_own_probes(arguments_, programs);
    if (!arguments_.output_path.empty()) {
        auto opened = output_.open(arguments_.output_path);
        if (!opened.ok())
            return fail(opened.error().message());
    }
    if (arguments_.mode == DtraceMode::list) {
        list_probes(arguments_, programs, probes, setting.kernel, output_);
        return output_.failed() ? static_cast<int>(Exit::failed) : static_cast<int>(Exit::ok);
    }
    return trace(programs, probes);
}

int print_version(const DtraceArguments& arguments) {
    std::printf("%s: Daybreak D %s\n", arguments.name.c_str(), kLanguageVersion);
    if (arguments.verbose)
        std::printf("This is Daybreak %s\n", DAYBREAK_VERSION);
    return static_cast<int>(Exit::ok);
}

int print_help(const std::string& name) {
    std::printf("%s\nExample: which programs are started, while a command runs?\n"
                "  %s -n 'proc:::exec-success { trace(execname); }' -c 'make all'\n\n"
                "With the module loaded it traces the kernel.  Without it there are only timers\n"
                "and the processes of -c; --simulate makes up a machine.  The manual is\n"
                "daybreak-dtrace(1).\n",
                dtrace_usage(name).c_str(), name.c_str());
    return static_cast<int>(Exit::ok);
}

} // namespace

int run_dtrace(const std::string& name, const std::vector<std::string>& words) {
    DtraceParse parse = parse_dtrace_arguments(name, words);
    if (!parse.message.empty())
        say(name, parse.message);
    if (parse.usage) {
        std::fputs(dtrace_usage(name).c_str(), stderr);
        return static_cast<int>(Exit::usage);
    }
    if (!parse.message.empty())
        return static_cast<int>(Exit::failed);
    if (parse.arguments.help)
        return print_help(name);
    return run_dtrace(std::move(parse.arguments));
}

int run_dtrace(DtraceArguments arguments) {
    if (arguments.mode == DtraceMode::version)
        return print_version(arguments);
    return Dtrace(std::move(arguments)).run();
}

} // namespace daybreak::cmd
