// SPDX-License-Identifier: Apache-2.0
//
// SimMachine: what a simulated machine has beside the probes that a program names: the probes of
// profile that always exist, one pair for each system call, those of processes; and a few
// simulated processes that make system calls, so that these probes fire.
//
// Only a machine that is traced works: no process acts while no probe of syscall is
// enabled.
#pragma once

#include "engine/sim/simulation.hpp"
#include "engine/sim/syscalls.hpp"

namespace daybreak::sim {

/// A system call that a real or simulated process makes.
struct SimCall {
    uint32_t number = 0;
    std::array<uint64_t, 6> args{};
    int64_t result = 0; ///< as the kernel returns it: an errno is negative
};

/// Probes of processes.
enum class SimProcEvent : uint8_t { create, exec_success, exit, start };

class SimMachine {
public:
    /// Publishes the probes on the host, which must outlive the machine.  Errors: as add_probe().
    static Result<std::unique_ptr<SimMachine>> create(BareHost& host, uint64_t seed);

    /// Whether a probe of the provider syscall, or of proc, has an ECB.
    bool wants_calls() const;
    bool wants_processes() const;

    /// Fires the entry or return probe of a call that `thread` makes.
    void fire_entry(Simulation& simulation, const SimThread& thread, const SimCall& call);
    void fire_return(Simulation& simulation, const SimThread& thread, const SimCall& call);
    void fire_process(Simulation& simulation, const SimThread& thread, SimProcEvent event,
                      uint64_t arg0);

    /// Lets a simulated process make its next call.  Returns after how many nanoseconds the next
    /// one is due.
    uint64_t step(Simulation& simulation);

private:
    explicit SimMachine(BareHost& host, uint64_t seed) : host_(host), random_(seed) {}
    Result<void> publish();
    void fire(Simulation& simulation, SimProbe* probe, const SimThread& thread,
              std::span<const uint64_t> args, int32_t error_number);

    BareHost& host_;
    SeededRandom random_;
    std::array<SimProbe*, kSyscallNumbers> entries_{}, returns_{};
    std::array<SimProbe*, 4> processes_{};
};

} // namespace daybreak::sim
