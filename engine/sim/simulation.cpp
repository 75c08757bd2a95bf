// SPDX-License-Identifier: Apache-2.0
//
// Simulation: one D program from BEGIN to END on a BareHost.
#include "engine/sim/simulation.hpp"

#include "engine/sim/sim_kernel.hpp"
#include "formats/dof/dof_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace daybreak::sim {

using base::errorf;

namespace {

ErrorCode code_of(int error) {
    if (error == -ENOMEM)
        return ErrorCode::limit;
    return error == -E2BIG ? ErrorCode::limit : ErrorCode::invalid;
}

Error refused(int error, const dbk_reason& reason) {
    return Error(code_of(error), reason.text[0] != '\0' ? reason.text : strerror(-error));
}

bool calls_exit(const formats::DofProgram& program) {
    for (const formats::DofActionList& list : program.action_lists)
        for (const formats::DofAction& action : list.actions)
            if (action.kind == DTRACEACT_EXIT)
                return true;
    return false;
}

} // namespace

Result<std::unique_ptr<Simulation>> Simulation::load(BareHost& host, ByteView untrusted_dof,
                                                     const SimulationOptions& options) {
    std::unique_ptr<Simulation> simulation(new Simulation(host, options));
    HostScope scope(host);
    DBK_TRY_VOID(simulation->create(untrusted_dof));
    return simulation;
}

Result<void> Simulation::create(ByteView untrusted_dof) {
    dbk_reason reason{};
    int error = dbk_program_load(untrusted_dof.data(), untrusted_dof.size(), &reason, &program_);
    if (error != 0)
        return refused(error, reason);
    dbk_program_restrict(program_, options_.lacks);
    if (options_.args != 0)
        dbk_program_give_args(program_, options_.args);
    const char* release = "";
    bool typed = false;
    uint8_t btf_id[16] = {};
    if (dbk_program_target(program_, &release, &typed, btf_id) && typed &&
        release != options_.release)
        return errorf(ErrorCode::unsupported,
                      "the program uses the types of kernel %s, which the simulator is not",
                      release);
    dbk_probedesc description{};
    for (uint32_t i = 0; dbk_program_probedesc(program_, i, &description); i++)
        DBK_TRY_VOID(host_.make_named(description));

    DBK_TRY(formats::DofImage image, formats::parse_dof(untrusted_dof));
    time_limit_ns_ = options_.time_limit_ns;
    if (time_limit_ns_ == 0)
        time_limit_ns_ = calls_exit(image.program) ? kExitTimeLimitNs : kTimeLimitNs;
    rates_ = formats::reading_rates_of(image.program.options);
    setopt_.emplace(image.program);

    if (options_.matched)
        options_.matched(count_matches(image.program));
    dbk_consumer_config config{};
    config.name = options_.name.c_str();
    config.ring_id = options_.ring_id;
    config.destructive = options_.destructive;
    config.aggregate_default = options_.aggregate_default;
    error = dbk_consumer_create(host_.engine(), program_, &config, &reason, &consumer_);
    if (error != 0)
        return refused(error, reason);
    program_ = nullptr;
    state_ = dbk_consumer_ring(consumer_);
    if (options_.created)
        DBK_TRY_VOID(options_.created(consumer_));
    DBK_TRY_VOID(open_ring());
    clean_ns_ = dbk_consumer_clean_interval_ns(consumer_);
    tend_ns_ = dbk_consumer_tend_interval_ns(consumer_);
    error = dbk_consumer_enable(consumer_, &reason, &matched_);
    if (error != 0)
        return refused(error, reason);
    return {};
}

Simulation::~Simulation() {
    HostScope scope(host_);
    if (consumer_ != nullptr) {
        static_cast<void>(dbk_consumer_stop(consumer_));
        dbk_consumer_destroy(consumer_);
    }
    dbk_program_destroy(program_);
}

uint32_t Simulation::count_matches(const formats::DofProgram& program) const {
    uint32_t count = 0;
    for (const formats::DofEcb& ecb : program.ecbs) {
        // uarg 1 marks the ERROR clause that the compiler adds to every program.
        if (ecb.uarg == 1)
            continue;
        const formats::DofProbeName& name = ecb.probe;
        dbk_probedesc description{name.provider.c_str(), name.module.c_str(), name.function.c_str(),
                                  name.name.c_str(), name.id};
        for (dbk_probe* probe = dbk_engine_probe_at(host_.engine(), 0); probe != nullptr;
             probe = probe->next)
            count += dbk_probedesc_match(&description, probe) ? 1 : 0;
    }
    return count;
}

std::vector<Simulation::Lowered> Simulation::lowered() const {
    std::vector<Lowered> result;
    uint64_t bytes = 0;
    for (int which = 0; which < DBK_SIZE_COUNT; which++)
        if (const char* name =
                dbk_consumer_lowered(consumer_, static_cast<dbk_size>(which), &bytes))
            result.push_back({name, bytes});
    return result;
}

