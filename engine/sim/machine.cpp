// SPDX-License-Identifier: Apache-2.0
//
// SimMachine: the probes of a simulated machine, and the processes on it.
#include "engine/sim/machine.hpp"

#include "engine/sim/sim_kernel.hpp"

#include <algorithm>
#include <iterator>

namespace daybreak::sim {

namespace {

// Those that other DTraces publish without being asked.
constexpr const char* kProfileNames[] = {
    "profile-97",   "profile-199",  "profile-499", "profile-997", "profile-1999",
    "profile-4001", "profile-4999", "tick-1",      "tick-10",     "tick-100",
    "tick-500",     "tick-1000",    "tick-5000"};
constexpr const char* kProcessNames[] = {"create", "exec-success", "exit", "start"};

// Where the simulated processes have what their calls point to.
constexpr uint64_t kBufferAddress = 0x7ffff7a00000, kPathAddress = 0x7ffff7a01000;

struct Pattern {
    uint32_t number;
    std::array<uint64_t, 6> args;
    int64_t result;
};

// A shell's and a daemon's day; numbers are those of syscalls.cpp.
constexpr Pattern kPatterns[] = {
    {0, {3, kBufferAddress, 4096}, 512},                              // read
    {1, {1, kBufferAddress, 64}, 64},                                 // write
    {257, {static_cast<uint64_t>(-100), kPathAddress}, 3},            // openat
    {5, {3, kBufferAddress}, 0},                                      // fstat
    {3, {3}, 0},                                                      // close
    {257, {static_cast<uint64_t>(-100), kPathAddress}, -2},           // openat, ENOENT
    {9, {0, 4096, 3, 34, static_cast<uint64_t>(-1)}, 0x7ffff7b00000}, // mmap
    {11, {0x7ffff7b00000, 4096}, 0},                                  // munmap
    {202, {kBufferAddress, 129, 1}, 1},                               // futex
    {232, {4, kBufferAddress, 32, static_cast<uint64_t>(-1)}, 1},     // epoll_wait
    {230, {0, 0, kBufferAddress}, 0},                                 // clock_nanosleep
    {39, {}, 1033},                                                   // getpid
    {16, {1, 0x5401, kBufferAddress}, -25},                           // ioctl, ENOTTY
};

struct Process {
    uint32_t pid, ppid;
    const char* execname;
};
constexpr Process kProcesses[] = {{1, 0, "init"}, {611, 1, "sshd"}, {1033, 611, "bash"}};

} // namespace

Result<std::unique_ptr<SimMachine>> SimMachine::create(BareHost& host, uint64_t seed) {
    std::unique_ptr<SimMachine> machine(new SimMachine(host, seed));
    DBK_TRY_VOID(machine->publish());
    host.user_memory().map(kBufferAddress, std::vector<std::byte>(4096));
    host.user_memory().map_string(kPathAddress, "/etc/hostname");
    return machine;
}

Result<void> SimMachine::publish() {
    for (const char* name : kProfileNames) {
        DBK_TRY(SimProbe * probe, host_.add_probe({"profile", "", "", name}, 2));
        static_cast<void>(probe); // found by its name
    }
    for (uint32_t number = 0; number < kSyscallNumbers; number++) {
        const char* name = syscall_name(number);
        if (name == nullptr)
            continue;
        DBK_TRY(entries_[number], host_.add_probe({"syscall", "vmlinux", name, "entry"}, 6));
        DBK_TRY(returns_[number], host_.add_probe({"syscall", "vmlinux", name, "return"}, 2));
    }
    for (size_t i = 0; i < processes_.size(); i++) {
        DBK_TRY(processes_[i], host_.add_probe({"proc", "vmlinux", "", kProcessNames[i]}, 1));
    }
    return {};
}

namespace {

template <typename Range>
bool any_enabled(const Range& probes) {
    return std::any_of(probes.begin(), probes.end(), [](const SimProbe* probe) {
        return probe != nullptr && dbk_probe_is_enabled(&probe->probe);
    });
}

} // namespace

bool SimMachine::wants_calls() const {
    return any_enabled(entries_) || any_enabled(returns_);
}

bool SimMachine::wants_processes() const {
    return any_enabled(processes_);
}

void SimMachine::fire(Simulation& simulation, SimProbe* probe, const SimThread& thread,
                      std::span<const uint64_t> args, int32_t error_number) {
    if (probe == nullptr || !dbk_probe_is_enabled(&probe->probe))
        return;
    SimThread before = host_.thread();
    host_.set_thread(thread);
    SimSite site = host_.own_site();
    site.error_number = error_number;
    simulation.fire(*probe, args, site);
    host_.set_thread(before);
}

void SimMachine::fire_entry(Simulation& simulation, const SimThread& thread, const SimCall& call) {
    if (call.number < entries_.size())
        fire(simulation, entries_[call.number], thread, call.args, 0);
}

void SimMachine::fire_return(Simulation& simulation, const SimThread& thread, const SimCall& call) {
    constexpr int64_t kErrnoMax = 4095; // linux/err.h: MAX_ERRNO
    bool failed = call.result < 0 && call.result >= -kErrnoMax;
    // As the module has it: a call that failed returned its negative errno.
    const uint64_t value = static_cast<uint64_t>(call.result);
    const uint64_t args[] = {value, value};
    if (call.number < returns_.size())
        fire(simulation, returns_[call.number], thread, args,
             failed ? static_cast<int32_t>(-call.result) : 0);
}

void SimMachine::fire_process(Simulation& simulation, const SimThread& thread, SimProcEvent event,
                              uint64_t arg0) {
    const uint64_t args[] = {arg0};
    fire(simulation, processes_[static_cast<size_t>(event)], thread, args, 0);
}

uint64_t SimMachine::step(Simulation& simulation) {
    const Process& process = kProcesses[random_.below(std::size(kProcesses))];
    const Pattern& pattern = kPatterns[random_.below(std::size(kPatterns))];
    SimThread thread;
    thread.pid = thread.tid = process.pid;
    thread.ppid = process.ppid;
    thread.key = process.pid;
    thread.set_execname(process.execname);
    SimCall call{pattern.number, pattern.args, pattern.result};
    fire_entry(simulation, thread, call);
    if (!simulation.exit_called())
        fire_return(simulation, thread, call);
    constexpr uint64_t kBusyNs = 4'000'000; // some hundred calls a second
    return 1 + random_.below(kBusyNs);
}

} // namespace daybreak::sim
