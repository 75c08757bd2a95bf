// SPDX-License-Identifier: Apache-2.0
//
// The smallest host an engine can have: a page of settable answers, a map of readable memory, and
// what is needed to load one program, fire probes and look at what was recorded.
#pragma once

#include "engine/api/engine.h"
#include "tests/unit/engine/dof_builder.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace daybreak::engine_test {

/// A number of all threads, which orders nothing between them: what the engine must order itself, a
/// race detector sees.
class Shared {
public:
    Shared(uint64_t value) : value_(value) {}
    Shared(const Shared& other) : value_(other) {}
    Shared& operator=(const Shared& other) {
        value_.store(other, std::memory_order_relaxed);
        return *this;
    }
    operator uint64_t() const { return value_.load(std::memory_order_relaxed); }
    uint64_t operator+=(uint64_t more) {
        return value_.fetch_add(more, std::memory_order_relaxed) + more;
    }
    uint64_t operator++() { return *this += 1; }
    uint64_t operator++(int) { return (*this += 1) - 1; }

private:
    std::atomic<uint64_t> value_;
};

/// What dbk_host_*() answer; one for the whole program, reset by each Engine.
struct HostState {
    Shared ticks = 1'000'000, mono_ns = 5'000'000'000,
           silent_reads = 0; ///< the last: of what may not be there
    uint64_t tick_step = 10, wall_ns = 1'700'000'000'000'000'000;
    uint32_t cpu_count = 2;
    uint32_t pid = 100, tid = 101, ppid = 1, uid = 1000, gid = 1001, ipl = 0;
    uint64_t curthread = 0xffff888000001000, caller = 0xffffffff81000010, ucaller = 0x401000;
    uint64_t vtimestamp = 77;
    int32_t error = 0;
    char execname[16] = "tester";
    std::vector<uint64_t> stack{0xffffffff81000001, 0xffffffff81000002}, ustack{0x401001};
    std::vector<uint64_t> user_registers; // DBK_USER_REGISTERS of them, or none
    std::map<uint64_t, std::string> kernel_memory, user_memory; ///< by address
    uint64_t triggered = 0;                                     ///< calls of dbk_host_triggered()
    size_t acts_max = ~size_t{0};  ///< so many acts can be noted
    std::vector<std::string> acts; ///< what destructive actions asked for: "raise 9"
    dbk_kernel_layout layout{true, true, 0, 7,   0,  0x1ff, 0xff, 0xfffffe00,
                             0,    8,    0, -16, -8, 32,    24,   40};
    uint64_t random = 42;
    int64_t allocations_left = -1; ///< fails after so many; -1: never
    uint64_t pages_allocated = 0, pages_max = 256u << 20;
    std::map<const uint8_t*, uint32_t> pages_of; ///< whose pages were asked for
    uint64_t bank_allocated = 0, bank_bytes = 0; ///< of pages from the bank alone, and how many it has
    std::map<const uint8_t*, size_t> memory; ///< what the engine has, with its bytes
    uint64_t symbols_asked = 0;              ///< calls of dbk_host_symbol()
    uint32_t synchronized = 0, settled = 0, pauses = 0;
    int64_t pauses_left = -1; ///< after so many the next says that its process is being killed; -1: none does
    int enable_error = 0, settle_error = 0;
    /// Of the kernel.
    std::map<std::string, uint64_t> symbols = {{"jiffies", 0x1000}, {"ext4`ops", 0x2000}};
    std::vector<const dbk_probe*> enabled;                      ///< probes with ECBs now
    std::set<const dbk_probe*> armed; ///< of these, those that a settling armed
    /// Of a settling that fails, which are armed; empty: none.
    std::function<bool(const dbk_probe*)> arms_anyway;
    std::function<void()> in_settle; ///< runs once, at the start of dbk_host_probes_settle()
    std::function<void()> in_load;                              ///< runs inside dbk_host_load()
    std::function<void()> in_ticks, in_mono_ns, in_wall_ns,
        in_synchronize;                 ///< the same, of these calls
    std::function<void()> in_cpus_lock; ///< runs before the lock is taken
    uint32_t frames_more =
        0; ///< dbk_host_stack() says that it found so many more than there is room for
    /// Runs something on a CPU, with its interrupts off; empty: no one else is there.
    std::function<void(uint32_t cpu, const std::function<void()>& run)> on_cpu;
    uint64_t alloc_max = 1ull << 40;
    bool packs = false; ///< small allocations lie beside others of their size, as the kernel's do
    struct alignas(64) Line {
        uint8_t bytes[64];
    };
    struct OpenLine {
        uint8_t* line = nullptr;
        size_t used_bytes = sizeof(Line);
    };
    std::deque<Line> packed;             ///< lines of those ...
    std::map<size_t, OpenLine> packable; ///< ... and those with room, by size
    uint32_t pages_largest = DBK_PAGES_BYTES_MAX; ///< larger blocks there are none: memory in pieces
    uint64_t secret = 0x5ec4e7; ///< dbk_host_secret() goes on from it
    int cpus_locked = 0; ///< between dbk_host_cpus_lock() and _unlock()
    bool real_probe_strings = true; ///< names of probes can be loaded
};

