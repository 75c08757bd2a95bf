// SPDX-License-Identifier: Apache-2.0
//
// SyscallTracer: what the real processes of -c do.
#include "live/process/syscall_tracer.hpp"

#include "base/file.hpp"
#include "live/process/child_signal.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <linux/audit.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace daybreak::live {

namespace {

constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
                          PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
/// The longest sleep: a process of -p ends without a signal to us.
constexpr uint64_t kSleepNsMax = 50'000'000;

void* as_pointer(long value) {
    return reinterpret_cast<void*>(value);
}

} // namespace

void read_thread(pid_t tid, sim::SimThread& thread) {
    auto bytes = base::read_file("/proc/" + std::to_string(tid) + "/status");
    if (!bytes.ok())
        return;
    std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    auto value = [&text](const char* name) {
        size_t at = text.find(name);
        return at == std::string::npos ? std::string()
                                       : text.substr(at + std::strlen(name),
                                                     text.find('\n', at) - at - std::strlen(name));
    };
    thread.set_execname(value("Name:\t"));
    thread.pid = static_cast<uint32_t>(std::strtoul(value("Tgid:\t").c_str(), nullptr, 10));
    thread.ppid = static_cast<uint32_t>(std::strtoul(value("PPid:\t").c_str(), nullptr, 10));
    thread.uid = static_cast<uint32_t>(std::strtoul(value("Uid:\t").c_str(), nullptr, 10));
    thread.gid = static_cast<uint32_t>(std::strtoul(value("Gid:\t").c_str(), nullptr, 10));
}

size_t SyscallTracer::alive() {
    size_t count = 0;
    for (Target* target : targets_)
        if (traced_.count(target->pid()) != 0 || !target->is_gone())
            count++;
    return count;
}

sim::SimThread SyscallTracer::thread_of(pid_t pid) const {
    sim::SimThread thread;
    thread.is_real = true;
    thread.pid = thread.tid = static_cast<uint32_t>(pid);
    thread.key = static_cast<uint64_t>(pid);
    read_thread(pid, thread);
    return thread;
}

void SyscallTracer::begin(bool seen) {
    block_child_signal();
    seen_ = seen;
    for (Target* target : targets_) {
        if (!target->is_held())
            continue;
        if (!seen ||
            ::ptrace(PTRACE_SETOPTIONS, target->pid(), nullptr, as_pointer(kOptions)) != 0) {
            target->let_go();
            continue;
        }
        functions_.arm(target->pid());
        target->hand_over();
        traced_.try_emplace(target->pid());
    }
    for (auto& [pid, traced] : traced_)
        ::ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
}

void SyscallTracer::sleep(uint64_t ns) {
    static_cast<void>(sleep_until_child(targets_.empty() ? ns : std::min(ns, kSleepNsMax)));
}

void SyscallTracer::call_stop(pid_t pid, const std::function<void(const TracedCall&)>& happened) {
    __ptrace_syscall_info info{};
    Traced& traced = traced_[pid];
    if (::ptrace(static_cast<__ptrace_request>(PTRACE_GET_SYSCALL_INFO), pid,
                 as_pointer(sizeof(info)), &info) <= 0)
        return;
    TracedCall call;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        // Another table's (int $0x80 of a 64-bit program is i386's): its number is another call here.
        traced.call.number =
            info.arch == AUDIT_ARCH_X86_64 ? static_cast<uint32_t>(info.entry.nr) : UINT32_MAX;
        std::copy_n(info.entry.args, traced.call.args.size(), traced.call.args.begin());
        call.kind = TracedCall::Kind::entry;
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
        traced.call.result = info.exit.rval;
        call.kind = TracedCall::Kind::returned;
    } else {
        return;
    }
    call.thread = thread_of(pid);
    call.call = traced.call;
    if (call.kind == TracedCall::Kind::returned && call.call.number == SYS_mmap &&
        (call.call.args[2] & PROT_EXEC) != 0)
        functions_.mapped(static_cast<pid_t>(call.thread.pid));
    happened(call);
}

/// Stops the other threads of a process, and the commands', whose memory a child of vfork(2) has,
/// so that none passes a breakpoint that is away while a thread steps.  Returns those to let go
/// afterwards; others stop, or have stopped, on their own.
std::vector<pid_t> SyscallTracer::hold_others(pid_t tid, pid_t process) {
    std::vector<pid_t> held;
    for (auto& [other, traced] : traced_) {
        auto is_it = [other = other](const auto& one) { return one.first == other; };
        auto is_of = [other = other](pid_t owner) {
            std::string thread = base::strprintf("/proc/%d/task/%d", owner, other);
            return ::access(thread.c_str(), F_OK) == 0;
        };
        if (other == tid || std::ranges::any_of(deferred_, is_it) ||
            (!is_of(process) && std::ranges::none_of(targets_, is_of, &Target::pid)))
            continue;
        ::syscall(SYS_tkill, other, SIGSTOP);
        int status = 0;
        pid_t got = 0;
        // One that cannot be waited for is in the kernel, as in vfork(2), and stops on its way out.
        while ((got = ::waitpid(other, &status, WNOHANG | __WALL)) == 0 &&
               std::strchr("DZX", state_of(other)) == nullptr)
            ::sched_yield();
        traced.stop_pending = got != other || !WIFSTOPPED(status) || status >> 8 != SIGSTOP;
        if (!traced.stop_pending)
            held.push_back(other);
        else if (got == other)
            deferred_.emplace_back(other, status);
    }
    return held;
}

