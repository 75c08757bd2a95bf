// SPDX-License-Identifier: Apache-2.0
//
// Replay: a D program run over a recording, by the engine that ran the recorded one.
#include "analyze/replay/replay.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/replay/asked_probes.hpp"
#include "analyze/replay/engine_counts.hpp"
#include "formats/dof/dof_writer.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// self-> of an idle CPU is its own.
constexpr uint64_t kIdleKeys = uint64_t{1} << 40;

} // namespace

Replay::Replay(const formats::Recording& recording, size_t index, const CaptureTable& table,
               const ReplayOptions& options)
    : recording_(recording), ring_index_(index), ring_(recording.rings[index]), table_(table),
      options_(options), slots_(table.slots(), table.words()) {}

/// When the replay begins: with the ring, if all that it recorded is here, else with the first
/// record.
uint64_t Replay::begin_ns() const {
    TimeSpan span = span_of(ring_);
    uint64_t first_ns = span.empty() ? 0 : span.first_mono_ns;
    if (options_.window.since_mono_ns)
        return std::max(first_ns, *options_.window.since_mono_ns);
    for (const formats::CpuInfo& cpu : ring_.cpus)
        if (cpu.completeness.overwritten != 0 || cpu.completeness.rotated != 0)
            return first_ns;
    uint64_t start_ns = ring_.info.facts.start_mono_ns;
    return start_ns != 0 && start_ns < first_ns ? start_ns : first_ns;
}

/// Makes a machine with the recorded probes, under the ids that they had.
base::Result<void> Replay::make_host() {
    const uint64_t begin_ns = this->begin_ns();
    sim::SimHostConfig config;
    for (const formats::CpuInfo& cpu : ring_.cpus)
        config.cpu_count = std::max<uint32_t>(config.cpu_count, cpu.cpu + 1);
    config.start_mono_ns = begin_ns;
    config.start_wall_ns = ring_.clock.wall_ns(begin_ns);
    config.kernel = false;
    config.still_clock = true;
    config.thread = {0, 0, 0, 0, 0, {}, kIdleKeys, false};
    DBK_TRY(host_, sim::SimHost::create(config));
    bytes_polled_.resize(host_->cpu_count());
    host_->kernel_memory().add_own(slots_.arena().data(), slots_.arena().size());
    host_->set_more_args(slots_.all());
    for (const auto& [id, probe] : table_.probes()) {
        if (probe.is_of_engine())
            continue;
        host_->number_probes_from(id);
        DBK_TRY(sim::SimProbe * added, host_->add_probe({probe.info.provider, probe.info.module,
                                                         probe.info.function, probe.info.name},
                                                        DBK_PROBE_ARGS_MAX));
        probes_[id] = added;
    }
    return {};
}

/// Fills the slots with what the firing at hand has, and sets its thread and CPU.
void Replay::fill_all() {
    host_->set_cpu(reader_->main().cpu);
    for (const MergedRecord& merged : reader_->records())
        slots_.fill(table_, reader_->ecb_of(merged), merged.record);
    set_thread();
    host_->set_own_site(slots_.site());
}

/// The thread that the firing's records tell of, as far as the engine itself asks: clauses have its
/// name and user in slots.
void Replay::set_thread() {
    sim::SimThread thread;
    const Route& route = reader_->route();
    thread.pid = static_cast<uint32_t>(slots_.stack_pid().value_or(slots_.value(route.pid)));
    thread.tid = static_cast<uint32_t>(slots_.value(route.tid));
    thread.key = thread.tid != 0 ? thread.tid : kIdleKeys + reader_->main().cpu;
    host_->set_thread(thread);
}

/// Lets time pass up to a record: timers that are due fire.
void Replay::pass_time(uint64_t mono_ns, LiveReport& report) {
    sim::SimEnd end = sim::SimEnd::idle;
    for (; !is_over(); next_timer_ns_ = host_->next_timer_mono_ns()) {
        if (!next_timer_ns_ || *next_timer_ns_ > mono_ns)
            break;
        if (ticks_->take_recorded(*next_timer_ns_))
            continue;
        host_->set_thread({0, 0, 0, 0, 0, {}, kIdleKeys, false});
        slots_.clear();
        if (timers_ended_ || !simulation_->step(end)) {
            timers_ended_ = timers_ended_ || end == sim::SimEnd::firing_limit;
            break;
        }
        firings_++;
        since_poll_++;
        if (is_poll_due())
            poll(report);
    }
    host_->clock().advance_to(mono_ns);
}

bool Replay::is_poll_due() const {
    uint32_t cpu = host_->cpu();
    uint64_t bytes = dbk_consumer_counters(simulation_->consumer(), cpu)->bytes;
    return since_poll_ >= firings_per_poll_ || bytes - bytes_polled_[cpu] >= kBytesPerPoll;
}

void Replay::poll(LiveReport& report) {
    since_poll_ = 0;
    for (uint32_t cpu = 0; cpu < host_->cpu_count(); cpu++)
        bytes_polled_[cpu] = dbk_consumer_counters(simulation_->consumer(), cpu)->bytes;
    static_cast<void>(has_to_stop());
    report.add(simulation_->poll(), sim::Simulation::kAll);
}

/// Says how far it is, and asks whether it was interrupted.
bool Replay::has_to_stop() {
    if (options_.progress)
        options_.progress(records_);
    was_interrupted_ = was_interrupted_ || (options_.interrupted && options_.interrupted());
    return was_interrupted_;
}

