// SPDX-License-Identifier: Apache-2.0
//
// SimHost: a whole machine for the engine, in one thread and from one seed.
#include "engine/sim/sim_host.hpp"

#include "engine/sim/sim_kernel.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::sim {

using base::errorf;

void SimThread::set_execname(std::string_view name) {
    execname.fill('\0');
    std::memcpy(execname.data(), name.data(), std::min(name.size(), execname.size() - 1));
}

namespace {

constexpr uint64_t kIdleKey = uint64_t{1} << 40; ///< above those of threads, which are their ids

VirtualClockConfig clock_config(const SimHostConfig& config) {
    VirtualClockConfig clock{.tsc = config.tsc, .seed = config.seed, .still = config.still_clock};
    if (config.start_mono_ns != 0)
        clock.start_mono_ns = config.start_mono_ns;
    if (config.start_wall_ns != 0)
        clock.start_wall_ns = config.start_wall_ns;
    return clock;
}

} // namespace

SimHost::SimHost(const SimHostConfig& config)
    : config_(config), boot_id_(SeededRandom(config.seed).next()), clock_(clock_config(config)),
      random_(config.seed + 1), secrets_(config.seed + 2), thread_(config.thread),
      faults_(config.faults) {
    bare_.still = config.still_clock && !config.tsc;
    is_plain_ = config.still_clock && config.faults == SimFaults{};
    bare_.now_ns = clock_.now();
    bare_.thread_key = thread_.key;
    if (config.boot_uuid == std::array<uint8_t, 16>{})
        std::memcpy(config_.boot_uuid.data(), &boot_id_, sizeof(boot_id_));
    else
        std::memcpy(&boot_id_, config.boot_uuid.data(), sizeof(boot_id_));
    kernel_memory_.allow_image();
    idle_thread_ = SimThread{0, 0, 0, 0, 0, {}, kIdleKey};
    idle_thread_.set_execname("swapper/0");
    for (const SimThread* thread : {&thread_, &idle_thread_})
        kernel_memory_.add_own(thread->execname.data(), thread->execname.size());
    if (!config.kernel)
        return;
    for (const KernelVariable& variable : kernel_variables()) {
        auto* bytes = reinterpret_cast<const std::byte*>(variable.bytes.data());
        kernel_memory_.map(variable.address, {bytes, bytes + variable.bytes.size()});
    }
    std::vector<std::byte> cpus(sizeof(config.cpu_count));
    std::memcpy(cpus.data(), &config.cpu_count, cpus.size());
    kernel_memory_.map(kernel_symbol("nr_cpu_ids"), std::move(cpus));
}

Result<std::unique_ptr<SimHost>> SimHost::create(const SimHostConfig& config) {
    std::unique_ptr<SimHost> host(new SimHost(config));
    HostScope scope(*host);
    dbk_engine_config engine_config{};
    engine_config.cpu_count = config.cpu_count;
    engine_config.clock = config.tsc ? DBK_CLOCK_TSC : DBK_CLOCK_MONO_NS;
    engine_config.ticks_per_second = host->clock_.ticks_per_second();
    engine_config.boot_id = host->boot_id_;
    host->engine_ = dbk_engine_create(&engine_config);
    if (host->engine_ == nullptr)
        return errorf(ErrorCode::limit, "no engine for %u CPUs: there is 1 to %u, and memory",
                      config.cpu_count, DBK_CPUS_MAX);
    for (uint32_t cpu = 0; cpu < config.cpu_count; cpu++)
        if (!dbk_engine_cpu_up(host->engine_, cpu))
            return errorf(ErrorCode::limit, "no memory for CPU %u", cpu);
    return host;
}

SimHost::~SimHost() {
    HostScope scope(*this);
    if (engine_ != nullptr) {
        // At once: the engine goes through all of them to remove any.
        std::vector<dbk_probe*> probes;
        for (const auto& probe : probes_)
            probes.push_back(&probe->probe);
        dbk_probe_remove_many(engine_, probes.data(), static_cast<uint32_t>(probes.size()));
        dbk_engine_destroy(engine_);
    }
    DBK_ASSERT(allocations_alive_ == 0);
}

