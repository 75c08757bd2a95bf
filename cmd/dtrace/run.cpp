// SPDX-License-Identifier: Apache-2.0
//
// Tracing: from the compiled programs to the last line of output.
#include "cmd/dtrace/run.hpp"

#include "analyze/completeness.hpp"
#include "analyze/live_report.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/outside.hpp"
#include "cmd/program.hpp"
#include "cmd/terminal.hpp"
#include "cmd/user_symbols.hpp"
#include "live/process/child_signal.hpp"
#include "live/process/process_names.hpp"
#include "recorder/jit_texts.hpp"

#include <algorithm>
#include <set>

namespace daybreak::cmd {

namespace {

/// The shortest time between two looks of one kind, whatever its rate says.
constexpr uint64_t kLookNsMin = 1'000'000;
/// 20 ms: how soon the end of a process of -c and -p is noticed.
constexpr uint64_t kTargetLookNs = 20'000'000;

class Tracing {
public:
    Tracing(const DtraceArguments& arguments, const CompiledPrograms* compiled,
            live::Session& session, std::vector<live::Target>& targets, DtraceOutput& output)
        : arguments_(arguments), compiled_(compiled), session_(session), targets_(targets),
          output_(output) {}

    int run();

private:
    bool is_set(uint32_t option) const { return compiled_ && compiled_->option(option); }
    formats::ReadingRates rates() const;
    base::Result<void> enable();
    base::Result<void> loop();
    base::Result<void> take(const formats::Readings& looked_at);
    void tell_ends();
    bool is_over(live::SessionEvent event) const;
    void tell_changed_rates() const;
    void hold_ends();
    analyze::ReportOptions report_options();
    std::string made_text(uint32_t pid, uint64_t& bytes_known);
    int fail(const base::Error& error);

