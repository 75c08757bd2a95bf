// SPDX-License-Identifier: Apache-2.0
//
// The functions of engine/api/host.h, answered by the SimHost that the calling thread is in.
#include "engine/sim/process_memory.hpp"
#include "engine/sim/sim_host.hpp"
#include "engine/sim/sim_kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

namespace daybreak::sim {

namespace {

constexpr size_t kPageBytes = 4096;
constexpr uint64_t kAnySymbol = 0xffffffff81000000;

// The one thing per thread that link-time functions need, beside dbk_bare.
thread_local SimHost* t_host = nullptr;

SimHost& host() {
    DBK_ASSERT(t_host != nullptr);
    return *t_host;
}

const SimSite& site_of(const void* frame) {
    // BEGIN, END and ERROR are fired by the engine, without a frame: inside the consumer's
    // ioctl.
    static const SimSite kConsumer{0, 0, syscall_stack(), user_stack()};
    if (frame != nullptr)
        return *static_cast<const SimSite*>(frame);
    return host().has_kernel() ? kConsumer : host().own_site();
}

uint32_t copy_stack(std::span<const uint64_t> stack, uint64_t* pcs, uint32_t depth_max) {
    size_t depth = std::min<size_t>(stack.size(), depth_max);
    std::copy_n(stack.begin(), depth, pcs);
    return static_cast<uint32_t>(depth);
}

} // namespace

HostScope::HostScope(SimHost& host) : before_(t_host) {
    enter(&host);
}
HostScope::~HostScope() {
    enter(before_);
}
void HostScope::enter(SimHost* host) {
    t_host = host;
    dbk_bare = host ? &host->bare_ : nullptr;
}

/// What the C functions below may touch of a SimHost.
struct HostCalls {
    static void* alloc(size_t bytes) {
        if (host().allocation_fails())
            return nullptr;
        void* memory = std::calloc(1, bytes + kSlackBytes);
        if (memory == nullptr)
            return nullptr;
        host().allocations_alive_++;
        host().kernel_memory_.add_own(memory, bytes + kSlackBytes);
        return memory;
    }
    static void free(void* memory) {
        DBK_ASSERT(host().bare_.depth == 0);
        if (memory == nullptr)
            return;
        host().allocations_alive_--;
        host().kernel_memory_.remove_own(memory);
        std::free(memory);
    }
    static bool pages_alloc(uint32_t bytes, dbk_pages* pages) {
        DBK_ASSERT(bytes != 0 && bytes % kPageBytes == 0 && bytes <= DBK_PAGES_BYTES_MAX);
        if (host().allocation_fails() || bytes > kPagesBytesMax - host().pages_bytes_)
            return false;
        // Zeroed when it is touched: a buffer that stays empty costs nothing.
        void* memory =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        host().allocations_alive_++;
        host().pages_bytes_ += bytes;
        host().kernel_memory_.add_own(memory, bytes);
        *pages = dbk_pages{memory, 0, bytes, 0, nullptr};
        return true;
    }
    static void pages_free(const dbk_pages& pages) {
        DBK_ASSERT(host().bare_.depth == 0);
        if (pages.address == nullptr)
            return;
        host().allocations_alive_--;
        host().pages_bytes_ -= pages.bytes;
        host().kernel_memory_.remove_own(pages.address);
        ::munmap(pages.address, pages.bytes);
    }
    static int probe_enable(dbk_probe* probe) {
        SimHost& h = host();
        DBK_ASSERT(h.bare_.depth == 0);
        if (h.faults_.enable_at != 0 && ++h.fault_enables_ == h.faults_.enable_at)
            return -EBUSY;
        if (probe->host_data != nullptr)
            h.arm(*static_cast<SimProbe*>(probe->host_data));
        return 0;
    }
    static void probe_disable(dbk_probe* probe) {
        DBK_ASSERT(host().bare_.depth == 0);
        if (probe->host_data != nullptr)
            static_cast<SimProbe*>(probe->host_data)->due_mono_ns = 0;
    }
    // The place where an ordered nested firing happens: inside the first reading of the clock.
    static uint64_t ticks() {
        SimHost& h = host();
        if (h.nested_probe_ != nullptr && h.bare_.depth != 0) {
            static const uint64_t kNoArgs[DBK_PROBE_ARGS_MAX] = {};
            dbk_probe* probe = std::exchange(h.nested_probe_, nullptr);
            dbk_probe_fire(h.engine_, probe, kNoArgs, nullptr);
        }
        return h.clock_.read_ticks();
    }
    static void on_cpu(uint32_t cpu, void (*run)(void*, uint32_t), void* argument) {
        SimHost& h = host();
        DBK_ASSERT(h.bare_.depth == 0);
        uint32_t before = std::exchange(h.bare_.cpu, cpu);
        h.bare_.depth++;
        run(argument, cpu);
        h.bare_.depth--;
        h.bare_.cpu = before;
    }
    static void clocks(dbk_clocks* clocks) {
        uint64_t mono_ns = host().clock_.read_mono_ns();
        *clocks = dbk_clocks{host().clock_.ticks_at(mono_ns), mono_ns, mono_ns,
                             host().clock_.wall_ns_at(mono_ns)};
    }
    static uint32_t ipl() { return host().ipl_; }
    static uint64_t random() { return host().random_.next(); }
    static uint64_t secret() { return host().secrets_.next(); }
    static bool load_fails() { return host().load_fails(); }
    static bool stack_is_bad() { return host().stack_is_bad(); }
    static void act(SimAct act) { host().acts_.push_back(std::move(act)); }
    static void act_at(SimAct::Kind kind, const dbk_probe* probe) {
        act({kind, 0,
             std::string(probe->provider) + ':' + probe->module + ':' + probe->function + ':' +
                 probe->name});
    }
};

} // namespace daybreak::sim