void SimHost::set_faults(const SimFaults& faults) {
    faults_ = faults;
    is_plain_ = false;
    fault_allocations_ = fault_loads_ = fault_firings_ = fault_enables_ = 0;
}

Result<SimProbe*> SimHost::add_probe(SimProbeName name, uint8_t arg_count) {
    HostScope scope(*this);
    auto probe = std::make_unique<SimProbe>();
    probe->text = std::move(name);
    const SimProbeName& text = probe->text;
    probe->probe.provider = text.provider.c_str();
    probe->probe.module = text.module.c_str();
    probe->probe.function = text.function.c_str();
    probe->probe.name = text.name.c_str();
    probe->probe.host_data = probe.get();
    dbk_probe_args_in_order(&probe->probe, arg_count);
    for (const std::string* part : {&text.provider, &text.module, &text.function, &text.name})
        kernel_memory_.add_own(part->c_str(), part->size() + 1);
    if (text.provider == "profile")
        probe->timer = parse_profile_name(text.name);
    SimProbe* added = probe.get();
    probes_.push_back(std::move(probe));
    int error = dbk_probe_add(engine_, &added->probe);
    if (error == 0)
        return added;
    Error refused =
        errorf(ErrorCode::invalid, "probe %s:%s:%s:%s: %s", text.provider.c_str(),
               text.module.c_str(), text.function.c_str(), text.name.c_str(), strerror(-error));
    if (error == -EINVAL) // not published; without memory it is, and only ECBs are missing
        forget(probes_.end() - 1);
    return refused;
}

void SimHost::forget(std::vector<std::unique_ptr<SimProbe>>::iterator probe) {
    const SimProbeName& text = (*probe)->text;
    for (const std::string* part : {&text.provider, &text.module, &text.function, &text.name})
        kernel_memory_.remove_own(part->c_str());
    probes_.erase(probe);
}

void SimHost::remove_probe(SimProbe* probe) {
    HostScope scope(*this);
    auto found = std::find_if(probes_.begin(), probes_.end(),
                              [probe](const auto& owned) { return owned.get() == probe; });
    DBK_ASSERT(found != probes_.end());
    dbk_probe_remove(engine_, &probe->probe);
    forget(found);
}

namespace {

// Whether a description with that name, and no others, can mean a probe of the profile provider.
bool names_timer(const dbk_probedesc& description) {
    return parse_profile_name(description.name) &&
           dbk_glob_match(description.provider, "profile") &&
           dbk_glob_match(description.module, "") && dbk_glob_match(description.function, "");
}

bool matches(const dbk_probedesc& description, const SimProbeName& name) {
    return dbk_glob_match(description.provider, name.provider.c_str()) &&
           dbk_glob_match(description.module, name.module.c_str()) &&
           dbk_glob_match(description.function, name.function.c_str()) &&
           dbk_glob_match(description.name, name.name.c_str());
}

} // namespace

Result<void> SimHost::make_named(const dbk_probedesc& description) {
    if (description.id != 0 || !names_timer(description))
        return {};
    for (const auto& probe : probes_)
        if (probe->timer && probe->text.name == description.name)
            return {};
    DBK_TRY(SimProbe * made, add_probe({"profile", "", "", description.name}, 2));
    static_cast<void>(made);
    return {};
}

void SimHost::fire_simulated(SimProbe& probe, std::span<const uint64_t> args, const SimSite& site) {
    HostScope scope(*this);
    std::array<uint64_t, DBK_PROBE_ARGS_MAX> words;
    const uint64_t* first = args.data();
    if (args.size() < words.size()) {
        words.fill(0);
        std::ranges::copy(args, words.begin());
        first = words.data();
    }
    clock_.pass_firing();
    if (faults_.miss_every != 0 && ++fault_misses_ % faults_.miss_every == 0) {
        dbk_probe_missed(engine_, &probe.probe, 1);
        return;
    }
    firings_++;
    if (faults_.nest_every != 0 && ++fault_firings_ % faults_.nest_every == 0)
        nested_probe_ = &probe.probe;
    ipl_ = site.ipl;
    dbk_probe_fire(engine_, &probe.probe, first, const_cast<SimSite*>(&site));
    ipl_ = 0;
    nested_probe_ = nullptr;
}

