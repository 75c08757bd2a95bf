// SPDX-License-Identifier: Apache-2.0
//
// FunctionProbes: functions of the commands of -c.
#include "live/process/function_probes.hpp"

#include "base/file.hpp"
#include "engine/sim/process_memory.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace daybreak::live {

namespace {

constexpr std::byte kBreakpoint{0xcc}; // int3
/// Frames of a user stack that are followed.
constexpr size_t kFramesMax = 100;

/// Writes a byte of code, which ptrace(2) of the process allows, and returns what was there.
std::optional<std::byte> exchange_code(pid_t pid, uint64_t address, std::byte code) {
    base::ScopedFd memory(
        ::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
    std::byte before{};
    auto offset = static_cast<off_t>(address);
    if (!memory.valid() || ::pread(memory.get(), &before, 1, offset) != 1 ||
        ::pwrite(memory.get(), &code, 1, offset) != 1)
        return std::nullopt;
    return before;
}

/// Returns where a program's first instruction is.
std::optional<uint64_t> start_of(pid_t pid) {
    auto bytes = base::read_file("/proc/" + std::to_string(pid) + "/auxv");
    if (!bytes.ok())
        return std::nullopt;
    Elf64_auxv_t entry;
    for (size_t at = 0; at + sizeof(entry) <= bytes->size(); at += sizeof(entry)) {
        std::memcpy(&entry, bytes->data() + at, sizeof(entry));
        if (entry.a_type == AT_ENTRY)
            return entry.a_un.a_val;
    }
    return std::nullopt;
}

bool set_pc(pid_t tid, uint64_t address) {
    user_regs_struct registers{};
    if (::ptrace(PTRACE_GETREGS, tid, nullptr, &registers) != 0)
        return false;
    registers.rip = address;
    return ::ptrace(PTRACE_SETREGS, tid, nullptr, &registers) == 0;
}

} // namespace

void run_to_start(pid_t pid, bool traces_more) {
    uintptr_t options =
        traces_more ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE : 0;
    auto start = start_of(pid);
    auto original = start ? exchange_code(pid, *start, kBreakpoint) : std::nullopt;
    if (!original || ::ptrace(PTRACE_SETOPTIONS, pid, nullptr, options) != 0 ||
        ::ptrace(PTRACE_CONT, pid, nullptr, nullptr) != 0)
        return;
    for (;;) {
        int status = 0;
        pid_t tid = ::waitpid(-1, &status, __WALL);
        if (tid < 0 || (tid == pid && !WIFSTOPPED(status)))
            return;
        int signal = WIFSTOPPED(status) && status >> 16 == 0 ? WSTOPSIG(status) : 0;
        if (tid == pid && signal == SIGTRAP)
            break;
        if (tid != pid && signal == SIGSTOP)
            signal = 0; // ptrace's own
        ::ptrace(PTRACE_CONT, tid, nullptr, static_cast<uintptr_t>(signal));
    }
    static_cast<void>(exchange_code(pid, *start, *original));
    static_cast<void>(set_pc(pid, *start));
}

namespace {

/// The callers, as frame pointers lead to them: the function has not pushed its own yet.
std::vector<uint64_t> callers(pid_t pid, const user_regs_struct& registers) {
    std::vector<uint64_t> stack{registers.rip};
    auto process = static_cast<uint32_t>(pid);
    uint64_t caller = 0;
    if (sim::load_process(process, &caller, registers.rsp, sizeof(caller)))
        stack.push_back(caller);
    uint64_t frame = registers.rbp, words[2] = {};
    while (stack.size() < kFramesMax && frame > registers.rsp && frame % sizeof(frame) == 0 &&
           sim::load_process(process, words, frame, sizeof(words)) && words[1] != 0) {
        stack.push_back(words[1]);
        if (words[0] <= frame)
            break;
        frame = words[0];
    }
    return stack;
}

} // namespace

void FunctionProbes::add(const Target& target) {
    if (target.is_held())
        processes_[target.pid()];
}

void FunctionProbes::make_named(const formats::DofProbeName& description) {
    for (auto& [pid, process] : processes_) {
        // Not what merely fits every process, as :::entry does.
        if (!description.provider.ends_with(std::to_string(pid)) ||
            !sim::glob_match(description.provider, "pid" + std::to_string(pid)) ||
            !sim::glob_match(description.name, "entry"))
            continue;
        if (!std::exchange(process.is_ready, true))
            run_to_start(pid, /*traces_more=*/true);
        process.named.push_back(description);
        publish(pid, process, description);
    }
}

void FunctionProbes::publish(pid_t pid, Process& process,
                             const formats::DofProbeName& description) {
    auto wanted = [&description](const ProcessNames::Function& function) {
        return module_meant(description.module, function.object, function.is_program) &&
               sim::glob_match(description.function, function.name);
    };
    for (const auto& function : names_.functions(static_cast<uint64_t>(pid), wanted)) {
        const std::string module =
            *module_meant(description.module, function.object, function.is_program);
        auto [at, is_new] = process.probes.try_emplace(std::pair(module, function.name), nullptr);
        if (is_new) {
            // A name that is too long for a probe has none.
            auto added =
                host_.add_probe({"pid" + std::to_string(pid), module, function.name, "entry"}, 6);
            at->second = added.ok() ? *added : nullptr;
        }
        auto& probes = process.breakpoints[function.address].probes;
        if (at->second != nullptr && std::ranges::find(probes, at->second) == probes.end())
            probes.push_back(at->second);
    }
}

namespace {

bool is_enabled(const sim::SimProbe* probe) {
    return dbk_probe_is_enabled(&probe->probe);
}

} // namespace

bool FunctionProbes::any() const {
    return std::ranges::any_of(processes_, [](const auto& one) { return one.second.is_ready; });
}

void FunctionProbes::arm(pid_t pid) {
    auto process = processes_.find(pid);
    if (process == processes_.end())
        return;
    for (auto& [address, breakpoint] : process->second.breakpoints) {
        if (breakpoint.armed || std::ranges::none_of(breakpoint.probes, is_enabled))
            continue;
        auto original = exchange_code(pid, address, kBreakpoint);
        breakpoint.armed = original.has_value();
        breakpoint.original = original.value_or(std::byte{});
    }
}

void FunctionProbes::mapped(pid_t pid) {
    auto process = processes_.find(pid);
    if (process == processes_.end())
        return;
    for (const formats::DofProbeName& description : process->second.named)
        publish(pid, process->second, description);
    arm(pid);
}

void FunctionProbes::forked(pid_t child) const {
    for (const auto& [pid, process] : processes_)
        for (const auto& [address, breakpoint] : process.breakpoints)
            if (breakpoint.armed)
                static_cast<void>(exchange_code(child, address, breakpoint.original));
}

void FunctionProbes::execed(pid_t pid) {
    processes_.erase(pid);
}

/// A child that shares its parent's memory stops at its parent's.
const FunctionProbes::Breakpoint* FunctionProbes::armed_at(uint64_t address) const {
    for (const auto& [pid, process] : processes_) {
        auto found = process.breakpoints.find(address);
        if (found != process.breakpoints.end() && found->second.armed)
            return &found->second;
    }
    return nullptr;
}

std::optional<FunctionEntry> FunctionProbes::entry_of(pid_t tid) const {
    siginfo_t info{};
    user_regs_struct registers{};
    if (processes_.empty() || ::ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) != 0 ||
        (info.si_code != SI_KERNEL && info.si_code != TRAP_BRKPT) ||
        ::ptrace(PTRACE_GETREGS, tid, nullptr, &registers) != 0 ||
        armed_at(registers.rip - 1) == nullptr)
        return std::nullopt;
    registers.rip--;
    FunctionEntry entry;
    entry.address = registers.rip;
    entry.args = {registers.rdi, registers.rsi, registers.rdx,
                  registers.rcx, registers.r8,  registers.r9};
    entry.user_stack = callers(tid, registers);
    return entry;
}

