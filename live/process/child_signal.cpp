// SPDX-License-Identifier: Apache-2.0
#include "live/process/child_signal.hpp"

#include <csignal>
#include <ctime>

namespace daybreak::live {

namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

sigset_t child_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    return set;
}

} // namespace

void block_child_signal() {
    sigset_t child = child_signal();
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
}

bool sleep_until_child(uint64_t ns) {
    sigset_t child = child_signal();
    timespec time{static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
    return ::sigtimedwait(&child, nullptr, &time) == SIGCHLD;
}

} // namespace daybreak::live
