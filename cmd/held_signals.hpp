// SPDX-License-Identifier: Apache-2.0
//
// Signals that end a program, held while there is something to put away first.
//
// As system(3) does, a program that runs another one waits for it when Ctrl-C comes: only then can
// it remove what was made for the child.
#pragma once

#include <array>
#include <csignal>
#include <sys/types.h>

namespace daybreak::cmd {

/// Holds SIGHUP, SIGINT, SIGQUIT and SIGTERM, but for those that are ignored: a signal that comes
/// is noted, and passed to the child that runs.  The destructor gives back what signals did before
/// and raises the one that came: the process ends by it, or an outer HeldSignals has it.  Declare
/// it before what has to be put away.
class HeldSignals {
public:
    HeldSignals();
    ~HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    /// Returns the signal that came; 0: none did.
    static int came();

    /// Passes signals to a child, or with a negative number to a group of processes; also one that
    /// came since it was started.  A second signal kills it.  0: there is no child any more.
    static void pass_to(pid_t child);

private:
    static constexpr std::array kSignals = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    std::array<struct sigaction, kSignals.size()> before_ = {};
};

} // namespace daybreak::cmd
