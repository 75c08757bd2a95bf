// SPDX-License-Identifier: Apache-2.0
//
// Replay: a D program run over a recording, by the engine that ran the recorded one.
#include "analyze/replay/replay.hpp"

#include "analyze/decode/time_span.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace daybreak::analyze {

namespace {

bool is_of_engine(const formats::ProbeInfo& probe) {
    return probe.provider == "dtrace";
}

/// Whether a record is of the firing of the one before it.  What a commit() released stands between
/// records of one firing, whose clauses come in the order of their EPIDs.
bool is_one_firing(const MergedRecord& before, const MergedRecord& record) {
    bool is_committed = before.record.commit_ticks != 0 || record.record.commit_ticks != 0;
    return is_same_firing(before, record) ||
           (is_committed && before.ring == record.ring && before.cpu == record.cpu &&
            before.record.ecb->probe_id == record.record.ecb->probe_id &&
            before.record.epid < record.record.epid);
}

/// Of the stacks of one firing the longest has the others.
void keep_longer(std::vector<uint64_t>& stack, base::ByteView recorded) {
    size_t size = recorded.size() / sizeof(uint64_t);
    if (size <= stack.size())
        return;
    stack.resize(size);
    std::memcpy(stack.data(), recorded.data(), size * sizeof(uint64_t));
}

static_assert(formats::kFirstSlot >= DBK_PROBE_ARGS_MAX);
/// self-> of an idle CPU is its own.
constexpr uint64_t kIdleKeys = uint64_t{1} << 40;

} // namespace

Replay::Replay(const formats::Recording& recording, size_t index, const CaptureTable& table,
               const ReplayOptions& options)
    : recording_(recording), ring_index_(index), ring_(recording.rings[index]), table_(table),
      options_(options), slots_(table.slots()), arena_(kArenaBytes) {}

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
    host_->kernel_memory().add_own(arena_.data(), arena_.size());
    host_->set_more_args(slots_);
    for (const auto& [id, probe] : table_.probes()) {
        if (is_of_engine(probe.info))
            continue;
        host_->number_probes_from(id);
        DBK_TRY(sim::SimProbe * added, host_->add_probe({probe.info.provider, probe.info.module,
                                                         probe.info.function, probe.info.name},
                                                        DBK_PROBE_ARGS_MAX));
        probes_[id] = added;
    }
    return {};
}

void Replay::clear() {
    std::fill_n(slots_.begin() + formats::kFirstSlot, table_.words(), 0);
    arena_used_ = 0;
    stack_.clear();
    user_stack_.clear();
}

/// Fills the slots that a record has values for.
void Replay::fill(const MergedRecord& merged) {
    const formats::RecordView& record = merged.record;
    auto ecb = static_cast<size_t>(record.ecb - ring_.ecbs.all().data());
    for (const CapturedField& captured : table_.fields_of(ecb)) {
        std::optional<base::ByteView> bytes = record.data(captured.field);
        if (!bytes)
            continue;
        uint64_t value = 0;
        switch (captured.kind) {
        case CapturedKind::integer:
            std::memcpy(&value, bytes->data(), std::min(bytes->size(), sizeof(value)));
            break;
        case CapturedKind::string: {
            size_t length = std::min(bytes->size(), arena_.size() - arena_used_ - 1);
            std::byte* to = arena_.data() + arena_used_;
            std::copy_n(bytes->begin(), length, to);
            to[length] = std::byte{0};
            value = reinterpret_cast<uintptr_t>(to);
            arena_used_ += length + (arena_used_ + length + 1 < arena_.size());
            break;
        }
        case CapturedKind::stack:
            keep_longer(stack_, *bytes);
            break;
        case CapturedKind::user_stack:
            keep_longer(user_stack_, *bytes);
            break;
        }
        slots_[captured.slot] = value;
        slots_[formats::presence_word(captured.slot)] |= formats::presence_bit(captured.slot);
    }
}

/// The same of all records of the firing, and their thread.
void Replay::fill_all() {
    for (const MergedRecord& merged : firing_)
        fill(merged);
    set_thread();
    host_->set_own_site(site());
}

sim::SimSite Replay::site() const {
    sim::SimSite site;
    site.kernel_stack = stack_;
    if (!user_stack_.empty())
        site.user_stack = std::span(user_stack_).subspan(1);
    return site;
}