/// Fires BEGIN, with what was recorded of it if that is the firing at hand.
base::Result<void> Replay::begin(bool has_record) {
    has_started_ = true;
    slots_.clear();
    if (has_record)
        fill_all();
    DBK_TRY_VOID(simulation_->start());
    next_timer_ns_ = host_->next_timer_mono_ns();
    host_->set_own_site({});
    return {};
}

/// Fires the probe of the firing at hand.
base::Result<void> Replay::fire(LiveReport& report) {
    const Route& route = reader_->route();
    records_ = (alike_ ? alike_->records() : 0) + reader_->passed();
    if (!has_started_) {
        DBK_TRY_VOID(begin(route.is_begin));
        if (route.is_begin)
            return {};
    }
    pass_time(reader_->mono_ns(), report);
    slots_.clear();
    fill_all();
    if (route.probe && !is_over() && reader_->has_anchor()) {
        simulation_->fire(*route.probe, slots_.all(), slots_.site());
        firings_++;
    }
    since_poll_++;
    if (is_poll_due())
        poll(report);
    return {};
}

/// After exit() END finds what was recorded of it, if it is not far: other CPUs went on a while.
void Replay::find_end() {
    for (uint64_t seen = 0; seen < kRecordsToEnd && is_over() && reader_->next();
         seen += reader_->records().size()) {
        if (!reader_->route().is_end)
            continue;
        slots_.clear();
        fill_all();
        host_->clock().advance_to(reader_->mono_ns());
        return;
    }
}

base::Result<void> Replay::load(base::ByteView dof) {
    sim::SimulationOptions options;
    options.name = "replay";
    options.release = options_.release;
    options.destructive = options_.destructive;
    options.aggregate_default = DBK_AGGREGATE_RECORD;
    options.time_limit_ns = UINT64_MAX / 2;
    options.timer_firings_max = options_.timer_firings_max;
    options.outside_reader = options.reads_late = true;
    DBK_TRY(simulation_, sim::Simulation::load(*host_, dof, options));
    for (const auto& [id, probe] : probes_)
        if (!RecordedTicks::is_filled_in(table_, id, *probe))
            sim::SimHost::disarm(*probe); // recorded timers fire when their records say
    return {};
}

/// Loads the program; its engine keeps the aggregations itself where that is the same.
base::Result<void> Replay::load_counting(base::ByteView dof, formats::DofProgram program) {
    std::optional<EngineCounts> counts = EngineCounts::of(program, host_->cpu_count());
    if (!counts)
        return load(dof);
    firings_per_poll_ = counts->firings_max;
    counts->apply(program);
    DBK_TRY(base::Bytes counting, formats::write_dof(program));
    return load(counting);
}

/// Lets records that are alike count at once, if the program is one for which that is the same.
base::Result<void> Replay::run_alike(base::ByteView dof, const formats::DofProgram& program,
                                     LiveReport& report) {
    std::optional<AlikeProgram> alike = AlikeProgram::of(program, ring_, table_);
    if (!alike)
        return {};
    DBK_TRY_VOID(begin(false));
    poll(report);
    Consumer* consumer = report.consumer();
    if (is_over() || !consumer)
        return {};
    Replay beside(recording_, ring_index_, table_, options_); // for its machine
    DBK_TRY_VOID(beside.make_host());
    DBK_TRY_VOID(beside.load(dof));
    DBK_TRY_VOID(beside.begin(false));
    alike_ = std::make_unique<AlikeReplay>(recording_, ring_index_, table_, options_.window,
                                           std::move(*alike));
    alike_->run({*beside.simulation_, beside.probes_, beside.slots_}, *consumer,
                [this](uint64_t records) {
                    records_ = records;
                    return !has_to_stop();
                });
    records_ = alike_->records();
    return {};
}

/// Whether records of probes without a clause may be passed over: else the last record in a window
/// is not known, and what a commit() released is distinguished from its firing by what stands between.
bool Replay::may_pass_others() const {
    return !options_.window.is_set() && !recording_.cut_window &&
           std::ranges::none_of(ring_.ecbs.all(), [](const formats::EcbInfo& ecb) {
               return (ecb.flags & DBK_ECB_F_SPECULATES) != 0;
           });
}

base::Result<void> Replay::run(base::ByteView dof, LiveReport& report) {
    DBK_TRY_VOID(make_host());
    DBK_TRY(formats::DofImage image, formats::parse_dof(dof));
    DBK_TRY_VOID(load_counting(dof, image.program));
    ticks_.emplace(recording_, ring_index_, table_, probes_);
    DBK_TRY_VOID(run_alike(dof, image.program, report));
    std::optional<YieldedEcbs> asked;
    if (may_pass_others())
        asked = asked_ecbs(image.program, table_, recording_, ring_index_);
    reader_.emplace(recording_, ring_index_, table_, probes_,
                    FiringReader::Choice{options_.window, alike_ ? &alike_->tallied() : nullptr,
                                         asked ? &*asked : nullptr});
    while (!is_over() && reader_->next())
        DBK_TRY_VOID(fire(report));
    if (!has_started_)
        DBK_TRY_VOID(begin(false));
    if (asked)
        pass_time(span_of(ring_).last_mono_ns, report);
    find_end();
    simulation_->finish();
    poll(report);
    if (simulation_->exit_called())
        exit_status_ = simulation_->exit_status();
    for (uint32_t cpu = 0; cpu < host_->cpu_count(); cpu++)
        for (uint64_t drops : dbk_consumer_counters(simulation_->consumer(), cpu)->drops)
            drops_ += drops;
    report.newline();
    report.end();
    return {};
}

} // namespace daybreak::analyze
