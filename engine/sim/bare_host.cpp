// SPDX-License-Identifier: Apache-2.0
//
// BareHost: memory, time and the current thread for the engine, in one thread.
#include "engine/sim/bare_host.hpp"

#include "engine/sim/process_memory.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::sim {

using base::errorf;

void SimThread::set_execname(std::string_view name) {
    execname.fill('\0');
    std::memcpy(execname.data(), name.data(), std::min(name.size(), execname.size() - 1));
}

namespace {

constexpr uint64_t kAnySymbol = 0xffffffff81000000;

VirtualClockConfig clock_config(const BareHostConfig& config) {
    VirtualClockConfig clock{.tsc = config.tsc, .seed = config.seed, .still = config.still_clock};
    if (config.start_mono_ns != 0)
        clock.start_mono_ns = config.start_mono_ns;
    if (config.start_wall_ns != 0)
        clock.start_wall_ns = config.start_wall_ns;
    return clock;
}

} // namespace

BareHost::BareHost(const BareHostConfig& config)
    : config_(config), boot_id_(SeededRandom(config.seed).next()), clock_(clock_config(config)),
      random_(config.seed + 1), secrets_(config.seed + 2), thread_(config.thread),
      is_plain_(config.still_clock) {
    bare_.owner = this;
    bare_.still = config.still_clock && !config.tsc;
    bare_.now_ns = clock_.now();
    bare_.thread_key = thread_.key;
    if (config.boot_uuid == std::array<uint8_t, 16>{})
        std::memcpy(config_.boot_uuid.data(), &boot_id_, sizeof(boot_id_));
    else
        std::memcpy(&boot_id_, config.boot_uuid.data(), sizeof(boot_id_));
    kernel_memory_.allow_image();
    kernel_memory_.add_own(thread_.execname.data(), thread_.execname.size());
}

Result<std::unique_ptr<BareHost>> BareHost::create(const BareHostConfig& config) {
    std::unique_ptr<BareHost> host(new BareHost(config));
    DBK_TRY_VOID(host->start());
    return host;
}

Result<void> BareHost::start() {
    HostScope scope(*this);
    dbk_engine_config engine_config{};
    engine_config.cpu_count = config_.cpu_count;
    engine_config.clock = config_.tsc ? DBK_CLOCK_TSC : DBK_CLOCK_MONO_NS;
    engine_config.ticks_per_second = clock_.ticks_per_second();
    engine_config.boot_id = boot_id_;
    engine_ = dbk_engine_create(&engine_config);
    if (engine_ == nullptr)
        return errorf(ErrorCode::limit, "no engine for %u CPUs: there is 1 to %u, and memory",
                      config_.cpu_count, DBK_CPUS_MAX);
    for (uint32_t cpu = 0; cpu < config_.cpu_count; cpu++)
        if (!dbk_engine_cpu_up(engine_, cpu))
            return errorf(ErrorCode::limit, "no memory for CPU %u", cpu);
    return {};
}

BareHost::~BareHost() {
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

Result<SimProbe*> BareHost::add_probe(SimProbeName name, uint8_t arg_count) {
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

void BareHost::forget(std::vector<std::unique_ptr<SimProbe>>::iterator probe) {
    const SimProbeName& text = (*probe)->text;
    for (const std::string* part : {&text.provider, &text.module, &text.function, &text.name})
        kernel_memory_.remove_own(part->c_str());
    probes_.erase(probe);
}

void BareHost::remove_probe(SimProbe* probe) {
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

Result<void> BareHost::make_named(const dbk_probedesc& description) {
    if (description.id != 0 || !names_timer(description))
        return {};
    for (const auto& probe : probes_)
        if (probe->timer && probe->text.name == description.name)
            return {};
    DBK_TRY(SimProbe * made, add_probe({"profile", "", "", description.name}, 2));
    static_cast<void>(made);
    return {};
}

void BareHost::fire_with_time(SimProbe& probe, std::span<const uint64_t> args,
                              const SimSite& site) {
    HostScope scope(*this);
    std::array<uint64_t, DBK_PROBE_ARGS_MAX> words;
    const uint64_t* first = args.data();
    if (args.size() < words.size()) {
        words.fill(0);
        std::ranges::copy(args, words.begin());
        first = words.data();
    }
    clock_.pass_firing();
    firings_++;
    ipl_ = site.ipl;
    dbk_probe_fire(&probe.probe, first, const_cast<SimSite*>(&site));
    ipl_ = 0;
}

void BareHost::miss(SimProbe& probe, uint32_t count) {
    HostScope scope(*this);
    dbk_probe_missed(&probe.probe, count);
}

void BareHost::arm(SimProbe& probe) {
    if (probe.timer)
        probe.due_mono_ns = clock_.now_mono_ns() + probe.timer->interval_ns;
}

std::vector<SimProbe*> BareHost::armed_profiles() {
    std::vector<SimProbe*> armed;
    for (const auto& probe : probes_)
        if (probe->due_mono_ns != 0 && probe->timer->every_cpu)
            armed.push_back(probe.get());
    return armed;
}

void BareHost::restart_timers() {
    for (const auto& probe : probes_)
        if (probe->due_mono_ns != 0)
            probe->due_mono_ns = clock_.now_mono_ns() + probe->timer->interval_ns;
}

std::optional<uint64_t> BareHost::next_timer_mono_ns() const {
    std::optional<uint64_t> earliest;
    for (const auto& probe : probes_)
        if (probe->due_mono_ns != 0 && (!earliest || probe->due_mono_ns < *earliest))
            earliest = probe->due_mono_ns;
    return earliest;
}

void BareHost::fire_next_timer() {
    auto earliest = next_timer_mono_ns();
    if (!earliest)
        return;
    auto due = std::find_if(probes_.begin(), probes_.end(), [earliest](const auto& probe) {
        return probe->due_mono_ns == *earliest;
    });
    SimProbe& probe = **due;
    clock_.advance_to(*earliest);
    probe.due_mono_ns += probe.timer->interval_ns;
    uint32_t cpu_before = bare_.cpu;
    for (uint32_t cpu = 0; cpu < (probe.timer->every_cpu ? config_.cpu_count : 1); cpu++) {
        set_cpu(cpu);
        fire_timer(probe);
    }
    set_cpu(cpu_before);
}

/// The timer is this process's own, and interrupts no code of a kernel.
void BareHost::fire_timer(SimProbe& probe) {
    const uint64_t args[] = {0, 0};
    fire(probe, args, {.ipl = kTimerIpl});
}

uint64_t BareHost::symbol(const char*) const {
    return kAnySymbol;
}

const dbk_kernel_layout& BareHost::layout() const {
    static const dbk_kernel_layout kNone{};
    return kNone;
}

bool BareHost::load(void* to, uint64_t address, uint32_t bytes) {
    return kernel_memory_.load(to, address, bytes);
}

int32_t BareHost::load_string(char* to, uint64_t address, uint32_t bytes) {
    return kernel_memory_.load_string(to, address, bytes);
}

bool BareHost::load_user(void* to, uint64_t address, uint32_t bytes) {
    return thread().is_real ? load_process(thread().pid, to, address, bytes)
                            : user_memory_.load(to, address, bytes);
}

int32_t BareHost::load_user_string(char* to, uint64_t address, uint32_t bytes) {
    return thread().is_real ? load_process_string(thread().pid, to, address, bytes)
                            : user_memory_.load_string(to, address, bytes);
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
