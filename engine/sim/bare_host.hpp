// SPDX-License-Identifier: Apache-2.0
//
// BareHost: a host for the engine that is nothing but memory, time and the current thread.
//
// It is the third host beside the kernel module and plain unit tests: it answers every
// dbk_host_*() of engine/api/host.h (host_calls.cpp), in one thread, and is otherwise what a
// provider is in the kernel:
//
//     BareHost ── engine          probes of provider dtrace are the engine's own
//         |── probes[]            those it is given, tick-N and profile-N of a program
//         |── timers              armed while such a probe is enabled, driven by virtual time
//         |── clock               stands still between two records, or goes on with each reading
//         |── thread              on the current CPU; a real one's memory is read where it is
//         `── memory              what the engine allocated, and what it is given
//
// There is no kernel around it: what would be asked of one (its variables, addresses, stacks,
// registers, CPU times) is 0, empty or a fault, never made up.  A replay, a back-fill and the
// system call tracer run on it.  What a machine adds are the virtual functions: SimHost's.
//
// BEGIN, END and what is fired happen in one process, the tracer's, unless the thread is set.
//
// The dbk_host_*() functions have no object to be called on: a HostScope names the host that the
// calling thread's engine calls go to.  Every method here opens one itself; who calls dbk_*()
// directly opens its own.  Breaking the engine's contract with its host (allocating while a
// probe fires, leaking) is our bug and aborts.
#pragma once

#include "base/result.hpp"
#include "engine/api/engine.h"
#include "engine/sim/bare_host.h"
#include "engine/sim/profile_name.hpp"
#include "engine/sim/sim_memory.hpp"
#include "engine/sim/virtual_clock.hpp"
#include "formats/trace/metadata.hpp"

#include <array>
#include <functional>
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

/// Pages that there are for buffers; more are refused as by a kernel that has none left.
constexpr uint64_t kPagesBytesMax = 256u << 20;
/// What dbk_host_alloc_max() says: no limit but the options' own.
constexpr uint64_t kAllocBytesMax = uint64_t{1} << 40;
/// dbk_host_ipl() in a timer: a hard interrupt.
constexpr uint32_t kTimerIpl = 2;
/// After each allocation so much can be read, as there is always something in a kernel.
constexpr uint64_t kSlackBytes = 256;

struct BareHostConfig {
    uint32_t cpu_count = 1;
    uint64_t seed = 1; ///< of random numbers and, without a boot_uuid, of the boot's
    SimThread thread;
    /// What the clocks say at the start; 0: as VirtualClockConfig has it.
    uint64_t start_mono_ns = 0, start_wall_ns = 0;
    bool still_clock = false; ///< see VirtualClockConfig
    bool tsc = false;         ///< records are stamped with a simulated TSC instead of nanoseconds
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
    std::span<const uint64_t> user_registers; ///< none, or as DWARF numbers them
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

class BareHost {
public:
    /// Error: limit, when there is no memory or the CPU count is out of the engine's bounds.
    static Result<std::unique_ptr<BareHost>> create(const BareHostConfig& config);
    BareHost(const BareHost&) = delete;
    BareHost& operator=(const BareHost&) = delete;
    /// Every consumer is destroyed before.
    virtual ~BareHost();

