// SPDX-License-Identifier: Apache-2.0
//
// SyscallTracer: what the real processes of -c do, for a machine that has no module loaded.
//
// A command's system calls, the functions of it that are enabled, exec, children and end are seen
// by ptrace(2) and handed over as they happen.  Only while a reader looks: else the command runs
// free, and its end alone is watched. Processes of -p run free always.
#pragma once

#include "engine/sim/machine.hpp"
#include "live/process/function_probes.hpp"
#include "live/process/target.hpp"

#include <deque>
#include <functional>
#include <map>

namespace daybreak::live {

/// Something that a traced process did.
struct TracedCall {
    enum class Kind : uint8_t {
        entry,
        returned,
        function,
        exec,
        create,
        start,
        exit
    } kind = Kind::entry;
    sim::SimThread thread;
    sim::SimCall call;              ///< of entry and returned
    uint64_t arg0 = 0;              ///< of exit: CLD_EXITED, CLD_KILLED, CLD_DUMPED
    FunctionEntry function;         ///< of function
    sim::SimProbe* probe = nullptr; ///< of function
};

class SyscallTracer {
public:
    /// The probes must outlive the tracer.
    explicit SyscallTracer(FunctionProbes& functions) : functions_(functions) {}
    SyscallTracer(const SyscallTracer&) = delete;
    SyscallTracer& operator=(const SyscallTracer&) = delete;
    ~SyscallTracer() { end(); }

    /// The target must outlive the tracer.
    void add(Target& target) {
        targets_.push_back(&target);
        functions_.add(target);
    }
    size_t targets() const { return targets_.size(); }
    /// Targets that are not gone.
    size_t alive();

    /// Tracing has begun: lets the commands run, seen or free.
    void begin(bool seen);
    /// Handles what has happened up to now.  Returns whether anything had.
    bool turn(const std::function<void(const TracedCall&)>& happened);
    /// Sleeps until a process does something, a signal arrives, or the time is over.
    void sleep(uint64_t ns);
    /// Ends the commands that still run, as dtrace(1) does.
    void end();

private:
    struct Traced {
        bool in_call = false;
        bool stop_pending = false; ///< a SIGSTOP of hold_others() is to come
        sim::SimCall call;
    };

    void stopped(pid_t pid, int status, const std::function<void(const TracedCall&)>& happened);
    void call_stop(pid_t pid, const std::function<void(const TracedCall&)>& happened);
    bool function_stop(pid_t pid, const std::function<void(const TracedCall&)>& happened);
    std::vector<pid_t> hold_others(pid_t tid, pid_t process);
    void changed(pid_t pid, int status, const std::function<void(const TracedCall&)>& happened);
    sim::SimThread thread_of(pid_t pid) const;

    FunctionProbes& functions_;
    std::vector<Target*> targets_;
    std::map<pid_t, Traced> traced_;             // by thread id
    std::deque<std::pair<pid_t, int>> deferred_; // what waitpid(2) said, to be looked at
    bool seen_ = false;
};

/// Reads from /proc what is known of a thread; one that is gone keeps what `thread` says.
void read_thread(pid_t tid, sim::SimThread& thread);

/// Fires the probes of what a process did.
void fire_traced(sim::SimMachine& machine, sim::Simulation& simulation, const TracedCall& call);

} // namespace daybreak::live
