// SPDX-License-Identifier: Apache-2.0
//
// FunctionProbes: pidN:OBJECT:FUNCTION:entry, for a machine that has no module loaded.
//
// A program that names functions of a command of -c finds it where its libraries are mapped and
// its first instruction is to come; objects mapped later bring theirs.  Each enabled function has
// a breakpoint at its first instruction.  A thread that stops there fires the probes, steps over
// the instruction that the breakpoint covers, and goes on.  While it steps the breakpoint is away,
// and the process's other threads have to be held.
#pragma once

#include "engine/sim/bare_host.hpp"
#include "formats/dof/dof_program.hpp"
#include "live/process/process_names.hpp"
#include "live/process/target.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace daybreak::live {

/// Lets a process that is held after its exec run to its first instruction: by then the dynamic
/// linker has mapped the libraries.  It stays held unless it ended before.  With `traces_more` what
/// threads and children the libraries begin with are traced from then on.
void run_to_start(pid_t pid, bool traces_more);

/// A thread at the entry of functions that are enabled.
struct FunctionEntry {
    uint64_t address = 0;
    std::array<uint64_t, 6> args{};
    std::vector<uint64_t> user_stack; ///< by frame pointers, innermost first
};

class FunctionProbes {
public:
    explicit FunctionProbes(sim::BareHost& host) : host_(host) {}

    /// A process of -p, which is not held, has no such probes.
    void add(const Target& target);
    /// Publishes the functions that a description names, if it names a process ("pid123").
    void make_named(const formats::DofProbeName& description);
    /// Whether there are any: then the processes have to be traced.
    bool any() const;
    /// Puts the breakpoints of what is enabled into a process that is stopped.
    void arm(pid_t pid);
    /// A process that is stopped has mapped code: its functions are published, and armed.
    void mapped(pid_t pid);
    /// A child has its parent's memory, breakpoints included: takes them out of its copy.
    void forked(pid_t child) const;
    /// A process has another image.
    void execed(pid_t pid);

    /// Returns where a thread stands that SIGTRAP stopped; nothing when no breakpoint did it.
    std::optional<FunctionEntry> entry_of(pid_t tid) const;
    /// Returns the probes that fire there for a thread of process `pid`.
    std::span<sim::SimProbe* const> probes_at(pid_t pid, uint64_t address) const;
    /// Steps a thread over the instruction there.  Returns what waitpid(2) says when the thread did
    /// something else: it ended.
    std::optional<int> step(pid_t tid, uint64_t address) const;

private:
    struct Breakpoint {
        std::vector<sim::SimProbe*> probes;
        std::byte original{};
        bool armed = false;
    };
    struct Process {
        bool is_ready = false; ///< its libraries are mapped
        std::vector<formats::DofProbeName> named;
        std::map<std::pair<std::string, std::string>, sim::SimProbe*> probes; // by object, function
        std::map<uint64_t, Breakpoint> breakpoints;                           // by address
    };

    void publish(pid_t pid, Process& process, const formats::DofProbeName& description);
    const Breakpoint* armed_at(uint64_t address) const;

    sim::BareHost& host_;
    ProcessNames names_;
    std::map<pid_t, Process> processes_;
};

} // namespace daybreak::live