    const DtraceArguments& arguments_;
    const CompiledPrograms* compiled_;
    live::Session& session_;
    std::vector<live::Target>& targets_;
    DtraceOutput& output_;
    live::ProcessNames users_{
        [this](uint32_t pid, uint64_t& bytes_known) { return made_text(pid, bytes_known); }};
    std::set<pid_t> told_ends_;
    std::set<std::string> told_files_;
    std::unique_ptr<analyze::LiveReport> report_;
};

int Tracing::fail(const base::Error& error) {
    say(arguments_.name, error.message());
    return static_cast<int>(Exit::failed);
}

/// What a runtime wrote of the code that it made; why a file is not read is said once.
std::string Tracing::made_text(uint32_t pid, uint64_t& bytes_known) {
    recorder::JitTexts made = recorder::read_jit_text_of(pid, bytes_known);
    for (const formats::Finding& finding : made.findings.list())
        if (told_files_.insert(finding.where).second)
            say(arguments_.name, finding.where + ": " + finding.text);
    return made.texts.empty() ? "" : std::move(made.texts[0].text);
}

/// The rates in force: the program's, setopt() included once there is a report.
formats::ReadingRates Tracing::rates() const {
    formats::ReadingRates rates;
    if (report_->output_options())
        rates = report_->output_options()->rates;
    else if (compiled_)
        rates = formats::reading_rates_of(compiled_->program().options);
    for (uint64_t* ns : {&rates.switch_ns, &rates.aggregate_ns, &rates.status_ns})
        *ns = std::max(*ns, kLookNsMin);
    return rates;
}

void Tracing::tell_changed_rates() const {
    if (!compiled_)
        return;
    for (const std::string& text : formats::changed_rates(compiled_->program().options))
        say(arguments_.name, text);
}

base::Result<void> Tracing::enable() {
    if (!compiled_)
        return session_.claim();
    DBK_TRY_VOID(check_destructive(compiled_->program()));
    DBK_TRY_VOID(session_.enable({compiled_->dof(), is_set(DTRACEOPT_DESTRUCTIVE)}));
    say_remarks(arguments_.name, session_, is_testing() || is_set(DTRACEOPT_QUIETRESIZE));
    return {};
}

analyze::ReportOptions Tracing::report_options() {
    analyze::ReportOptions options;
    options.testing = is_testing();
    options.json = arguments_.json;
    options.output.field_width_max = analyze::kOwnFieldWidthMax;
    options.symbols = session_.symbols();
    options.users = &users_;
    if (targets_.size() == 1)
        options.target_pid = static_cast<uint64_t>(targets_[0].pid());
    options.hooks = outside_hooks(output_.file());
    return options;
}

/// Takes what is new, and prints it when records are looked at.
base::Result<void> Tracing::take(const formats::Readings& looked_at) {
    DBK_TRY(formats::RingPieces pieces, session_.poll(looked_at));
    report_->add(std::move(pieces), looked_at);
    return {};
}

/// Says which targets have ended, each once.
void Tracing::tell_ends() {
    if (is_testing() || is_set(DTRACEOPT_QUIET))
        return;
    for (live::Target& target : targets_)
        if (!target.is_held() && target.is_gone() && told_ends_.insert(target.pid()).second)
            say(arguments_.name, target.end_text());
}

bool Tracing::is_over(live::SessionEvent event) const {
    if (event == live::SessionEvent::target_exited || event == live::SessionEvent::idle ||
        interrupted)
        return true;
    bool gone = !targets_.empty() &&
                std::all_of(targets_.begin(), targets_.end(), [](live::Target& target) {
                    return !target.is_held() && target.is_gone();
                });
    return gone || output_.closed();
}

base::Result<void> Tracing::loop() {
    formats::ReadingSchedule schedule(rates(), session_.now_ns());
    for (;;) {
        uint64_t now = session_.now_ns(), due = schedule.due_ns();
        uint64_t wait_ns = due > now ? due - now : 0;
        DBK_TRY(live::SessionEvent event,
                session_.wait(targets_.empty() ? wait_ns : std::min(wait_ns, kTargetLookNs)));
        tell_ends();
        if (is_over(event))
            return {};
        formats::Readings looked_at = schedule.take(session_.now_ns());
        if (looked_at.status) {
            live::SessionStatus status = session_.status();
            if (status.killed)
                return base::Error(base::ErrorCode::limit, analyze::kUnresponsive);
            if (status.exited || status.filled)
                return {};
        }
        if (!looked_at.any())
            continue; // a signal that asks for nothing
        DBK_TRY_VOID(take(looked_at));
        schedule.set_rates(rates());
        session_.set_rates(schedule.rates());
    }
}

/// Holds the commands at their end until what names their addresses is taken.
void Tracing::hold_ends() {
    constexpr uint32_t kUserAddresses[] = {DTRACEACT_USTACK, DTRACEACT_JSTACK, DTRACEACT_USYM,
                                           DTRACEACT_UMOD, DTRACEACT_UADDR};
    bool any = false;
    if (compiled_)
        for (const auto& list : compiled_->program().action_lists)
            for (const formats::DofAction& action : list.actions)
                any |= std::ranges::find(kUserAddresses, action.kind) != std::end(kUserAddresses);
    if (!any || targets_.empty())
        return;
    live::block_child_signal(); // it ends a sleep, and what is held goes on at once
    for (live::Target& target : targets_)
        target.set_at_end([this](pid_t pid) { users_.remember(static_cast<uint64_t>(pid)); });
}

int Tracing::run() {
    auto enabled = enable();
    if (!enabled.ok())
        return fail(std::move(enabled).error().with_context("could not enable tracing"));
    if (is_set(DTRACEOPT_DESTRUCTIVE) && !is_set(DTRACEOPT_QUIET))
        say(arguments_.name, "allowing destructive actions");
    tell_changed_rates();
    // Before the kernel's symbols are read, which takes a moment.
    install_interrupt();
    report_ = std::make_unique<analyze::LiveReport>(report_options(), output_);
    hold_ends();
    auto started = session_.start();
    if (!started.ok())
        return fail(std::move(started).error().with_context("could not enable tracing"));
    for (live::Target& target : targets_)
        target.let_go();
    // -a -e: what is there, and no waiting for more.
    auto traced = arguments_.compile_only ? base::Result<void>() : loop();
    if (interrupted && !is_testing() && !arguments_.json)
        report_->newline(); // after the terminal's ^C
    auto stopped = session_.stop();
    auto last = take({true, true, true});
    for (const auto* step : {&traced, &stopped, &last})
        if (!step->ok())
            return fail(base::Error(step->error()).with_context("processing aborted"));
    if (!arguments_.json)
        report_->newline();
    report_->end();
    if (report_->unnamed().kernel && !is_testing())
        say(arguments_.name, "kernel addresses stay numbers: /proc/kallsyms is hidden "
                             "(kernel.kptr_restrict, or no CAP_SYSLOG)");
    if (!is_testing())
        for (const std::string& text : unnamed_texts(users_.unnamed()))
            say(arguments_.name, text);
    if (output_.failed())
        return static_cast<int>(Exit::failed);
    return report_->exit_status().value_or(0);
}

} // namespace

int run_tracing(const DtraceArguments& arguments, const CompiledPrograms* compiled,
                live::Session& session, std::vector<live::Target>& targets, DtraceOutput& output) {
    return Tracing(arguments, compiled, session, targets, output).run();
}

} // namespace daybreak::cmd