extern HostState host;
extern constinit thread_local uint32_t host_cpu;
/// Runs in this thread whenever interrupts go off; nullptr: nothing does.
using EnterHook = void (*)();
extern constinit thread_local EnterHook host_enter_hook;
/// The same whenever they come back.
extern constinit thread_local EnterHook host_leave_hook;

/// A record as found in a segment.
struct Record {
    uint32_t epid = 0;
    uint64_t ticks = 0;
    std::vector<uint8_t> bytes; ///< whole record
    bool same_firing = false;   ///< as the record before it
    bool is_elsewhere = false;  ///< its firing has one elsewhere
    uint64_t sequence = 0;      ///< of its segment

    uint64_t u64(size_t offset) const;
    uint32_t u32(size_t offset) const;
    /// The string or words that the tail reference at `offset` points to.
    std::string tail(size_t offset) const;
};

/// Loads a program; the reason when it is refused.
struct Loaded {
    dbk_program* program = nullptr;
    int error = 0;
    std::string reason;
};
Loaded load(const std::vector<uint8_t>& image);

class Engine {
public:
    /// All CPUs are up, or the first `cpus_up`.
    explicit Engine(uint32_t cpu_count = 2, uint32_t clock = DBK_CLOCK_MONO_NS,
                    uint32_t cpus_up = DBK_CPUS_MAX);
    ~Engine();
    Engine(const Engine&) = delete;

    dbk_engine* get() const { return engine_; }
    /// A probe with `arg_count` arguments in order; lives as long as this.
    dbk_probe& probe(const char* provider, const char* module, const char* function,
                     const char* name, uint8_t arg_count = 6);
    /// Loads and creates, and leaves the rest to the test, which destroys it.
    dbk_consumer* created(const std::vector<uint8_t>& image,
                          dbk_consumer_config config = {"test", 1, false, false, 0});
    /// Loads, creates and enables; the test fails when that does.
    dbk_consumer* consumer(const std::vector<uint8_t>& image,
                           dbk_consumer_config config = {"test", 1, true, true, 0});
    /// The same, then starts it.
    dbk_consumer* start(const std::vector<uint8_t>& image,
                        dbk_consumer_config config = {"test", 1, true, true, 0});
    void destroy(dbk_consumer* consumer);
    void fire(dbk_probe& probe, std::vector<uint64_t> args = {}, uint32_t cpu = 0);
    /// Fires on the first CPUs at once, so often on each, with `args` of CPU and number; then the
    /// clock stands still.
    static void
    fire_at_once(dbk_probe& probe, uint32_t cpus, uint64_t count,
                 const std::function<std::array<uint64_t, 2>(uint32_t, uint64_t)>& args);

private:
    dbk_engine* engine_ = nullptr;
    std::vector<std::unique_ptr<dbk_probe>> probes_;
    std::vector<dbk_consumer*> consumers_;
};

/// All records of a CPU that its segments hold, oldest first; checks every header on the way.
std::vector<Record> records(const dbk_consumer* consumer, uint32_t cpu = 0);
/// The open segments' headers of a CPU by sequence.
std::map<uint64_t, const dbk_segment_header*> segments(const dbk_consumer* consumer, uint32_t cpu);
const dbk_segment_losses& losses(const dbk_segment_header* header);
uint64_t drops(const dbk_consumer* consumer, uint32_t cause, uint32_t cpu = 0);

/// The published ECB with an EPID, and its fields.
struct EcbInfo {
    dbk_meta_ecb ecb{};
    std::vector<dbk_meta_field> fields;
};
std::optional<EcbInfo> ecb_info(const dbk_consumer* consumer, uint32_t epid);

/// An entry of an aggregation snapshot.
struct AggEntry {
    dbk_agg_entry header{};
    std::vector<uint8_t> key;
    std::vector<uint64_t> cells;
};
std::vector<AggEntry> snapshot(dbk_consumer* consumer, uint32_t cpu = 0);

/// Runs one DIFO as trace() in a probe with these arguments; nothing when it faulted.
struct Outcome {
    std::optional<Record> record;
    uint64_t errors = 0;
    uint64_t value() const { return record ? record->u64(8) : 0xdeadull; }
    std::string text() const { return record ? record->tail(12) : "<fault>"; }
};
Outcome run(const Difo& difo, std::vector<uint64_t> args = {});

} // namespace daybreak::engine_test
