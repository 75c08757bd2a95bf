// SPDX-License-Identifier: Apache-2.0
#include "cmd/held_signals.hpp"

#include <atomic>
#include <cerrno>

namespace daybreak::cmd {

namespace {

// Signal handlers are the process's.
std::atomic<int> signal_that_came{0};
std::atomic<pid_t> child_that_runs{0};

void hold(int signal, siginfo_t* info, void*) {
    const int error = errno;
    const bool again = signal_that_came.exchange(signal) != 0;
    const pid_t child = child_that_runs.load();
    // What a terminal sends, a child of our own group has by itself.
    const bool has_it = child > 0 && info->si_code == SI_KERNEL;
    if (child != 0 && again)
        ::kill(child, SIGKILL);
    else if (child != 0 && !has_it)
        ::kill(child, signal);
    errno = error;
}

} // namespace

HeldSignals::HeldSignals() {
    struct sigaction action = {};
    action.sa_sigaction = hold;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < kSignals.size(); i++) {
        ::sigaction(kSignals[i], nullptr, &before_[i]);
        if (before_[i].sa_handler != SIG_IGN)
            ::sigaction(kSignals[i], &action, nullptr);
    }
}

HeldSignals::~HeldSignals() {
    for (size_t i = 0; i < kSignals.size(); i++)
        ::sigaction(kSignals[i], &before_[i], nullptr);
    if (const int signal = signal_that_came.exchange(0); signal != 0)
        ::raise(signal);
}

int HeldSignals::came() {
    return signal_that_came.load();
}

void HeldSignals::pass_to(pid_t child) {
    child_that_runs.store(child);
    if (const int signal = came(); child != 0 && signal != 0)
        ::kill(child, signal);
}

} // namespace daybreak::cmd
