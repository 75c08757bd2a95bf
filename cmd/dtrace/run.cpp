// SPDX-License-Identifier: Apache-2.0
//
// Tracing: from the compiled programs to the last line of output.
#include "cmd/dtrace/run.hpp"

#include "analyze/live_report.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/dtrace/process_names.hpp"
#include "cmd/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace daybreak::cmd {

namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
/// The shortest time between two looks at the buffers, whatever switchrate says.
constexpr uint64_t kPollNsMin = 1'000'000;
/// DTrace's classes of actions: stop, raise, system, freopen; breakpoint, panic, chill.
constexpr uint32_t kClassProcessDestructive = 0x0200, kClassKernelDestructive = 0x0500;

uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

void append(std::vector<base::Bytes>& to, std::vector<base::Bytes>& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// system(): the shell gets the signals and the terminal as if the user had typed it.
analyze::ConsumerHooks::Outcome run_shell(const std::string& command) {
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &child, &before);
    analyze::ConsumerHooks::Outcome failed;
    if (std::system(command.c_str()) == -1)
        failed = std::strerror(errno);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return failed;
}

class Tracing {
public:
    Tracing(const DtraceArguments& arguments, const CompiledPrograms* compiled, Session& session,
            std::vector<Target>& targets, DtraceOutput& output)
        : arguments_(arguments), compiled_(compiled), session_(session), targets_(targets),
          output_(output) {}

    int run();

private:
    bool is_set(uint32_t option) const { return compiled_ && compiled_->option(option); }
    uint64_t rate_ns(uint32_t option) const;
    base::Result<void> enable();
    void tell_matches();
    base::Result<void> loop();
    base::Result<void> take(bool print);
    bool is_over(SessionEvent event);
    analyze::ReportOptions report_options();
    int fail(const base::Error& error);

    const DtraceArguments& arguments_;
    const CompiledPrograms* compiled_;
    Session& session_;
    std::vector<Target>& targets_;
    DtraceOutput& output_;
    ProcessNames users_;
    std::unique_ptr<analyze::LiveReport> report_;
    analyze::LivePieces pending_; // taken, not printed yet
};

int Tracing::fail(const base::Error& error) {
    say(arguments_.name, error.message());
    return static_cast<int>(Exit::failed);
}

/// An option's rate; unset and 0 mean once a second.
uint64_t Tracing::rate_ns(uint32_t option) const {
    uint64_t value = compiled_ ? compiled_->option(option).value_or(0) : 0;
    return value == 0 ? kNsPerSecond : std::max(value, kPollNsMin);
}

base::Result<void> Tracing::enable() {
    if (!compiled_)
        return session_.claim();
    bool destructive = is_set(DTRACEOPT_DESTRUCTIVE);
    if (!destructive && is_destructive(compiled_->program()))
        return base::errorf(base::ErrorCode::invalid, "Destructive actions not allowed");
    DBK_TRY(uint32_t matched, session_.enable({compiled_->dof(), destructive}));
    static_cast<void>(matched); // told program by program before
    return {};
}

analyze::ReportOptions Tracing::report_options() {
    analyze::ReportOptions options;
    options.testing = is_testing();
    options.symbols = session_.symbols();
    options.users = &users_;
    options.hooks.system = run_shell;
    options.hooks.freopen = [this](const std::string& path) -> analyze::ConsumerHooks::Outcome {
        auto done = output_.reopen(path);
        if (done.ok())
            return std::nullopt;
        return done.error().message();
    };
    options.hooks.ftruncate = [this] { output_.truncate(); };
    return options;
}

/// Takes what is new; prints it and what was taken before, when it is time to.
base::Result<void> Tracing::take(bool print) {
    DBK_TRY(SessionData data, session_.poll(true));
    pending_.metadata = std::move(data.metadata);
    append(pending_.segments, data.segments);
    append(pending_.aggregations, data.aggregations);
    pending_.horizon_mono_ns = data.horizon_mono_ns;
    if (!print)
        return {};
    report_->add(std::exchange(pending_, {}));
    return {};
}

