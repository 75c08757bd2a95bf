// SPDX-License-Identifier: Apache-2.0
//
// Target: the processes of -c and -p.
//
// A command is started and held right after its exec, until tracing has begun: nothing that it
// does is missed.  A process of -p runs on; it is only watched.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>

namespace daybreak::live {

/// Returns the letter that /proc has for the state of a process or thread; 0 when it is gone.
char state_of(pid_t pid);

class Target {
public:
    /// Starts a command: words separated by blanks, looked up in PATH.
    /// Error: io, in dtrace(1)'s words, when it cannot be executed.
    static base::Result<Target> start(const std::string& command);
    /// Watches a process.  Error: not_found, the reason alone.
    static base::Result<Target> watch(pid_t pid);

    Target(Target&& other) noexcept;
    Target& operator=(Target&&) = delete;
    ~Target() { end(); }

    pid_t pid() const { return pid_; }
    bool is_child() const { return child_; }
    /// Whether it is held after its exec, by ptrace(2) of this thread.
    bool is_held() const { return held_; }
    /// What to call when a command has come to its end and still has its memory.  To be set before
    /// it is let go: from then on it is held there, and watched by is_gone().
    void set_at_end(std::function<void(pid_t)> at_end) { at_end_ = std::move(at_end); }
    /// It is held at its end, by this or by a tracer of its system calls.
    void ending() const {
        if (at_end_)
            at_end_(pid_);
    }
    /// Lets a held command run.
    void let_go();
    /// Another part resumes it and collects it from here on (a tracer of its system calls).
    void hand_over() {
        held_ = false;
        handed_over_ = true;
    }
    /// Whether it is gone.  Collects a child.
    bool is_gone();
    /// Says that it is gone, and what waitpid(2) said: another part has collected it.
    void set_gone(int status) {
        gone_ = true;
        status_ = status;
    }
    /// How it ended, in dtrace(1)'s words.
    std::string end_text() const;
    /// Kills a command that still runs; a process of -p runs on.
    void end();

private:
    Target(pid_t pid, bool child, bool held) : pid_(pid), child_(child), held_(held) {}

    void pass_stop(int status);

    pid_t pid_ = 0;
    std::function<void(pid_t)> at_end_;
    bool child_ = false, held_ = false, gone_ = false, handed_over_ = false;
    int status_ = 0; // of a command that is gone, as waitpid(2) has it
};

} // namespace daybreak::live
