// SPDX-License-Identifier: Apache-2.0
//
// The functions of engine/api/host.h, answered by the BareHost that the calling thread is in.
#include "engine/sim/bare_host.hpp"

#include "base/page.hpp"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

__thread dbk_bare_host* dbk_bare = nullptr;

namespace daybreak::sim {

using base::kPageBytes;

namespace {

BareHost& host() {
    DBK_ASSERT(dbk_bare != nullptr);
    return *static_cast<BareHost*>(dbk_bare->owner);
}

/// BEGIN, END and ERROR are fired by the engine, without a frame.
const SimSite& site_of(const void* frame) {
    return frame != nullptr ? *static_cast<const SimSite*>(frame) : host().own_site();
}

uint32_t copy_stack(std::span<const uint64_t> stack, uint64_t* pcs, uint32_t depth_max) {
    size_t depth = std::min<size_t>(stack.size(), depth_max);
    std::copy_n(stack.begin(), depth, pcs);
    return static_cast<uint32_t>(depth);
}

} // namespace

/// What the C functions below may touch of a BareHost.
struct HostCalls {
    static bool refuses() {
        DBK_ASSERT(host().bare_.depth == 0); // nothing is allocated while a probe fires
        host().allocations_++;
        return host().allocation_fails();
    }
    static void* alloc(size_t bytes) {
        if (refuses())
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
        if (refuses() || bytes > kPagesBytesMax - host().pages_bytes_)
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
        DBK_ASSERT(host().bare_.depth == 0);
        if (host().enable_fails())
            return -EBUSY;
        if (probe->host_data != nullptr)
            host().arm(*static_cast<SimProbe*>(probe->host_data));
        return 0;
    }
    static void probe_disable(dbk_probe* probe) {
        DBK_ASSERT(host().bare_.depth == 0);
        if (probe->host_data != nullptr)
            static_cast<SimProbe*>(probe->host_data)->due_mono_ns = 0;
    }
    static uint64_t ticks() {
        host().before_clock_reading();
        return host().clock_.read_ticks();
    }
    static void on_cpu(uint32_t cpu, void (*run)(void*, uint32_t), void* argument) {
        BareHost& h = host();
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

extern "C" {

void* dbk_host_alloc(size_t bytes) {
    return HostCalls::alloc(bytes);
}
void dbk_host_free(void* memory) {
    HostCalls::free(memory);
}
bool dbk_host_pages_alloc(uint32_t bytes, enum dbk_pages_from, uint32_t, struct dbk_pages* pages_ret) {
    return HostCalls::pages_alloc(bytes, pages_ret);
}
uint64_t dbk_host_alloc_max(void) {
    return daybreak::sim::kAllocBytesMax;
}
uint64_t dbk_host_pages_max(enum dbk_pages_from) {
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
bool dbk_host_probe_is_armed(const struct dbk_probe*) {
    return true; // a settling never fails
}
uint64_t dbk_host_symbol(const char* name) {
    return host().symbol(name);
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
    return host().curthread();
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
uint64_t dbk_host_vtimestamp(void) {
    return host().vtimestamp();
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
    if (uint64_t bad = host().bad_user_frame(); bad != 0)
        *bad_ret = bad;
    return daybreak::sim::copy_stack(site_of(frame).user_stack, pcs, depth_max);
}
bool dbk_host_user_registers(void* frame, uint64_t* registers) {
    auto known = site_of(frame).user_registers;
    std::ranges::copy(known, registers);
    return !known.empty();
}
bool dbk_host_ureg(void*, uint64_t index, uint64_t* value_ret) {
    return host().user_register(index, *value_ret);
}

uint64_t dbk_host_place(uint64_t address, bool is_of_process) {
    const auto& places = host().places();
    return places ? places(address, is_of_process) : address;
}

bool dbk_host_load(void* to, uint64_t address, uint32_t bytes) {
    return host().load(to, address, bytes);
}
int32_t dbk_host_load_string(char* to, uint64_t address, uint32_t bytes) {
    return host().load_string(to, address, bytes);
}
bool dbk_host_load_user(void* to, uint64_t address, uint32_t bytes) {
    return host().load_user(to, address, bytes);
}
int32_t dbk_host_load_user_string(char* to, uint64_t address, uint32_t bytes) {
    return host().load_user_string(to, address, bytes);
}
bool dbk_host_store_user(uint64_t address, const void* from, uint32_t bytes) {
    return host().user_memory().store(address, from, bytes);
}
const struct dbk_kernel_layout* dbk_host_layout(void) {
    return &host().layout();
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
