// SPDX-License-Identifier: Apache-2.0
//
// SimHost: a whole machine for the engine, in one thread and from one seed.
//
// It is the third host beside the kernel module and plain unit tests: it answers every
// dbk_host_*() of engine/api/host.h (host_calls.cpp) and is otherwise what a provider is in the kernel:
//
//     SimHost ── engine          probes of provider dtrace are the engine's own
//        |── probes[]            synthetic ones of a test, tick-N and profile-N of a program
//        |── timers              armed while such a probe is enabled, driven by virtual time
//        |── clock, random       the seed's
//        |── kernel, user        two address spaces; what is not mapped faults
//        `── faults              allocation, load, nesting: failures on order
//
// BEGIN, END and what a test fires happen in one process, the tracer's; a test that wants another
// sets the thread.  Timers find the CPU idle: process 0, "swapper/0", as on a machine that has
// nothing else to do.
//
// The dbk_host_*() functions have no object to be called on: a HostScope names the host that the
// calling thread's engine calls go to.  Every method here opens one itself; a test that calls
// dbk_*() directly opens its own.  Breaking the engine's contract with its host (allocating while a
// probe fires, leaking) is our bug and aborts.
#pragma once

#include "base/result.hpp"
#include "engine/api/engine.h"
#include "engine/sim/bare_host.h"
#include "engine/sim/profile_name.hpp"
#include "engine/sim/sim_memory.hpp"
#include "engine/sim/virtual_clock.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace daybreak::sim {

using base::Error;
using base::ErrorCode;
using base::Result;

/// The thread that is on a CPU.
struct SimThread {
    uint32_t pid = 4242, tid = 4242, ppid = 4200, uid = 0, gid = 0;
    std::array<char, DBK_EXECNAME_BYTES> execname{"dtrace"};
    uint64_t key = 1;     ///< what self-> belongs to
    bool is_real = false; ///< a process of this machine: its memory is read where it is

    void set_execname(std::string_view name);
};

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

/// Pages that there are for buffers; more are refused as by a kernel that has none left.
constexpr uint64_t kPagesBytesMax = 256u << 20;
/// What dbk_host_alloc_max() says: no limit but the options' own.
constexpr uint64_t kAllocBytesMax = uint64_t{1} << 40;
/// After each allocation so much can be read, as there is always something in a kernel.
constexpr uint64_t kSlackBytes = 256;

struct SimHostConfig {
    uint32_t cpu_count = 1;
    uint64_t seed = 1;
    bool tsc = false; ///< records are stamped with a simulated TSC instead of nanoseconds
    SimThread thread;
    SimFaults faults; ///< from the first allocation on
    /// What the clocks say at the start; 0: as VirtualClockConfig has it.
    uint64_t start_mono_ns = 0, start_wall_ns = 0;
    /// Whether there is a simulated kernel: its variables, addresses, stacks, registers, CPU times.
    /// Without one a variable faults, and the others are 0 or empty, not made up.
    bool kernel = true;
    /// Whether every symbol of the kernel has an address: for programs that are loaded but not run.
    bool any_symbol = false;
    bool still_clock = false; ///< see VirtualClockConfig
    /// Of the boot that this stands for; zeros: one by the seed.
    std::array<uint8_t, 16> boot_uuid{};
};

/// What a destructive action asked of the machine.
struct SimAct {
    enum class Kind : uint8_t { raise, breakpoint, panic, chill } kind;
    uint64_t value = 0;     ///< signal, or nanoseconds
    std::string where = ""; ///< the probe's four names, of breakpoint() and panic()
};

/// What a firing finds around it.  Empty stacks mean none.
struct SimSite {
    int32_t error_number = 0;
    uint32_t ipl = 0;
    std::span<const uint64_t> kernel_stack, user_stack;
};

struct SimProbeName {
    std::string provider, module, function, name;
};

/// A probe of this host, at the same address until it is removed.
struct SimProbe {
    SimProbeName text;
    dbk_probe probe{};
    std::optional<ProfileName> timer;
    uint64_t due_mono_ns = 0; ///< of the timer; 0 while it is not armed
};

class SimHost {
public:
    /// Error: limit, when there is no memory or the CPU count is out of the engine's bounds.
    static Result<std::unique_ptr<SimHost>> create(const SimHostConfig& config);
    SimHost(const SimHost&) = delete;
    SimHost& operator=(const SimHost&) = delete;
    /// Every consumer is destroyed before.
    ~SimHost();

    dbk_engine* engine() { return engine_; }
    uint32_t cpu_count() const { return config_.cpu_count; }
    uint64_t boot_id() const { return boot_id_; }
    const std::array<uint8_t, 16>& boot_uuid() const { return config_.boot_uuid; }
    bool has_kernel() const { return config_.kernel; }
    bool knows_any_symbol() const { return config_.any_symbol; }
    VirtualClock& clock() { return clock_; }
    SimMemory& kernel_memory() { return kernel_memory_; }
    SimMemory& user_memory() { return user_memory_; }
    /// Setting it starts its counts anew.
    void set_faults(const SimFaults& faults);
    void set_thread(const SimThread& thread) {
        thread_ = thread;
        bare_.thread_key = this->thread().key;
    }
    /// The same of what differs from thread to thread in a replay.
    void set_thread(uint32_t pid, uint32_t tid, uint64_t key) {
        thread_.pid = pid;
        thread_.tid = tid;
        thread_.key = bare_.thread_key = key;
    }
    /// Arguments that every firing has from now on, beyond those it is given; they must live on.
    void set_more_args(std::span<const uint64_t> args) {
        bare_.args = args.data();
        bare_.args_count = static_cast<uint32_t>(args.size());
    }
    /// Memory that the engine may read as its own; it must live on.
    void set_texts(std::span<const std::byte> texts) {
        bare_.texts = reinterpret_cast<const char*>(texts.data());
        bare_.texts_bytes = texts.size();
    }
    /// What a firing of the engine's own probes finds around it; none has before.
    void set_own_site(const SimSite& site) { own_site_ = site; }
    const SimSite& own_site() const { return own_site_; }
    /// Probes to come get ids from `id` on, if theirs would be lower.
    void number_probes_from(uint32_t id) { dbk_engine_probe_ids_from(engine_, id); }
    /// Returns the thread that is on the CPU.
    const SimThread& thread() const { return idle_ ? idle_thread_ : thread_; }
    void set_cpu(uint32_t cpu) {
        DBK_ASSERT(cpu < config_.cpu_count);
        bare_.cpu = cpu;
    }
    uint32_t cpu() const { return bare_.cpu; }