Result<void> Simulation::start() {
    HostScope scope(host_);
    int error = dbk_consumer_start(consumer_);
    if (error != 0)
        return errorf(ErrorCode::invalid, "the simulation was started before");
    take_counted();
    // From here on looks keep their beat, also those of a reader outside.
    uint64_t now_ns = host_.clock().now_mono_ns();
    end_mono_ns_ = now_ns + time_limit_ns_;
    schedule_.emplace(rates_, now_ns);
    clean_due_ns_ = now_ns + clean_ns_;
    tend_due_ns_ = now_ns + tend_ns_;
    read(now_ns, 0);
    return {};
}

bool Simulation::step(SimEnd& end_ret) {
    HostScope scope(host_);
    auto due_ns = host_.next_timer_mono_ns();
    if (!exit_called() && due_ns && *due_ns <= end_mono_ns_)
        read_until(*due_ns);
    if (exit_called())
        end_ret = SimEnd::exited;
    else if (!due_ns)
        end_ret = SimEnd::idle;
    else if (filled_)
        end_ret = SimEnd::filled;
    else if (*due_ns > end_mono_ns_)
        end_ret = SimEnd::time_limit;
    else if (timer_firings_ >= options_.timer_firings_max)
        end_ret = SimEnd::firing_limit;
    else {
        timer_firings_++;
        clean_until(*due_ns);
        tend_until(*due_ns);
        host_.fire_next_timer();
        after_firing();
        return true;
    }
    return false;
}

/// Cleans if a multiple of cleanrate lies before the next firing: no clause runs in between.
void Simulation::clean_until(uint64_t due_ns) {
    if (clean_ns_ == 0 || due_ns < clean_due_ns_)
        return;
    static_cast<void>(dbk_consumer_clean(consumer_));
    clean_due_ns_ += (due_ns - clean_due_ns_) / clean_ns_ * clean_ns_ + clean_ns_;
}

/// Tends the ring in the same way: seals, and lets it grow.
void Simulation::tend_until(uint64_t due_ns) {
    if (due_ns < tend_due_ns_)
        return;
    dbk_consumer_tend(consumer_, DBK_PAGES_ANYWHERE);
    tend_due_ns_ += (due_ns - tend_due_ns_) / tend_ns_ * tend_ns_ + tend_ns_;
}

bool Simulation::has_filled() {
    if (dbk_consumer_ring(consumer_)->policy != DBK_POLICY_FILL)
        return false;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++)
        if (dbk_consumer_counters(consumer_, cpu)->drops[DBK_DROP_FILLED] != 0)
            return true;
    return false;
}

/// Does what is due before a firing.
void Simulation::catch_up(uint64_t now_ns) {
    HostScope scope(host_);
    read_until(now_ns);
    clean_until(now_ns);
    tend_until(now_ns);
    if (options_.outside_reader)
        nothing_before_ns_ = clean_ns_ == 0 ? tend_due_ns_ : std::min(tend_due_ns_, clean_due_ns_);
}

void Simulation::finish() {
    HostScope scope(host_);
    take_aggregations();
    static_cast<void>(dbk_consumer_stop(consumer_));
    take_aggregations();
    reader_->set_stopped();
    take_segments();
}

Result<SimEnd> Simulation::run(const std::function<bool()>& stop) {
    DBK_TRY_VOID(start());
    SimEnd end = SimEnd::interrupted;
    while (!(stop && stop()) && step(end)) {
    }
    wait_for_status();
    finish();
    return end;
}

void Simulation::wait_for_status() {
    if (!exit_called() || exit_seen_)
        return;
    HostScope scope(host_);
    uint64_t due_ns = std::max(schedule_->status_due_ns(), host_.clock().now_mono_ns());
    read_until(due_ns);
    host_.clock().advance_to(due_ns);
    read(due_ns, 0);
}

void Simulation::after_firing() {
    if (options_.reads_late)
        return;
    HostScope scope(host_);
    take_counted();
    read(host_.clock().now_mono_ns(), 0);
}

/// What a firing has counted is a snapshot of its own, as long as aggrate is not set.
void Simulation::take_counted() {
    uint64_t records = 0;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++)
        records += dbk_consumer_counters(consumer_, cpu)->records;
    if (records != records_seen_ && !rates_.has_aggregate_rate)
        take_aggregations();
    records_seen_ = records;
}

/// Does the looks that are due before something happens at `next_ns`.
void Simulation::read_until(uint64_t next_ns) {
    while (!options_.outside_reader && schedule_->due_ns() < next_ns) {
        uint64_t due_ns = schedule_->due_ns();
        host_.clock().advance_to(due_ns);
        read(due_ns, next_ns);
    }
}

void Simulation::read(uint64_t now_ns, uint64_t next_ns) {
    if (options_.outside_reader)
        return;
    formats::Readings due = schedule_->take(now_ns, next_ns);
    if (due.status) {
        exit_seen_ = exit_called();
        filled_ = has_filled();
    }
    if (due.aggregations)
        take_aggregations();
    if (due.records)
        read_records();
}

/// What setopt() asks for holds from when its record is read.
void Simulation::read_records() {
    if (setopt_->is_called() && setopt_->read(untaken(), rates_))
        schedule_->set_rates(rates_);
    if (dbk_consumer_ring(consumer_)->policy == DBK_POLICY_SWITCH)
        take_segments();
}

} // namespace daybreak::sim