/// The thread that the firing's records tell of, as far as they do.
void Replay::set_thread() {
    auto value = [this](std::optional<uint32_t> slot) -> uint64_t {
        if (!slot || !(slots_[formats::presence_word(*slot)] & formats::presence_bit(*slot)))
            return 0;
        return slots_[*slot];
    };
    sim::SimThread thread;
    const Route& route = route_of(main_record());
    thread.pid = static_cast<uint32_t>(user_stack_.empty() ? value(route.pid) : user_stack_[0]);
    thread.tid = static_cast<uint32_t>(value(route.tid));
    thread.ppid = static_cast<uint32_t>(value(route.ppid));
    thread.uid = static_cast<uint32_t>(value(route.uid));
    thread.gid = static_cast<uint32_t>(value(route.gid));
    uint64_t name = value(route.execname);
    thread.set_execname(name ? reinterpret_cast<const char*>(name) : "");
    thread.key = thread.tid != 0 ? thread.tid : kIdleKeys + firing_.front().cpu;
    host_->set_thread(thread);
}

/// Whether a tick-N was recorded now and then only: the timer fires in between.
bool Replay::is_filled_in(uint32_t id) const {
    const sim::SimProbe& probe = *probes_.at(id);
    return probe.timer && !probe.timer->every_cpu && table_.probes().at(id).is_conditional;
}

/// Finds when the ticks that are filled in were recorded.
void Replay::find_ticks() {
    std::set<uint32_t> filled_in;
    for (const auto& [id, probe] : probes_)
        if (is_filled_in(id))
            filled_in.insert(id);
    if (filled_in.empty())
        return;
    YieldedEcbs yielded(recording_.rings.size());
    for (size_t ring = 0; ring < yielded.size(); ring++)
        for (const formats::EcbInfo& ecb : recording_.rings[ring].ecbs.all())
            yielded[ring].push_back(ring == ring_index_ && filled_in.contains(ecb.probe_id));
    MergeOptions options;
    options.order = MergeOrder::made;
    options.yielded = &yielded;
    RecordMerge merge(recording_, options);
    for (MergedRecord merged; merge.next(merged); merge.give_back())
        ticks_[merged.record.ecb->probe_id].push_back(ring_.clock.mono_ns(merged.record.ticks));
}

/// Whether a timer that is due then was recorded, by half its interval: its record fires it.
bool Replay::is_recorded_tick(uint64_t due_ns) {
    for (auto& [id, times] : ticks_) {
        sim::SimProbe& probe = *probes_.at(id);
        uint64_t interval_ns = probe.timer->interval_ns;
        if (probe.due_mono_ns != due_ns)
            continue;
        auto near = std::lower_bound(times.begin(), times.end(),
                                     due_ns - std::min(due_ns, interval_ns / 2));
        if (near == times.end() || *near > due_ns + interval_ns / 2)
            continue;
        probe.due_mono_ns += interval_ns;
        return true;
    }
    return false;
}

const Replay::Route& Replay::route_of(const MergedRecord& merged) const {
    return routes_[static_cast<size_t>(merged.record.ecb - ring_.ecbs.all().data())];
}

/// The first of the firing's records that is of its probe: faults of its clauses stand among them.
const MergedRecord& Replay::main_record() const {
    auto own = std::ranges::find_if(
        firing_, [this](const MergedRecord& merged) { return route_of(merged).probe != nullptr; });
    return own == firing_.end() ? firing_.front() : *own;
}

void Replay::make_routes() {
    for (const formats::EcbInfo& ecb : ring_.ecbs.all()) {
        Route& route = routes_.emplace_back();
        auto captured = table_.probes().find(ecb.probe_id);
        if (captured == table_.probes().end())
            continue;
        const CapturedProbe& values = captured->second;
        route.captured = &values;
        route.pid = values.slot_of("pid");
        route.tid = values.slot_of("tid");
        route.ppid = values.slot_of("ppid");
        route.uid = values.slot_of("uid");
        route.gid = values.slot_of("gid");
        route.execname = values.slot_of("execname");
        bool is_own = is_of_engine(captured->second.info);
        route.is_begin = is_own && captured->second.info.name == "BEGIN";
        route.is_end = is_own && captured->second.info.name == "END";
        if (auto probe = probes_.find(ecb.probe_id); probe != probes_.end())
            route.probe = probe->second;
    }
}