bool Tracing::is_over(SessionEvent event) {
    switch (event) {
    case SessionEvent::exited:
    case SessionEvent::filled:
    case SessionEvent::target_exited:
        return true;
    case SessionEvent::interrupted:
        return interrupted;
    case SessionEvent::elapsed:
        break;
    }
    bool gone = !targets_.empty() &&
                std::all_of(targets_.begin(), targets_.end(),
                            [](Target& target) { return !target.is_held() && target.is_gone(); });
    return gone || output_.closed();
}

base::Result<void> Tracing::loop() {
    uint64_t switch_ns = rate_ns(DTRACEOPT_SWITCHRATE), aggregate_ns = rate_ns(DTRACEOPT_AGGRATE);
    uint64_t switch_due_ns = now_ns() + switch_ns, aggregate_due_ns = now_ns() + aggregate_ns;
    for (;;) {
        uint64_t now = now_ns(), due = std::min(switch_due_ns, aggregate_due_ns);
        DBK_TRY(SessionEvent event, session_.wait(due > now ? due - now : 0));
        now = now_ns();
        if (is_over(event))
            return {};
        if (now < std::min(switch_due_ns, aggregate_due_ns))
            continue; // a signal that asks for nothing
        bool print = now >= switch_due_ns;
        DBK_TRY_VOID(take(print));
        if (print)
            switch_due_ns = now + switch_ns;
        if (now >= aggregate_due_ns)
            aggregate_due_ns = now + aggregate_ns;
    }
}

int Tracing::run() {
    auto enabled = enable();
    if (!enabled.ok())
        return fail(std::move(enabled).error().with_context("could not enable tracing"));
    if (is_set(DTRACEOPT_DESTRUCTIVE) && !is_set(DTRACEOPT_QUIET))
        say(arguments_.name, "allowing destructive actions");
    // Before the kernel's symbols are read, which takes a moment.
    install_interrupt();
    report_ = std::make_unique<analyze::LiveReport>(report_options(), output_);
    for (Target& target : targets_)
        session_.add_target(target);
    auto started = session_.start();
    if (!started.ok())
        return fail(std::move(started).error().with_context("could not enable tracing"));
    for (Target& target : targets_)
        target.let_go();
    // -a -e: what is there, and no waiting for more.
    auto traced = arguments_.compile_only ? base::Result<void>() : loop();
    if (interrupted && !is_testing())
        report_->newline(); // behind the terminal's ^C
    auto stopped = session_.stop();
    auto last = take(true);
    for (const auto* step : {&traced, &stopped, &last})
        if (!step->ok())
            return fail(base::Error(step->error()).with_context("processing aborted"));
    report_->newline();
    report_->end();
    if (output_.failed())
        return static_cast<int>(Exit::failed);
    return report_->exit_status().value_or(0);
}

bool calls_destructive(const formats::Difo& difo) {
    return std::any_of(difo.text.begin(), difo.text.end(), [](uint32_t instruction) {
        uint32_t subroutine = DIF_INSTR_SUBR(instruction);
        return DIF_INSTR_OP(instruction) == DIF_OP_CALL &&
               (subroutine == DIF_SUBR_COPYOUT || subroutine == DIF_SUBR_COPYOUTSTR);
    });
}

} // namespace

bool is_destructive(const formats::DofProgram& program) {
    for (const formats::DofActionList& list : program.action_lists)
        for (const formats::DofAction& action : list.actions)
            if (DTRACEACT_CLASS(action.kind) == kClassProcessDestructive ||
                DTRACEACT_CLASS(action.kind) == kClassKernelDestructive)
                return true;
    return std::any_of(program.difos.begin(), program.difos.end(), calls_destructive);
}

int run_tracing(const DtraceArguments& arguments, const CompiledPrograms* compiled,
                Session& session, std::vector<Target>& targets, DtraceOutput& output) {
    return Tracing(arguments, compiled, session, targets, output).run();
}

} // namespace daybreak::cmd