/// Returns whether a thread has stopped at a function; then it has gone on.
bool SyscallTracer::function_stop(pid_t pid,
                                  const std::function<void(const TracedCall&)>& happened) {
    std::optional<FunctionEntry> entry = functions_.entry_of(pid);
    if (!entry)
        return false;
    TracedCall call;
    call.kind = TracedCall::Kind::function;
    call.thread = thread_of(pid);
    call.function = *entry;
    for (sim::SimProbe* probe :
         functions_.probes_at(static_cast<pid_t>(call.thread.pid), entry->address)) {
        call.probe = probe;
        happened(call);
    }
    std::vector<pid_t> held = hold_others(pid, static_cast<pid_t>(call.thread.pid));
    std::optional<int> status = functions_.step(pid, entry->address);
    for (pid_t other : held)
        ::ptrace(PTRACE_SYSCALL, other, nullptr, nullptr);
    if (status)
        changed(pid, *status, happened);
    else
        ::ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    return true;
}

void SyscallTracer::stopped(pid_t pid, int status,
                            const std::function<void(const TracedCall&)>& happened) {
    int signal = WSTOPSIG(status), event = status >> 16;
    int forward = 0;
    auto tell = [&](TracedCall::Kind kind, uint64_t arg0) {
        TracedCall call;
        call.kind = kind;
        call.thread = thread_of(pid);
        call.arg0 = arg0;
        happened(call);
    };
    auto [at, is_new] = traced_.try_emplace(pid);
    if (event == 0 && signal == SIGTRAP && function_stop(pid, happened))
        return;
    if (signal == (SIGTRAP | 0x80)) {
        call_stop(pid, happened);
    } else if (event == PTRACE_EVENT_EXEC) {
        functions_.execed(pid);
        tell(TracedCall::Kind::exec, 0);
    } else if (event == PTRACE_EVENT_EXIT) {
        unsigned long code = 0;
        ::ptrace(PTRACE_GETEVENTMSG, pid, nullptr, &code);
        int end = static_cast<int>(code);
        for (const Target* target : targets_)
            if (target->pid() == pid)
                target->ending();
        if (thread_of(pid).pid == static_cast<uint32_t>(pid)) // not a thread of several
            tell(TracedCall::Kind::exit, WIFEXITED(end)   ? CLD_EXITED
                                         : WCOREDUMP(end) ? CLD_DUMPED
                                                          : CLD_KILLED);
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
        unsigned long child = 0;
        if (event == PTRACE_EVENT_FORK && ::ptrace(PTRACE_GETEVENTMSG, pid, nullptr, &child) == 0)
            functions_.forked(static_cast<pid_t>(child));
        tell(TracedCall::Kind::create, 0);
    } else if (is_new && signal == SIGSTOP) {
        tell(TracedCall::Kind::start, 0); // a child's first stop is ptrace's own
    } else if (event == 0 && signal == SIGSTOP && at->second.stop_pending) {
        at->second.stop_pending = false; // ours
    } else if (event == 0) {
        forward = signal;
    }
    ::ptrace(PTRACE_SYSCALL, pid, nullptr, as_pointer(forward));
}

/// What waitpid(2) says of a process.
void SyscallTracer::changed(pid_t pid, int status,
                            const std::function<void(const TracedCall&)>& happened) {
    if (WIFSTOPPED(status)) {
        stopped(pid, status, happened);
        return;
    }
    traced_.erase(pid);
    for (Target* target : targets_)
        if (target->pid() == pid)
            target->set_gone(status);
}

bool SyscallTracer::turn(const std::function<void(const TracedCall&)>& happened) {
    if (!seen_)
        return false;
    bool any = false;
    int status = 0;
    pid_t pid;
    while (!deferred_.empty()) {
        auto [stopped_pid, said] = deferred_.front();
        deferred_.pop_front();
        changed(stopped_pid, said, happened);
    }
    while ((pid = ::waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
        any = true;
        changed(pid, status, happened);
    }
    return any;
}

void SyscallTracer::end() {
    // Other processes that are traced, children of the commands, are let go by the kernel when this
    // one ends.
    for (Target* target : targets_)
        target->end();
    traced_.clear();
    seen_ = false;
}

namespace {

void fire_function(sim::Simulation& simulation, const TracedCall& call) {
    if (!dbk_probe_is_enabled(&call.probe->probe))
        return;
    sim::SimThread before = simulation.host().thread();
    simulation.host().set_thread(call.thread);
    sim::SimSite site;
    site.user_stack = call.function.user_stack;
    simulation.fire(*call.probe, call.function.args, site);
    simulation.host().set_thread(before);
}

} // namespace

void fire_traced(sim::SimMachine& machine, sim::Simulation& simulation, const TracedCall& call) {
    using Kind = TracedCall::Kind;
    if (call.kind == Kind::entry)
        return machine.fire_entry(simulation, call.thread, call.call);
    if (call.kind == Kind::returned)
        return machine.fire_return(simulation, call.thread, call.call);
    if (call.kind == Kind::function)
        return fire_function(simulation, call);
    sim::SimProcEvent event = call.kind == Kind::exec     ? sim::SimProcEvent::exec_success
                              : call.kind == Kind::create ? sim::SimProcEvent::create
                              : call.kind == Kind::start  ? sim::SimProcEvent::start
                                                          : sim::SimProcEvent::exit;
    machine.fire_process(simulation, call.thread, event, call.arg0);
}

} // namespace daybreak::live