/// Lets time pass up to a record: timers that are due fire.
void Replay::pass_time(uint64_t mono_ns, LiveReport& report) {
    sim::SimEnd end = sim::SimEnd::idle;
    for (; !is_over(); next_timer_ns_ = host_->next_timer_mono_ns()) {
        if (!next_timer_ns_ || *next_timer_ns_ > mono_ns)
            break;
        if (is_recorded_tick(*next_timer_ns_))
            continue;
        host_->set_thread({0, 0, 0, 0, 0, {}, kIdleKeys, false});
        clear();
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
    return since_poll_ >= kFiringsPerPoll || bytes - bytes_polled_[cpu] >= kBytesPerPoll;
}

void Replay::poll(LiveReport& report) {
    since_poll_ = 0;
    for (uint32_t cpu = 0; cpu < host_->cpu_count(); cpu++)
        bytes_polled_[cpu] = dbk_consumer_counters(simulation_->consumer(), cpu)->bytes;
    if (options_.progress)
        options_.progress(records_);
    report.add(simulation_->poll(), sim::Simulation::kAll);
    was_interrupted_ = was_interrupted_ || (options_.interrupted && options_.interrupted());
}

/// Fires BEGIN, with what was recorded of it if that is the firing at hand.
base::Result<void> Replay::begin(bool has_record) {
    has_started_ = true;
    clear();
    if (has_record)
        fill_all();
    DBK_TRY_VOID(simulation_->start());
    next_timer_ns_ = host_->next_timer_mono_ns();
    host_->set_own_site({});
    return {};
}

/// Fires the probe of the records that were gathered.
base::Result<void> Replay::fire(LiveReport& report) {
    const MergedRecord& first = main_record();
    uint64_t mono_ns = ring_.clock.mono_ns(first.record.ticks);
    const Route& route = route_of(first);
    if (!options_.window.has(mono_ns))
        return {};
    records_ += firing_.size();
    if (!has_started_) {
        DBK_TRY_VOID(begin(route.is_begin));
        if (route.is_begin)
            return {};
    }
    bool has_anchor = !route.captured || route.captured->anchor_epids.empty() ||
                      std::ranges::any_of(firing_, [&](const MergedRecord& merged) {
                          return route.captured->anchor_epids.contains(merged.record.epid);
                      });
    pass_time(mono_ns, report);
    clear();
    fill_all();
    if (route.probe && has_anchor && !is_over()) {
        host_->set_cpu(first.cpu);
        simulation_->fire(*route.probe, slots_, site());
        firings_++;
    }
    since_poll_++;
    if (is_poll_due())
        poll(report);
    return {};
}

/// After exit() END finds what was recorded of it, if it is not far: other CPUs went on a while.
void Replay::find_end(RecordMerge& merge) {
    bool has_more = true;
    MergedRecord merged;
    for (uint64_t left = kRecordsToEnd; left > 0 && has_more && is_over(); left--) {
        has_more = merge.next(merged);
        bool is_whole = !firing_.empty() && !(has_more && is_one_firing(firing_.back(), merged));
        if (is_whole && route_of(firing_.front()).is_end) {
            uint64_t mono_ns = ring_.clock.mono_ns(firing_.front().record.ticks);
            if (options_.window.has(mono_ns)) {
                clear();
                fill_all();
                host_->clock().advance_to(mono_ns);
            }
            return;
        }
        if (is_whole) {
            firing_.clear();
            merge.give_back();
        }
        firing_.push_back(merged);
    }
}

base::Result<void> Replay::run(base::ByteView dof, LiveReport& report) {
    DBK_TRY_VOID(make_host());
    sim::SimulationOptions options;
    options.name = "replay";
    options.release = options_.release;
    options.destructive = options_.destructive;
    options.aggregate_default = DBK_AGGREGATE_RECORD;
    options.time_limit_ns = UINT64_MAX / 2;
    options.timer_firings_max = options_.timer_firings_max;
    options.outside_reader = true;
    DBK_TRY(simulation_, sim::Simulation::load(*host_, dof, options));
    for (const auto& [id, probe] : probes_)
        if (!is_filled_in(id))
            sim::SimHost::disarm(*probe); // recorded timers fire when their records say

    make_routes();
    find_ticks();
    MergeOptions merge_options;
    merge_options.order = MergeOrder::made;
    if (options_.window.is_set())
        merge_options.is_wanted = [this](const auto& ring, uint64_t min_ticks, uint64_t max_ticks) {
            return options_.window.overlaps(ring.clock.mono_ns(min_ticks),
                                            ring.clock.mono_ns(max_ticks));
        };
    RecordMerge merge(recording_, merge_options);
    for (MergedRecord merged; !is_over() && merge.next(merged);) {
        if (merged.ring != ring_index_)
            continue;
        if (!firing_.empty() && !is_one_firing(firing_.back(), merged)) {
            DBK_TRY_VOID(fire(report));
            firing_.clear();
            merge.give_back();
        }
        firing_.push_back(merged);
    }
    if (!firing_.empty() && !is_over())
        DBK_TRY_VOID(fire(report));
    if (!has_started_)
        DBK_TRY_VOID(begin(false));
    find_end(merge);
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
