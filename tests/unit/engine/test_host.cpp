// SPDX-License-Identifier: Apache-2.0
//
// The test host's answers; see test_host.hpp.
#include "tests/unit/engine/test_host.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace daybreak::engine_test {

HostState host;
constinit thread_local uint32_t host_cpu = 0;
constinit thread_local EnterHook host_enter_hook = nullptr;
constinit thread_local EnterHook host_leave_hook = nullptr;

namespace {

/// Copies from one of the map's stretches; false when not all bytes are there.
bool copy_from(const std::map<uint64_t, std::string>& memory, void* to, uint64_t address,
               uint32_t bytes) {
    auto it = memory.upper_bound(address);
    if (it == memory.begin())
        return false;
    --it;
    uint64_t offset = address - it->first;
    if (offset > it->second.size() || bytes > it->second.size() - offset)
        return false;
    std::memcpy(to, it->second.data() + offset, bytes);
    return true;
}

int32_t copy_string(const std::map<uint64_t, std::string>& memory, char* to, uint64_t address,
                    uint32_t bytes) {
    for (uint32_t i = 0; i + 1 < bytes; i++) {
        if (!copy_from(memory, to + i, address + i, 1))
            return -1;
        if (to[i] == '\0')
            return static_cast<int32_t>(i);
    }
    to[bytes - 1] = '\0';
    return static_cast<int32_t>(bytes - 1);
}

bool note(const std::string& act) {
    if (host.acts.size() >= host.acts_max)
        return false;
    host.acts.push_back(act);
    return true;
}

} // namespace
} // namespace daybreak::engine_test

using daybreak::engine_test::copy_from;
using daybreak::engine_test::copy_string;
using daybreak::engine_test::host;
using daybreak::engine_test::host_cpu;
using daybreak::engine_test::HostState;
using daybreak::engine_test::note;

namespace {

std::mutex memory_mutex;

void* noted(void* memory, size_t bytes) {
    std::lock_guard lock(memory_mutex);
    host.memory[static_cast<const uint8_t*>(memory)] = bytes;
    return std::memset(memory, 0, bytes);
}

void free_noted(void* memory) {
    std::lock_guard lock(memory_mutex);
    auto at = host.memory.find(static_cast<const uint8_t*>(memory));
    bool is_packed = at != host.memory.end() && at->second < sizeof(HostState::Line);
    if (at != host.memory.end())
        host.memory.erase(at);
    if (!is_packed)
        std::free(memory);
}

/// Less than a line, beside others.
void* pack(size_t bytes) {
    size_t rounded = std::bit_ceil(std::max<size_t>(bytes, 8));
    auto& [line, used_bytes] = host.packable[rounded];
    if (used_bytes + rounded > sizeof(HostState::Line)) {
        line = host.packed.emplace_back().bytes;
        used_bytes = 0;
    }
    used_bytes += rounded;
    return noted(line + used_bytes - rounded, bytes);
}

} // namespace

