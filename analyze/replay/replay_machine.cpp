// SPDX-License-Identifier: Apache-2.0
//
// ReplayMachine: the bare machine that a replay's program runs on, with the program loaded.
#include "analyze/replay/replay_machine.hpp"

#include "analyze/replay/recorded_ticks.hpp"
#include "analyze/symbols/unwind.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// Threads of a boot have keys of their own: ids, and what lies beyond them for idle CPUs.
constexpr uint64_t kIdleKeys = uint64_t{1} << 40;
constexpr uint64_t kBootKeys = uint64_t{1} << 41;

} // namespace

ReplayMachine::ReplayMachine(const ReplayedProbes& probes)
    : replayed_(probes), recordings_(probes.recordings()), capture_slots_(probes.slots()),
      slots_(capture_slots_), probes_(recordings_.size()) {
    make_names();
}

base::Result<std::unique_ptr<ReplayMachine>> ReplayMachine::create(const ReplayedProbes& probes,
                                                                   uint64_t begin_ns,
                                                                   const Options& options,
                                                                   base::ByteView dof) {
    std::unique_ptr<ReplayMachine> machine(new ReplayMachine(probes));
    machine->places_ = options.places;
    machine->places_stacks_ = options.places && options.places_stacks;
    DBK_TRY_VOID(machine->make_host(begin_ns));
    DBK_TRY_VOID(machine->add_probes());
    DBK_TRY_VOID(machine->load(options, dof));
    if (probes.is_of_several())
        machine->leave(begin_ns);
    else
        machine->enter(0, begin_ns);
    return machine;
}

void ReplayMachine::make_names() {
    std::vector<std::pair<size_t, size_t>> places;
    auto add = [&](const std::string& vmname, const std::string& bootid) {
        size_t at = names_.size();
        places.emplace_back(at, at + vmname.size() + 1);
        names_ += vmname + '\0' + bootid + '\0';
    };
    for (const ReplayedRecording& one : recordings_)
        add(one.vmname, one.bootid);
    add("", "");
    auto begin = reinterpret_cast<uintptr_t>(names_.data());
    for (auto [vmname, bootid] : places)
        names_at_.push_back({begin + vmname, begin + bootid});
}

uint32_t ReplayMachine::cpus_of(std::span<const ReplayedRecording> recordings) {
    uint32_t count = 1;
    for (const ReplayedRecording& one : recordings)
        for (const formats::CpuInfo& cpu : one.ring().cpus)
            count = std::max<uint32_t>(count, cpu.cpu + 1);
    return count;
}

base::Result<void> ReplayMachine::make_host(uint64_t begin_ns) {
    sim::BareHostConfig config;
    config.cpu_count = cpus_of(recordings_);
    config.start_mono_ns = begin_ns;
    // The wall clock of no machine is that of the recording whose own time is the common one.
    const ReplayedRecording& common =
        *std::ranges::min_element(recordings_, {}, &ReplayedRecording::shift_ns);
    config.start_wall_ns = common.ring().clock.wall_ns(common.own_ns(begin_ns));
    config.still_clock = true;
    DBK_TRY(host_, sim::BareHost::create(config));
    set_no_thread();
    host_->kernel_memory().add_own(slots_.arena().data(), slots_.arena().size());
    host_->kernel_memory().add_own(names_.data(), names_.size());
    host_->set_more_args(slots_.all());
    host_->set_texts(slots_.arena());
    if (places_)
        host_->set_places([this](uint64_t address, bool is_of_process) {
            return !is_of_recording_ ? address
                   : is_of_process   ? places_->user(boot_, host_->thread().pid, address, own_ns_)
                                     : places_->kernel(boot_, address);
        });
    return {};
}

/// Makes the recorded probes, under the ids that the program has for them.
base::Result<void> ReplayMachine::add_probes() {
    std::map<uint32_t, sim::SimProbe*> added;
    for (const auto& [id, probe] : replayed_.all()) {
        if (probe.captured && probe.captured->is_of_engine())
            continue;
        const formats::ProbeInfo& info = probe.info;
        host_->number_probes_from(id);
        DBK_TRY(added[id], host_->add_probe({info.provider, info.module, info.function, info.name},
                                            DBK_PROBE_ARGS_MAX));
        if (!probe.captured)
            timers_.push_back(added[id]);
    }
    for (size_t i = 0; i < recordings_.size(); i++)
        for (const auto& [recorded_id, captured] : recordings_[i].table->probes())
            if (auto one = added.find(replayed_.id_of(i, recorded_id)); one != added.end())
                probes_[i][recorded_id] = one->second;
    return {};
}