    dbk_engine* engine() { return engine_; }
    uint32_t cpu_count() const { return config_.cpu_count; }
    uint64_t boot_id() const { return boot_id_; }
    const std::array<uint8_t, 16>& boot_uuid() const { return config_.boot_uuid; }
    VirtualClock& clock() { return clock_; }
    SimMemory& kernel_memory() { return kernel_memory_; }
    SimMemory& user_memory() { return user_memory_; } ///< of threads that are not real
    void set_thread(const SimThread& thread) {
        thread_ = thread;
        bare_.thread_key = on_cpu_->key;
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
    /// Says which address stands for one of the current process or of the kernel, where several
    /// machines are one; none: each for itself.
    using Places = std::function<uint64_t(uint64_t address, bool is_of_process)>;
    void set_places(Places places) { places_ = std::move(places); }
    const Places& places() const { return places_; }
    /// What a firing of the engine's own probes finds around it.
    void set_own_site(const SimSite& site) { own_site_ = site; }
    const SimSite& own_site() const { return own_site_; }
    /// Probes to come get ids from `id` on, if theirs would be lower.
    void number_probes_from(uint32_t id) { dbk_engine_probe_ids_from(engine_, id); }
    /// Returns the thread that is on the CPU.
    const SimThread& thread() const { return *on_cpu_; }
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
            return fire_with_time(probe, args, site);
        firings_++;
        ipl_ = site.ipl;
        dbk_probe_fire(&probe.probe, args.data(), const_cast<SimSite*>(&site));
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

    /// The symbols of its kernel, and where that one's code begins.
    virtual formats::SymbolTable symbols() const { return {}; }
    virtual uint64_t kernel_text_start() const { return 0; }

    /// What destructive actions did, in order.  Nothing of it happens to the real machine.
    const std::vector<SimAct>& acts() const { return acts_; }

    uint64_t allocations() const { return allocations_; }             ///< asked for so far
    uint64_t allocations_alive() const { return allocations_alive_; } ///< not yet freed
    uint64_t firings() const { return firings_; }                     ///< by fire() and timers

    // What the engine asks, and a machine with a kernel answers otherwise.
    virtual bool allocation_fails() { return false; }
    virtual bool enable_fails() { return false; }
    virtual void before_clock_reading() {}
    /// Every symbol has an address here, at which nothing is: 0 refuses the program.
    virtual uint64_t symbol(const char* name) const;
    virtual uint64_t curthread() const { return 0; }
    virtual uint64_t vtimestamp() { return 0; }
    virtual bool user_register(uint64_t, uint64_t&) const { return false; }
    virtual uint64_t bad_user_frame() { return 0; } ///< 0: the user stack is whole
    virtual const dbk_kernel_layout& layout() const;
    virtual bool load(void* to, uint64_t address, uint32_t bytes);
    virtual int32_t load_string(char* to, uint64_t address, uint32_t bytes);
    virtual bool load_user(void* to, uint64_t address, uint32_t bytes);
    virtual int32_t load_user_string(char* to, uint64_t address, uint32_t bytes);

protected:
    explicit BareHost(const BareHostConfig& config);
    /// Makes the engine; what follows the constructor.
    Result<void> start();
    /// Says who is on the CPU; it must live on.
    void put_on_cpu(const SimThread& thread) {
        on_cpu_ = &thread;
        bare_.thread_key = thread.key;
    }
    void put_back() { put_on_cpu(thread_); } ///< the thread that was set
    /// Fires, with the time that takes; firings with fewer arguments, or that are not plain.
    virtual void fire_with_time(SimProbe& probe, std::span<const uint64_t> args,
                                const SimSite& site);
    /// Fires a timer's probe on the current CPU.
    virtual void fire_timer(SimProbe& probe);
    /// Whether the engine is in a firing.
    bool is_firing() const { return bare_.depth != 0; }
    /// Every firing takes fire_with_time() from now on.
    void set_not_plain() { is_plain_ = false; }

private:
    friend struct HostCalls; // host_calls.cpp
    friend class HostScope;
    void arm(SimProbe& probe);
    void forget(std::vector<std::unique_ptr<SimProbe>>::iterator probe);

    BareHostConfig config_;
    uint64_t boot_id_;
    VirtualClock clock_;
    SeededRandom random_, secrets_;
    SimThread thread_;
    const SimThread* on_cpu_ = &thread_;
    SimSite own_site_;
    Places places_;
    bool is_plain_ = false; // time stands still, and nothing fails
    SimMemory kernel_memory_, user_memory_;
    dbk_engine* engine_ = nullptr;
    std::vector<std::unique_ptr<SimProbe>> probes_;
    dbk_bare_host bare_{};
    uint32_t ipl_ = 0; // of the firing going on
    uint64_t allocations_ = 0, allocations_alive_ = 0, firings_ = 0, pages_bytes_ = 0;
    std::vector<SimAct> acts_;
};

/// Says whose dbk_host_*() the calling thread's engine calls reach; the one before is back at the
/// end of the scope.
class HostScope {
public:
    explicit HostScope(BareHost& host) : before_(dbk_bare) { dbk_bare = &host.bare_; }
    HostScope(const HostScope&) = delete;
    HostScope& operator=(const HostScope&) = delete;
    ~HostScope() { dbk_bare = before_; }

private:
    dbk_bare_host* before_;
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