extern "C" {

void* dbk_host_alloc(size_t bytes) {
    if (host.allocations_left == 0)
        return nullptr;
    if (host.allocations_left > 0)
        host.allocations_left--;
    if (host.packs && bytes < sizeof(HostState::Line))
        return pack(bytes);
    // Alignment of struct dbk_buffer; the kernel's large allocations have page alignment.
    size_t rounded = (std::max<size_t>(bytes, 1) + 63) & ~size_t{63};
    return noted(std::aligned_alloc(64, rounded), rounded);
}

void dbk_host_free(void* memory) {
    free_noted(memory);
}

uint64_t dbk_host_alloc_max(void) {
    return host.alloc_max;
}
bool dbk_host_pages_alloc(uint32_t bytes, dbk_pages_from from, uint32_t cpu, dbk_pages* pages) {
    if (bytes > host.pages_largest || (from == DBK_PAGES_BANK && bytes > host.bank_bytes - host.bank_allocated))
        return false;
    if (host.allocations_left == 0)
        return false;
    if (host.allocations_left > 0)
        host.allocations_left--;
    pages->address = noted(std::aligned_alloc(4096, bytes), bytes);
    pages->phys_addr = 0x40000000 + host.pages_allocated;
    pages->bytes = bytes;
    host.pages_allocated += bytes;
    host.pages_of[static_cast<const uint8_t*>(pages->address)] = cpu;
    host.bank_allocated += from == DBK_PAGES_BANK ? bytes : 0;
    return true;
}

uint64_t dbk_host_pages_max(dbk_pages_from from) {
    return from == DBK_PAGES_BANK ? host.bank_bytes : host.pages_max;
}
void dbk_host_pages_free(dbk_pages* pages) {
    free_noted(pages->address);
    pages->address = nullptr;
}

int dbk_host_probe_enable(dbk_probe* probe) {
    if (host.enable_error != 0)
        return host.enable_error;
    host.enabled.push_back(probe);
    return 0;
}

void dbk_host_probe_disable(dbk_probe* probe) {
    host.enabled.erase(std::find(host.enabled.begin(), host.enabled.end(), probe));
    host.armed.erase(probe);
}

int dbk_host_pause(void) {
    host.pauses++;
    return host.pauses_left >= 0 && host.pauses_left-- == 0 ? -EINTR : 0;
}
int dbk_host_probes_settle(void) {
    host.settled++;
    if (auto run = std::exchange(host.in_settle, nullptr))
        run();
    for (const dbk_probe* probe : host.enabled)
        if (host.settle_error == 0 || (host.arms_anyway && host.arms_anyway(probe)))
            host.armed.insert(probe);
    return host.settle_error;
}
bool dbk_host_probe_is_armed(const dbk_probe* probe) {
    return host.armed.contains(probe);
}

uint64_t dbk_host_symbol(const char* name) {
    host.symbols_asked++;
    auto found = host.symbols.find(name);
    return found == host.symbols.end() ? 0 : found->second;
}

void dbk_host_synchronize(void) {
    host.synchronized++;
    if (host.in_synchronize)
        host.in_synchronize();
}

void dbk_host_each_cpu(void (*run)(void*, uint32_t), void* argument) {
    for (uint32_t cpu = 0; cpu < host.cpu_count; cpu++) {
        if (host.on_cpu)
            host.on_cpu(cpu, [&] { run(argument, cpu); });
        else
            run(argument, cpu);
    }
}

void dbk_host_on_cpu(uint32_t cpu, void (*run)(void*, uint32_t), void* argument) {
    if (host.on_cpu)
        host.on_cpu(cpu, [&] { run(argument, cpu); });
    else
        run(argument, cpu);
}
uint64_t dbk_host_secret(void) {
    return host.secret = host.secret * 6364136223846793005ull + 1442695040888963407ull;
}

void dbk_host_cpus_lock(void) {
    if (host.in_cpus_lock)
        host.in_cpus_lock();
    if (host.cpus_locked++ != 0)
        std::abort();
}
void dbk_host_cpus_unlock(void) {
    host.cpus_locked--;
}

void dbk_host_clocks(dbk_clocks* clocks) {
    *clocks = {host.ticks, host.mono_ns, host.mono_ns + 1, host.wall_ns};
}

unsigned long dbk_host_enter(void) {
    if (daybreak::engine_test::host_enter_hook != nullptr)
        daybreak::engine_test::host_enter_hook();
    return 7;
}
void dbk_host_leave(unsigned long flags) {
    if (flags != 7)
        std::abort();
    if (daybreak::engine_test::host_leave_hook != nullptr)
        daybreak::engine_test::host_leave_hook();
}
uint32_t dbk_host_cpu(void) {
    return host_cpu;
}
uint64_t dbk_host_ticks(void) {
    if (host.in_ticks)
        host.in_ticks();
    return host.ticks += host.tick_step;
}
uint64_t dbk_host_mono_ns(void) {
    if (host.in_mono_ns)
        host.in_mono_ns();
    return ++host.mono_ns;
}
uint64_t dbk_host_wall_ns(void) {
    if (host.in_wall_ns)
        host.in_wall_ns();
    return host.wall_ns;
}
uint32_t dbk_host_pid(void) {
    return host.pid;
}
uint32_t dbk_host_tid(void) {
    return host.tid;
}
uint64_t dbk_host_curthread(void) {
    return host.curthread;
}
const char* dbk_host_execname(void) {
    return host.execname;
}
uint64_t dbk_host_thread_key(void) {
    return host.tid + (uint64_t{host_cpu} << 40);
}
uint32_t dbk_host_uid(void) {
    return host.uid;
}
uint32_t dbk_host_gid(void) {
    return host.gid;
}
uint32_t dbk_host_ppid(void) {
    return host.ppid;
}
uint64_t dbk_host_vtimestamp(void) {
    return host.vtimestamp;
}
uint32_t dbk_host_ipl(void) {
    return host.ipl;
}
bool dbk_host_progenyof(uint32_t pid) {
    return pid == host.pid || pid == host.ppid;
}
uint64_t dbk_host_random(void) {
    return host.random;
}
int32_t dbk_host_errno(const dbk_probe*, void*) {
    return host.error;
}
uint64_t dbk_host_caller(void*) {
    return host.caller;
}
uint64_t dbk_host_ucaller(void*) {
    host.silent_reads++;
    return host.ucaller;
}

static uint32_t give(const std::vector<uint64_t>& from, uint64_t* pcs, uint32_t most) {
    auto count = static_cast<uint32_t>(std::min<size_t>(from.size(), most));
    std::copy_n(from.begin(), count, pcs);
    return count;
}
uint32_t dbk_host_stack(void*, uint64_t* pcs, uint32_t most) {
    return give(host.stack, pcs, most) + host.frames_more;
}
uint32_t dbk_host_ustack(void*, uint64_t* pcs, uint32_t most, uint64_t*) {
    host.silent_reads++;
    return give(host.ustack, pcs, most);
}
bool dbk_host_user_registers(void*, uint64_t* registers) {
    std::ranges::copy(host.user_registers, registers);
    return !host.user_registers.empty();
}
bool dbk_host_ureg(void*, uint64_t index, uint64_t* value) {
    *value = 1000 + index;
    return index < 16;
}
uint64_t dbk_host_arg(const dbk_probe*, void*, uint32_t index) {
    host.silent_reads++;
    return 9000 + index;
}

bool dbk_host_load(void* to, uint64_t address, uint32_t bytes) {
    if (host.in_load)
        host.in_load();
    return copy_from(host.kernel_memory, to, address, bytes);
}
int32_t dbk_host_load_string(char* to, uint64_t address, uint32_t bytes) {
    return copy_string(host.kernel_memory, to, address, bytes);
}
bool dbk_host_load_user(void* to, uint64_t address, uint32_t bytes) {
    return copy_from(host.user_memory, to, address, bytes);
}
int32_t dbk_host_load_user_string(char* to, uint64_t address, uint32_t bytes) {
    return copy_string(host.user_memory, to, address, bytes);
}
bool dbk_host_store_user(uint64_t address, const void* from, uint32_t bytes) {
    auto it = host.user_memory.upper_bound(address);
    if (it == host.user_memory.begin())
        return false;
    --it;
    uint64_t offset = address - it->first;
    if (offset > it->second.size() || bytes > it->second.size() - offset)
        return false;
    std::memcpy(it->second.data() + offset, from, bytes);
    return true;
}
const dbk_kernel_layout* dbk_host_layout(void) {
    return &host.layout;
}
void dbk_host_cpu_place(uint32_t cpu, uint32_t* package_ret, uint32_t* node_ret) {
    *package_ret = cpu;
    *node_ret = 0;
}
void dbk_host_triggered() {
    host.triggered++;
}
bool dbk_host_raise(int32_t signal) {
    return note("raise " + std::to_string(signal));
}
bool dbk_host_breakpoint(const dbk_probe* probe, uint32_t epid) {
    return note(std::string("breakpoint ") + probe->name + ' ' + std::to_string(epid));
}
bool dbk_host_panic(const dbk_probe* probe, uint32_t epid) {
    return note(std::string("panic ") + probe->name + ' ' + std::to_string(epid));
}
void dbk_host_chill(uint64_t ns) {
    host.mono_ns += ns;
    host.acts.push_back("chill " + std::to_string(ns));
}

} // extern "C"