base::Result<void> ReplayMachine::load(const Options& options, base::ByteView dof) {
    sim::SimulationOptions how;
    how.name = "replay";
    how.release = options.release;
    how.destructive = options.destructive;
    how.aggregate_default = DBK_AGGREGATE_RECORD;
    how.time_limit_ns = UINT64_MAX / 2;
    how.timer_firings_max = options.timer_firings_max;
    how.outside_reader = how.reads_late = true;
    how.args = static_cast<uint32_t>(slots_.all().size());
    DBK_TRY(simulation_, sim::Simulation::load(*host_, dof, how));
    for (size_t i = 0; i < recordings_.size(); i++)
        for (const auto& [id, probe] : probes_[i])
            if (replayed_.is_of_several() ||
                !RecordedTicks::is_filled_in(*recordings_[i].table, id, *probe))
                sim::BareHost::disarm(*probe); // recorded timers fire when their records say
    return {};
}

void ReplayMachine::enter(size_t recording, uint64_t own_ns) {
    slots_.set(capture_slots_.vmname(), names_at_[recording].vmname);
    slots_.set(capture_slots_.bootid(), names_at_[recording].bootid);
    slots_.set(capture_slots_.target(), recordings_[recording].target);
    slots_.set(capture_slots_.machine_word(), replayed_.machine_bits(recording));
    slots_.set(capture_slots_.timestamp(), own_ns);
    slots_.set(capture_slots_.walltimestamp(), recordings_[recording].ring().clock.wall_ns(own_ns));
}

void ReplayMachine::leave(uint64_t common_ns) {
    is_of_recording_ = false;
    if (!replayed_.is_of_several())
        return;
    const Names& names = replayed_.is_of_boots() ? names_at_.back() : names_at_[0];
    slots_.set(capture_slots_.vmname(), names.vmname);
    slots_.set(capture_slots_.bootid(), names.bootid);
    slots_.set(capture_slots_.target(), 0);
    slots_.set(capture_slots_.machine_word(), 0);
    slots_.set(capture_slots_.timestamp(), common_ns);
    slots_.set(capture_slots_.walltimestamp(), host_->clock().wall_ns_at(common_ns));
}

void ReplayMachine::take(const FiringReader& reader, size_t recording) {
    if (replayed_.is_of_several())
        enter(recording, reader.mono_ns());
    host_->set_cpu(reader.main().cpu);
    const CaptureTable& table = *recordings_[recording].table;
    for (const MergedRecord& merged : reader.records())
        slots_.fill(table, reader.ecb_of(merged), merged.record);
    set_thread(reader, recording);
    boot_ = recordings_[recording].boot;
    own_ns_ = reader.mono_ns();
    is_of_recording_ = true;
    if (places_stacks_)
        place_stacks();
    if (slots_.has_stack() || has_site_) {
        host_->set_own_site(slots_.site());
        has_site_ = slots_.has_stack();
        set_user_bytes();
    }
}

/// What was recorded of the stack lies where it lay.
void ReplayMachine::set_user_bytes() {
    if (user_bytes_at_)
        host_->user_memory().unmap(*user_bytes_at_);
    user_bytes_at_.reset();
    if (slots_.user_bytes().empty())
        return;
    user_bytes_at_ = slots_.user_bytes_at();
    host_->user_memory().map(*user_bytes_at_,
                             {slots_.user_bytes().begin(), slots_.user_bytes().end()});
}

/// Where addresses become places nothing can be unwound later: a stack is here what its bytes lead
/// to, if that is further.
void ReplayMachine::place_stacks() {
    for (uint64_t& address : slots_.kernel_stack())
        address = places_->kernel(boot_, address);
    auto pid = slots_.process();
    if (!pid)
        return;
    if (!slots_.user_stack().empty() && !slots_.user_registers().empty()) {
        RecordedThread thread{std::as_bytes(slots_.user_registers()), slots_.user_bytes(),
                              DBK_STACKFRAMES_MAX};
        UnwoundStack unwound = places_->unwind(boot_, *pid, thread, own_ns_);
        if (longer_way(slots_.user_stack(), unwound, DBK_STACKFRAMES_MAX) == StackWay::tables)
            slots_.set_user_stack(unwound.frames);
    }
    for (uint64_t& address : slots_.user_stack())
        address = places_->user(boot_, *pid, address, own_ns_);
}

/// The thread that the firing's records tell of, as far as the engine itself asks: clauses have its
/// name and user in slots.
void ReplayMachine::set_thread(const FiringReader& reader, size_t recording) {
    const Route& route = reader.route();
    uint64_t pid = slots_.process().value_or(slots_.value(route.pid));
    auto tid = static_cast<uint32_t>(slots_.value(route.tid));
    uint64_t key = tid != 0 ? tid : kIdleKeys + reader.main().cpu;
    host_->set_thread(static_cast<uint32_t>(pid), tid,
                      key + recordings_[recording].boot * kBootKeys);
}

void ReplayMachine::set_no_thread() {
    size_t boot = replayed_.is_of_several() ? recordings_.size() : 0;
    host_->set_thread({0, 0, 0, 0, 0, {}, kIdleKeys + boot * kBootKeys, false});
}

uint64_t ReplayMachine::drops() const {
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < host_->cpu_count(); cpu++)
        for (uint64_t drops : dbk_consumer_counters(simulation_->consumer(), cpu)->drops)
            sum += drops;
    return sum;
}

} // namespace daybreak::analyze
