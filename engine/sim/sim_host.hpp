// SPDX-License-Identifier: Apache-2.0
//
// SimHost: a whole machine for the engine, in one thread and from one seed.
//
// It is a BareHost with the simulated kernel around it (sim_kernel.hpp: variables, symbols,
// stacks, registers, CPU times), and failures on order.  Timers find the CPU idle: process 0,
// "swapper/0", as on a machine that has nothing else to do.
#pragma once

#include "engine/sim/bare_host.hpp"

namespace daybreak::sim {

/// Failures on order; a count of 0 means never.
struct SimFaults {
    uint64_t alloc_at = 0;         ///< the n-th allocation from here on fails, once
    bool alloc_ever_after = false; ///< and all later ones
    uint64_t load_every = 0;       ///< every n-th load of foreign memory faults
    uint64_t load_ms = 0;          ///< how long each of them takes
    uint64_t nest_every = 0;       ///< inside every n-th firing the same probe fires again
    uint64_t miss_every = 0;       ///< every n-th firing does not come; the host counts that
    uint64_t stack_every = 0;      ///< in every n-th user stack a frame leads back to itself
    uint64_t enable_at = 0;        ///< the n-th dbk_host_probe_enable() is refused

    bool operator==(const SimFaults&) const = default;
};

class SimHost : public BareHost {
public:
    /// Failures are ordered from the first allocation on.  Error: as BareHost::create().
    static Result<std::unique_ptr<SimHost>> create(const BareHostConfig& config,
                                                   const SimFaults& faults = {});

    /// Setting it starts its counts anew.
    void set_faults(const SimFaults& faults);
    formats::SymbolTable symbols() const override;
    uint64_t kernel_text_start() const override;

    bool allocation_fails() override;
    bool enable_fails() override;
    void before_clock_reading() override;
    uint64_t symbol(const char* name) const override;
    uint64_t curthread() const override;
    uint64_t vtimestamp() override;
    bool user_register(uint64_t index, uint64_t& value_ret) const override;
    uint64_t bad_user_frame() override;
    const dbk_kernel_layout& layout() const override;
    bool load(void* to, uint64_t address, uint32_t bytes) override;
    int32_t load_string(char* to, uint64_t address, uint32_t bytes) override;
    bool load_user(void* to, uint64_t address, uint32_t bytes) override;
    int32_t load_user_string(char* to, uint64_t address, uint32_t bytes) override;

protected:
    void fire_with_time(SimProbe& probe, std::span<const uint64_t> args,
                        const SimSite& site) override;
    void fire_timer(SimProbe& probe) override;

private:
    SimHost(const BareHostConfig& config, const SimFaults& faults);
    bool load_fails();

    SimThread idle_thread_;
    SimFaults faults_;
    uint64_t fault_allocations_ = 0, fault_loads_ = 0, fault_firings_ = 0, fault_enables_ = 0;
    uint64_t fault_misses_ = 0, fault_stacks_ = 0;
    dbk_probe* nested_probe_ = nullptr; // to fire at the next clock reading inside a firing
};

} // namespace daybreak::sim