using daybreak::sim::host;
using daybreak::sim::HostCalls;
using daybreak::sim::SimAct;
using daybreak::sim::site_of;

__thread dbk_bare_host* dbk_bare = nullptr;

extern "C" {

void* dbk_host_alloc(size_t bytes) {
    return HostCalls::alloc(bytes);
}
void dbk_host_free(void* memory) {
    HostCalls::free(memory);
}
bool dbk_host_pages_alloc(uint32_t bytes, struct dbk_pages* pages_ret) {
    return HostCalls::pages_alloc(bytes, pages_ret);
}
uint64_t dbk_host_alloc_max(void) {
    return daybreak::sim::kAllocBytesMax;
}
uint64_t dbk_host_pages_max(void) {
    return daybreak::sim::kPagesBytesMax;
}
void dbk_host_pages_free(struct dbk_pages* pages) {
    HostCalls::pages_free(*pages);
    *pages = dbk_pages{};
}

int dbk_host_probe_enable(struct dbk_probe* probe) {
    return HostCalls::probe_enable(probe);
}
void dbk_host_probe_disable(struct dbk_probe* probe) {
    HostCalls::probe_disable(probe);
}
int dbk_host_pause(void) {
    return 0;
}
int dbk_host_probes_settle(void) {
    return 0;
}
uint64_t dbk_host_symbol(const char* name) {
    return host().knows_any_symbol() ? daybreak::sim::kAnySymbol
                                     : daybreak::sim::kernel_symbol(name);
}
void dbk_host_synchronize(void) {}
void dbk_host_on_cpu(uint32_t cpu, void (*run)(void* argument, uint32_t cpu), void* argument) {
    HostCalls::on_cpu(cpu, run, argument);
}
void dbk_host_each_cpu(void (*run)(void* argument, uint32_t cpu), void* argument) {
    for (uint32_t cpu = 0; cpu < host().cpu_count(); cpu++)
        HostCalls::on_cpu(cpu, run, argument);
}
uint64_t dbk_host_secret(void) {
    return HostCalls::secret();
}
// One thread: a CPU comes up only between two calls.
void dbk_host_cpus_lock(void) {}
void dbk_host_cpus_unlock(void) {}
// Packages of four CPUs, each with memory of its own.
void dbk_host_cpu_place(uint32_t cpu, uint32_t* package_ret, uint32_t* node_ret) {
    *package_ret = *node_ret = cpu / 4;
}
void dbk_host_clocks(struct dbk_clocks* clocks_ret) {
    HostCalls::clocks(clocks_ret);
}

uint64_t dbk_host_ticks_moving(void) {
    return HostCalls::ticks();
}
uint64_t dbk_host_mono_ns_moving(void) {
    return host().clock().read_mono_ns();
}
uint64_t dbk_host_wall_ns(void) {
    return host().clock().read_wall_ns();
}

uint32_t dbk_host_pid(void) {
    return host().thread().pid;
}
uint32_t dbk_host_tid(void) {
    return host().thread().tid;
}
uint64_t dbk_host_curthread(void) {
    return host().has_kernel() ? daybreak::sim::kCurthreadAddress : 0;
}
const char* dbk_host_execname(void) {
    return host().thread().execname.data();
}
uint32_t dbk_host_uid(void) {
    return host().thread().uid;
}
uint32_t dbk_host_gid(void) {
    return host().thread().gid;
}
uint32_t dbk_host_ppid(void) {
    return host().thread().ppid;
}
// The one thread has run since the simulated boot.
uint64_t dbk_host_vtimestamp(void) {
    return host().has_kernel() ? host().clock().read_mono_ns() : 0;
}
bool dbk_host_progenyof(uint32_t pid) {
    const auto& thread = host().thread();
    return pid == thread.pid || pid == thread.ppid || pid == 1;
}
uint64_t dbk_host_random(void) {
    return HostCalls::random();
}

uint32_t dbk_host_ipl(void) {
    return HostCalls::ipl();
}
int32_t dbk_host_errno(const struct dbk_probe*, void* frame) {
    return site_of(frame).error_number;
}
uint64_t dbk_host_caller(void* frame) {
    auto stack = site_of(frame).kernel_stack;
    return stack.size() > 1 ? stack[1] : 0;
}
uint64_t dbk_host_ucaller(void* frame) {
    auto stack = site_of(frame).user_stack;
    return stack.size() > 1 ? stack[1] : 0;
}
uint32_t dbk_host_stack(void* frame, uint64_t* pcs, uint32_t depth_max) {
    return daybreak::sim::copy_stack(site_of(frame).kernel_stack, pcs, depth_max);
}
uint32_t dbk_host_ustack(void* frame, uint64_t* pcs, uint32_t depth_max, uint64_t* bad_ret) {
    if (HostCalls::stack_is_bad())
        *bad_ret = daybreak::sim::kBadFrameAddress;
    return daybreak::sim::copy_stack(site_of(frame).user_stack, pcs, depth_max);
}
// A register holds its own index: enough to see that the right one was read.
bool dbk_host_ureg(void*, uint64_t index, uint64_t* value_ret) {
    if (index >= daybreak::sim::kUserRegisterCount || !host().has_kernel())
        return false;
    *value_ret = index;
    return true;
}

bool dbk_host_load(void* to, uint64_t address, uint32_t bytes) {
    return !HostCalls::load_fails() && host().kernel_memory().load(to, address, bytes);
}
int32_t dbk_host_load_string(char* to, uint64_t address, uint32_t bytes) {
    return HostCalls::load_fails() ? -1 : host().kernel_memory().load_string(to, address, bytes);
}
bool dbk_host_load_user(void* to, uint64_t address, uint32_t bytes) {
    if (HostCalls::load_fails())
        return false;
    if (host().thread().is_real)
        return daybreak::sim::load_process(host().thread().pid, to, address, bytes);
    return host().user_memory().load(to, address, bytes);
}
int32_t dbk_host_load_user_string(char* to, uint64_t address, uint32_t bytes) {
    if (HostCalls::load_fails())
        return -1;
    if (host().thread().is_real)
        return daybreak::sim::load_process_string(host().thread().pid, to, address, bytes);
    return host().user_memory().load_string(to, address, bytes);
}
bool dbk_host_store_user(uint64_t address, const void* from, uint32_t bytes) {
    return host().user_memory().store(address, from, bytes);
}
const struct dbk_kernel_layout* dbk_host_layout(void) {
    return &daybreak::sim::kernel_layout();
}

bool dbk_host_raise(int32_t signal) {
    HostCalls::act({SimAct::Kind::raise, static_cast<uint64_t>(signal)});
    return true;
}
bool dbk_host_breakpoint(const struct dbk_probe* probe, uint32_t) {
    HostCalls::act_at(SimAct::Kind::breakpoint, probe);
    return true;
}
bool dbk_host_panic(const struct dbk_probe* probe, uint32_t) {
    HostCalls::act_at(SimAct::Kind::panic, probe);
    return true;
}
void dbk_host_triggered() {} // no waiter in one thread

void dbk_host_chill(uint64_t ns) {
    host().clock().advance_to(host().clock().now_mono_ns() + ns);
    HostCalls::act({SimAct::Kind::chill, ns});
}

} // extern "C"