std::span<sim::SimProbe* const> FunctionProbes::probes_at(pid_t pid, uint64_t address) const {
    auto process = processes_.find(pid);
    if (process == processes_.end())
        return {};
    auto found = process->second.breakpoints.find(address);
    return found == process->second.breakpoints.end()
               ? std::span<sim::SimProbe* const>{}
               : std::span<sim::SimProbe* const>(found->second.probes);
}

std::optional<int> FunctionProbes::step(pid_t tid, uint64_t address) const {
    const Breakpoint* breakpoint = armed_at(address);
    if (breakpoint == nullptr || !set_pc(tid, address) ||
        !exchange_code(tid, address, breakpoint->original))
        return std::nullopt;
    std::vector<int> signals; // that came instead: they are sent again afterwards
    int status = 0;
    for (;;) {
        if (::ptrace(PTRACE_SINGLESTEP, tid, nullptr, nullptr) != 0 ||
            ::waitpid(tid, &status, __WALL) != tid)
            return std::nullopt;
        if (!WIFSTOPPED(status) || status >> 16 != 0)
            break;
        if (WSTOPSIG(status) == SIGTRAP) {
            status = 0;
            break;
        }
        signals.push_back(WSTOPSIG(status));
    }
    static_cast<void>(exchange_code(tid, address, kBreakpoint));
    for (int signal : signals)
        ::syscall(SYS_tkill, tid, signal);
    return status != 0 ? std::optional(status) : std::nullopt;
}

} // namespace daybreak::live