    /// Publishes a probe with that many arguments.  Error: as dbk_probe_add() refuses.
    Result<SimProbe*> add_probe(SimProbeName name, uint8_t arg_count);
    void remove_probe(SimProbe* probe);
    /// Makes the probe that only exists because a program names it (tick-1s); nothing when the
    /// description names none of those, or it is there.
    Result<void> make_named(const dbk_probedesc& description);

    /// Fires on the current CPU and in the current thread.  Arguments after `args` are 0.
    void fire(SimProbe& probe, std::span<const uint64_t> args, const SimSite& site = {}) {
        if (!is_plain_ || args.size() < DBK_PROBE_ARGS_MAX || dbk_bare != &bare_)
            return fire_simulated(probe, args, site);
        firings_++;
        ipl_ = site.ipl;
        dbk_probe_fire(engine_, &probe.probe, args.data(), const_cast<SimSite*>(&site));
        ipl_ = 0;
    }
    /// Counts firings that do not come, on the current CPU.
    void miss(SimProbe& probe, uint32_t count);

    /// Returns the profile-N probes that are enabled and have timers.
    std::vector<SimProbe*> armed_profiles();
    /// Takes a probe's timer away: another part fires it.
    static void disarm(SimProbe& probe) { probe.due_mono_ns = 0; }
    /// Armed timers count from now: what came before was no tracing yet.
    void restart_timers();
    /// The time of the earliest armed timer.
    std::optional<uint64_t> next_timer_mono_ns() const;
    /// Moves time there and fires it: tick-N on CPU 0, profile-N on every CPU.
    void fire_next_timer();

    /// What destructive actions did, in order.  Nothing of it happens to the real machine.
    const std::vector<SimAct>& acts() const { return acts_; }

    uint64_t allocations() const { return allocations_; }             ///< asked for so far
    uint64_t allocations_alive() const { return allocations_alive_; } ///< not yet freed
    uint64_t firings() const { return firings_; }                     ///< by fire() and timers

private:
    friend struct HostCalls; // host_calls.cpp
    friend class HostScope;
    explicit SimHost(const SimHostConfig& config);
    void fire_simulated(SimProbe& probe, std::span<const uint64_t> args, const SimSite& site);
    bool allocation_fails();
    bool load_fails();
    bool stack_is_bad();
    void arm(SimProbe& probe);
    void forget(std::vector<std::unique_ptr<SimProbe>>::iterator probe);

    SimHostConfig config_;
    uint64_t boot_id_;
    VirtualClock clock_;
    SeededRandom random_, secrets_;
    SimThread thread_, idle_thread_;
    SimSite own_site_;
    bool idle_ = false;     // a timer found the CPU idle
    bool is_plain_ = false; // time stands still, and no failures were ordered
    SimMemory kernel_memory_, user_memory_;
    SimFaults faults_;
    uint64_t fault_allocations_ = 0, fault_loads_ = 0, fault_firings_ = 0, fault_enables_ = 0;
    uint64_t fault_misses_ = 0, fault_stacks_ = 0;
    dbk_engine* engine_ = nullptr;
    std::vector<std::unique_ptr<SimProbe>> probes_;
    dbk_bare_host bare_{};
    uint32_t ipl_ = 0;                  // of the firing going on
    dbk_probe* nested_probe_ = nullptr; // to fire at the next clock reading inside a firing
    uint64_t allocations_ = 0, allocations_alive_ = 0, firings_ = 0, pages_bytes_ = 0;
    std::vector<SimAct> acts_;
};

/// Says whose dbk_host_*() the calling thread's engine calls reach; the one before is back at the
/// end of the scope.
class HostScope {
public:
    explicit HostScope(SimHost& host);
    HostScope(const HostScope&) = delete;
    HostScope& operator=(const HostScope&) = delete;
    ~HostScope();

private:
    static void enter(SimHost* host);

    SimHost* before_;
};

/// Whether a part of a probe description fits a name, see dbk_glob_match().
bool glob_match(const std::string& pattern, const std::string& name);

/// The same of all four parts: of a description and a probe, whatever types have them.
template <class Description, class Probe>
bool names_match(const Description& description, const Probe& probe) {
    return glob_match(description.provider, probe.provider) &&
           glob_match(description.module, probe.module) &&
           glob_match(description.function, probe.function) &&
           glob_match(description.name, probe.name);
}

/// Returns whether a probe of that description exists in a simulation or can be made for it, with
/// these synthetic probes added: what a compiler asks before it refuses a clause.
bool probe_can_exist(const dbk_probedesc& description,
                     std::span<const SimProbeName> synthetic = {});

} // namespace daybreak::sim
