// SPDX-License-Identifier: Apache-2.0
//
// SimHost: a whole machine for the engine, in one thread and from one seed.
#include "engine/sim/sim_host.hpp"

#include "engine/sim/sim_kernel.hpp"

#include <cstring>

namespace daybreak::sim {

namespace {

constexpr uint64_t kIdleKey = uint64_t{1} << 40; ///< above those of threads, which are their ids

} // namespace

SimHost::SimHost(const BareHostConfig& config, const SimFaults& faults)
    : BareHost(config), idle_thread_{0, 0, 0, 0, 0, {}, kIdleKey}, faults_(faults) {
    if (faults != SimFaults{})
        set_not_plain();
    idle_thread_.set_execname("swapper/0");
    kernel_memory().add_own(idle_thread_.execname.data(), idle_thread_.execname.size());
    for (const KernelVariable& variable : kernel_variables()) {
        auto* bytes = reinterpret_cast<const std::byte*>(variable.bytes.data());
        kernel_memory().map(variable.address, {bytes, bytes + variable.bytes.size()});
    }
    std::vector<std::byte> cpus(sizeof(config.cpu_count));
    std::memcpy(cpus.data(), &config.cpu_count, cpus.size());
    kernel_memory().map(kernel_symbol("nr_cpu_ids"), std::move(cpus));
    // The engine's own probes fire inside the consumer's ioctl.
    set_own_site({0, 0, syscall_stack(), user_stack()});
}

Result<std::unique_ptr<SimHost>> SimHost::create(const BareHostConfig& config,
                                                 const SimFaults& faults) {
    std::unique_ptr<SimHost> host(new SimHost(config, faults));
    DBK_TRY_VOID(host->start());
    return host;
}

void SimHost::set_faults(const SimFaults& faults) {
    faults_ = faults;
    set_not_plain();
    fault_allocations_ = fault_loads_ = fault_firings_ = fault_enables_ = 0;
}

formats::SymbolTable SimHost::symbols() const {
    return kernel_symbols();
}

uint64_t SimHost::kernel_text_start() const {
    return kKernelTextStart;
}

void SimHost::fire_with_time(SimProbe& probe, std::span<const uint64_t> args, const SimSite& site) {
    if (faults_.miss_every != 0 && ++fault_misses_ % faults_.miss_every == 0) {
        clock().pass_firing();
        return miss(probe, 1);
    }
    if (faults_.nest_every != 0 && ++fault_firings_ % faults_.nest_every == 0)
        nested_probe_ = &probe.probe;
    BareHost::fire_with_time(probe, args, site);
    nested_probe_ = nullptr;
}

/// The CPU was idle, in the kernel; each has an idle thread of its own.
void SimHost::fire_timer(SimProbe& probe) {
    idle_thread_.set_execname("swapper/" + std::to_string(cpu()));
    idle_thread_.key = kIdleKey + cpu();
    put_on_cpu(idle_thread_);
    const uint64_t args[] = {timer_stack()[5], 0};
    fire(probe, args, {.ipl = kTimerIpl, .kernel_stack = timer_stack()});
    put_back();
}

bool SimHost::allocation_fails() {
    if (faults_.alloc_at == 0)
        return false;
    fault_allocations_++;
    return fault_allocations_ == faults_.alloc_at ||
           (faults_.alloc_ever_after && fault_allocations_ > faults_.alloc_at);
}

bool SimHost::enable_fails() {
    return faults_.enable_at != 0 && ++fault_enables_ == faults_.enable_at;
}

/// The place where an ordered nested firing happens: inside the first reading of the clock.
void SimHost::before_clock_reading() {
    static const uint64_t kNoArgs[DBK_PROBE_ARGS_MAX] = {};
    if (nested_probe_ != nullptr && is_firing())
        dbk_probe_fire(std::exchange(nested_probe_, nullptr), kNoArgs, nullptr);
}

uint64_t SimHost::symbol(const char* name) const {
    return kernel_symbol(name);
}

uint64_t SimHost::curthread() const {
    return kCurthreadAddress;
}

/// The one thread has run since the simulated boot.
uint64_t SimHost::vtimestamp() {
    return clock().read_mono_ns();
}

/// A register holds its own index: enough to see that the right one was read.
bool SimHost::user_register(uint64_t index, uint64_t& value_ret) const {
    value_ret = index;
    return index < kUserRegisterCount;
}

uint64_t SimHost::bad_user_frame() {
    bool bad = faults_.stack_every != 0 && ++fault_stacks_ % faults_.stack_every == 0;
    return bad ? kBadFrameAddress : 0;
}

const dbk_kernel_layout& SimHost::layout() const {
    return kernel_layout();
}

bool SimHost::load_fails() {
    clock().advance(faults_.load_ms * 1'000'000);
    return faults_.load_every != 0 && ++fault_loads_ % faults_.load_every == 0;
}

bool SimHost::load(void* to, uint64_t address, uint32_t bytes) {
    return !load_fails() && BareHost::load(to, address, bytes);
}

int32_t SimHost::load_string(char* to, uint64_t address, uint32_t bytes) {
    return load_fails() ? -1 : BareHost::load_string(to, address, bytes);
}

bool SimHost::load_user(void* to, uint64_t address, uint32_t bytes) {
    return !load_fails() && BareHost::load_user(to, address, bytes);
}

int32_t SimHost::load_user_string(char* to, uint64_t address, uint32_t bytes) {
    return load_fails() ? -1 : BareHost::load_user_string(to, address, bytes);
}

} // namespace daybreak::sim
