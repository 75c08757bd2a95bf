// SPDX-License-Identifier: Apache-2.0
//
// The sessions without the module: BEGIN, END, ERROR and the timers of profile at their real
// rates, and what the processes of -c do, their functions included.  Where perf_event_open(2) is
// allowed, profile-N finds what the CPUs of the machine are doing.  Only one that is made up has
// system calls of simulated processes, and idle CPUs where profile-N may not look.
#include "live/session/simulated_session.hpp"

#include "engine/sim/machine.hpp"
#include "engine/sim/sim_host.hpp"
#include "engine/sim/sim_kernel.hpp"
#include "formats/dof/dof_reader.hpp"
#include "live/process/cpu_sampler.hpp"
#include "live/process/syscall_tracer.hpp"
#include "recorder/symbols.hpp"

#include <algorithm>
#include <optional>

namespace daybreak::live {

namespace {

/// How long samples wait to be looked at.
constexpr uint64_t kSampleLookNs = 10'000'000;
/// A machine with more CPUs is simulated with these.
constexpr uint32_t kCpusMax = 64;

class SimulatedSession : public Session {
public:
    SimulatedSession(std::unique_ptr<sim::BareHost> host, std::unique_ptr<sim::SimMachine> machine,
                     const SimulatedSessionOptions& options, SessionOutside outside)
        : host_(std::move(host)), machine_(std::move(machine)), outside_(std::move(outside)),
          made_up_(options.made_up), virtual_time_(options.virtual_time) {}

    bool is_simulated() const override { return true; }
    std::string release() const override { return release_; }
    const formats::SymbolTable* symbols() override;

    base::Result<std::span<const SessionProbe>> probes() override;
    base::Result<uint32_t> make_named(const formats::DofProbeName& description) override;
    base::Result<void> enable(const EnableRequest& request) override;
    base::Result<void> claim() override {
        return base::errorf(base::ErrorCode::not_found, "No anonymous tracing state");
    }
    void add_target(Target& target) override { tracer_.add(target); }
    base::Result<void> start() override;
    uint64_t now_ns() const override {
        return virtual_time_ ? host_->clock().now_mono_ns() : outside_.clocks().mono_ns;
    }
    base::Result<SessionEvent> wait(uint64_t ns) override;
    SessionStatus status() override;
    base::Result<formats::RingPieces> poll(const formats::Readings& wanted) override;
    void set_rates(const formats::ReadingRates& rates) override { simulation_->set_rates(rates); }
    base::Result<void> stop() override;

private:
    bool is_there(std::string_view provider) const;
    base::Result<void> start_samplers();
    bool take_samples(uint64_t until_ns);
    void fire_sample(sim::SimProbe& probe, const CpuSample& sample);
    void turn(uint64_t now_ns);
    SessionEvent jump(uint64_t ns);
    uint64_t next_due_ns() const;