void SimHost::miss(SimProbe& probe, uint32_t count) {
    HostScope scope(*this);
    dbk_probe_missed(engine_, &probe.probe, count);
}

void SimHost::arm(SimProbe& probe) {
    if (probe.timer)
        probe.due_mono_ns = clock_.now_mono_ns() + probe.timer->interval_ns;
}

std::vector<SimProbe*> SimHost::armed_profiles() {
    std::vector<SimProbe*> armed;
    for (const auto& probe : probes_)
        if (probe->due_mono_ns != 0 && probe->timer->every_cpu)
            armed.push_back(probe.get());
    return armed;
}

void SimHost::restart_timers() {
    for (const auto& probe : probes_)
        if (probe->due_mono_ns != 0)
            probe->due_mono_ns = clock_.now_mono_ns() + probe->timer->interval_ns;
}

std::optional<uint64_t> SimHost::next_timer_mono_ns() const {
    std::optional<uint64_t> earliest;
    for (const auto& probe : probes_)
        if (probe->due_mono_ns != 0 && (!earliest || probe->due_mono_ns < *earliest))
            earliest = probe->due_mono_ns;
    return earliest;
}

void SimHost::fire_next_timer() {
    auto earliest = next_timer_mono_ns();
    if (!earliest)
        return;
    auto due = std::find_if(probes_.begin(), probes_.end(), [earliest](const auto& probe) {
        return probe->due_mono_ns == *earliest;
    });
    SimProbe& probe = **due;
    clock_.advance_to(*earliest);
    probe.due_mono_ns += probe.timer->interval_ns;
    SimSite site;
    site.ipl = 2; // a timer is a hard interrupt
    if (config_.kernel)
        site.kernel_stack = timer_stack();
    // The CPU was idle, in the kernel; without one the timer is this process's own.
    const uint64_t args[] = {config_.kernel ? site.kernel_stack[5] : 0, 0};
    uint32_t cpu_before = bare_.cpu;
    idle_ = config_.kernel;
    for (uint32_t cpu = 0; cpu < (probe.timer->every_cpu ? config_.cpu_count : 1); cpu++) {
        set_cpu(cpu);
        idle_thread_.set_execname("swapper/" + std::to_string(cpu));
        idle_thread_.key = kIdleKey + cpu; // each CPU has an idle thread of its own
        bare_.thread_key = thread().key;
        fire(probe, args, site);
    }
    idle_ = false;
    bare_.thread_key = thread_.key;
    set_cpu(cpu_before);
}

bool SimHost::allocation_fails() {
    DBK_ASSERT(bare_.depth == 0); // nothing is allocated while a probe fires
    allocations_++;
    if (faults_.alloc_at == 0)
        return false;
    fault_allocations_++;
    return fault_allocations_ == faults_.alloc_at ||
           (faults_.alloc_ever_after && fault_allocations_ > faults_.alloc_at);
}

bool SimHost::load_fails() {
    clock_.advance(faults_.load_ms * 1'000'000);
    return faults_.load_every != 0 && ++fault_loads_ % faults_.load_every == 0;
}

bool SimHost::stack_is_bad() {
    return faults_.stack_every != 0 && ++fault_stacks_ % faults_.stack_every == 0;
}

bool glob_match(const std::string& pattern, const std::string& name) {
    return dbk_glob_match(pattern.c_str(), name.c_str());
}

bool probe_can_exist(const dbk_probedesc& description, std::span<const SimProbeName> synthetic) {
    static const SimProbeName kOwn[] = {
        {"dtrace", "", "", "BEGIN"}, {"dtrace", "", "", "END"}, {"dtrace", "", "", "ERROR"}};
    auto matches_it = [&description](const SimProbeName& name) {
        return matches(description, name);
    };
    return names_timer(description) || std::any_of(std::begin(kOwn), std::end(kOwn), matches_it) ||
           std::any_of(synthetic.begin(), synthetic.end(), matches_it);
}

} // namespace daybreak::sim