    std::unique_ptr<sim::BareHost> host_;
    std::unique_ptr<sim::SimMachine> machine_;
    SessionOutside outside_;
    bool made_up_, virtual_time_;
    std::optional<formats::SymbolTable> symbols_;
    std::vector<SessionProbe> probes_; ///< as they were listed last
    std::string release_ = "simulated";
    FunctionProbes functions_{*host_};
    SyscallTracer tracer_{functions_};
    std::vector<std::pair<sim::SimProbe*, CpuSampler>> samplers_;
    std::unique_ptr<sim::Simulation> simulation_; // destroyed before the host
    uint64_t workload_due_ns_ = 0;                // 0: the processes are not looked at
};

/// Without processes of -c no real system call is made.
bool SimulatedSession::is_there(std::string_view provider) const {
    return made_up_ || tracer_.targets() != 0 || (provider != "syscall" && provider != "proc");
}

base::Result<std::span<const SessionProbe>> SimulatedSession::probes() {
    probes_.clear();
    sim::HostScope scope(*host_);
    for (const dbk_probe* probe = dbk_engine_probe_at(host_->engine(), 0); probe != nullptr;
         probe = probe->next)
        if (is_there(probe->provider))
            probes_.push_back(
                {probe->id, probe->provider, probe->module, probe->function, probe->name});
    return std::span<const SessionProbe>(probes_);
}

base::Result<uint32_t> SimulatedSession::make_named(const formats::DofProbeName& description) {
    functions_.make_named(description);
    DBK_TRY_VOID(host_->make_named({description.provider.c_str(), description.module.c_str(),
                                    description.function.c_str(), description.name.c_str(), 0}));
    return 0u;
}

base::Result<void> SimulatedSession::enable(const EnableRequest& request) {
    sim::SimulationOptions options;
    options.name = "dtrace";
    options.destructive = request.destructive;
    // Only exit(), Ctrl-C or the end of the target end it.
    options.time_limit_ns = uint64_t{1} << 62;
    options.timer_firings_max = UINT64_MAX;
    options.outside_reader = true;
    host_->clock().advance_to(now_ns());
    DBK_TRY(auto image, formats::parse_dof(request.dof));
    if (image.program.target && image.program.target->typed)
        options.release = release_ = image.program.target->release;
    DBK_TRY(simulation_, sim::Simulation::load(*host_, request.dof, options));
    return start_samplers();
}

/// Makes profile-N real.  Where that is not allowed the timers of a made-up machine stay.
base::Result<void> SimulatedSession::start_samplers() {
    if (virtual_time_)
        return {};
    for (sim::SimProbe* probe : host_->armed_profiles()) {
        auto sampler = CpuSampler::start(probe->timer->interval_ns, host_->cpu_count());
        if (!sampler.ok() && made_up_)
            return {};
        if (!sampler.ok())
            return base::errorf(sampler.error().code(),
                                "%s: %s; root may, and whom kernel.perf_event_paranoid lets",
                                probe->text.name.c_str(), sampler.error().message().c_str());
        sim::BareHost::disarm(*probe);
        samplers_.emplace_back(probe, std::move(*sampler));
    }
    return {};
}

/// The simulated kernel's symbols; the real ones too when samples come from there.
const formats::SymbolTable* SimulatedSession::symbols() {
    if (symbols_)
        return &*symbols_;
    symbols_ = sim::kernel_symbols();
    auto text = samplers_.empty() ? base::Result<std::string>("") : outside_.kernel->kallsyms();
    if (text.ok() && !text->empty()) {
        // They lie where no kernel of today's puts its own, unless it is not randomized: then
        // the real ones count.
        formats::SymbolTable real;
        recorder::parse_kallsyms(*text, real);
        const formats::SymbolTable& simulated = *symbols_;
        if (!real.find(simulated.symbols().front().address))
            for (const formats::Symbol& symbol : simulated.symbols())
                real.add(symbol.address, symbol.type, symbol.name,
                         simulated.modules()[symbol.module]);
        real.finish();
        symbols_ = std::move(real);
    }
    return &*symbols_;
}

void SimulatedSession::fire_sample(sim::SimProbe& probe, const CpuSample& sample) {
    sim::SimThread thread;
    thread.pid = sample.pid;
    thread.tid = sample.tid;
    thread.key = sample.tid;
    thread.is_real = true;
    thread.set_execname("swapper/" + std::to_string(sample.cpu));
    if (sample.pid != 0)
        read_thread(static_cast<pid_t>(sample.tid), thread);
    sim::SimSite site;
    site.ipl = 2; // a timer is a hard interrupt
    site.kernel_stack = sample.kernel_stack;
    site.user_stack = sample.user_stack;
    const uint64_t args[] = {sample.kernel_pc, sample.user_pc};
    sim::SimThread before = host_->thread();
    host_->set_thread(thread);
    host_->set_cpu(sample.cpu);
    simulation_->fire(probe, args, site);
    host_->set_cpu(0);
    host_->set_thread(before);
}

/// Fires what was sampled until then.  Returns whether there was anything.
bool SimulatedSession::take_samples(uint64_t until_ns) {
    bool any = false;
    for (auto& [probe, sampler] : samplers_)
        sampler.take(until_ns, [&, fired = probe](const CpuSample& sample) {
            any = true;
            host_->clock().advance_to(sample.mono_ns);
            if (!simulation_->exit_called())
                fire_sample(*fired, sample);
        });
    return any;
}

base::Result<void> SimulatedSession::start() {
    host_->clock().advance_to(now_ns());
    DBK_TRY_VOID(simulation_->start());
    if (made_up_ && machine_->wants_calls())
        workload_due_ns_ = now_ns();
    if (virtual_time_)
        return {};
    // Between enable() and here a busy machine may have let seconds pass.
    const uint64_t started_ns = now_ns();
    host_->clock().advance_to(started_ns);
    host_->restart_timers();
    for (auto& [probe, sampler] : samplers_)
        sampler.take(started_ns, [](const CpuSample&) {}); // before BEGIN
    tracer_.begin(machine_->wants_calls() || machine_->wants_processes() || functions_.any());
    return {};
}

/// Nothing fires once exit() was called.
uint64_t SimulatedSession::next_due_ns() const {
    if (simulation_->exit_called())
        return UINT64_MAX;
    uint64_t due = host_->next_timer_mono_ns().value_or(UINT64_MAX);
    return workload_due_ns_ != 0 ? std::min(due, workload_due_ns_) : due;
}

/// Fires what is due.
void SimulatedSession::turn(uint64_t now_ns) {
    sim::SimEnd end;
    if (next_due_ns() > now_ns)
        return;
    if (workload_due_ns_ != 0 && workload_due_ns_ <= now_ns) {
        host_->clock().advance_to(workload_due_ns_);
        workload_due_ns_ = std::max(now_ns, workload_due_ns_ + machine_->step(*simulation_));
        return;
    }
    static_cast<void>(simulation_->step(end));
}

/// Virtual time: fires what is due next, or goes to where the caller looks if that is before it.
SessionEvent SimulatedSession::jump(uint64_t ns) {
    uint64_t deadline_ns = now_ns() + ns, due_ns = next_due_ns();
    if (outside_.interrupted())
        return SessionEvent::interrupted;
    if (due_ns == UINT64_MAX && !simulation_->exit_called())
        return SessionEvent::idle;
    if (due_ns <= deadline_ns)
        turn(due_ns);
    else
        host_->clock().advance_to(deadline_ns);
    return SessionEvent::elapsed;
}

base::Result<SessionEvent> SimulatedSession::wait(uint64_t ns) {
    if (virtual_time_)
        return jump(ns);
    uint64_t deadline_ns = now_ns() + ns;
    for (;;) {
        uint64_t now = now_ns();
        if (outside_.interrupted())
            return SessionEvent::interrupted;
        // What was sampled before a timer was due comes before it, however late we look.
        bool happened = take_samples(std::min(now, next_due_ns()));
        turn(now);
        happened |= tracer_.turn([this](const TracedCall& call) {
            host_->clock().advance_to(now_ns());
            fire_traced(*machine_, *simulation_, call);
        });
        if (next_due_ns() > now_ns())
            host_->clock().advance_to(now_ns());
        if (tracer_.targets() != 0 && tracer_.alive() == 0)
            return SessionEvent::target_exited;
        if (now >= deadline_ns) {
            host_->clock().advance_to(now);
            return SessionEvent::elapsed;
        }
        uint64_t due_ns = std::min(deadline_ns, next_due_ns());
        now = now_ns();
        if (!happened && due_ns > now)
            tracer_.sleep(samplers_.empty() ? due_ns - now : std::min(due_ns - now, kSampleLookNs));
    }
}

SessionStatus SimulatedSession::status() {
    return {simulation_->exit_called(), simulation_->has_filled(), simulation_->is_killed()};
}

base::Result<formats::RingPieces> SimulatedSession::poll(const formats::Readings& wanted) {
    return simulation_->poll(wanted);
}

base::Result<void> SimulatedSession::stop() {
    host_->clock().advance_to(now_ns());
    simulation_->finish();
    if (!virtual_time_)
        tracer_.end();
    return {};
}

} // namespace

base::Result<std::unique_ptr<Session>>
open_simulated_session(const SimulatedSessionOptions& options, SessionOutside outside) {
    sim::BareHostConfig config;
    config.thread = options.thread;
    config.thread.is_real = true;
    if (options.virtual_time) {
        config.cpu_count = kVirtualCpus;
    } else {
        const formats::HostClocks now = outside.clocks();
        config.cpu_count = std::clamp(options.cpu_count, 1u, kCpusMax);
        config.start_mono_ns = now.mono_ns;
        config.start_wall_ns = now.wall_ns;
    }
    std::unique_ptr<sim::BareHost> host;
    if (options.made_up) {
        DBK_TRY(host, sim::SimHost::create(config));
    } else {
        DBK_TRY(host, sim::BareHost::create(config));
    }
    DBK_TRY(auto machine, sim::SimMachine::create(*host, config.seed));
    return std::unique_ptr<Session>(std::make_unique<SimulatedSession>(
        std::move(host), std::move(machine), options, std::move(outside)));
}

} // namespace daybreak::live
