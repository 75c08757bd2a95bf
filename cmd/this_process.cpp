// SPDX-License-Identifier: Apache-2.0
#include "cmd/this_process.hpp"

#include "engine/sim/simulation.hpp"

#include <algorithm>
#include <unistd.h>

namespace daybreak::cmd {

sim::SimThread this_process() {
    sim::SimThread thread;
    thread.pid = thread.tid = static_cast<uint32_t>(::getpid());
    thread.ppid = static_cast<uint32_t>(::getppid());
    thread.uid = ::getuid();
    thread.gid = ::getgid();
    return thread;
}

uint32_t online_cpus() {
    return static_cast<uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * sim::kNsPerSecond +
           static_cast<uint64_t>(now.tv_nsec);
}

} // namespace daybreak::cmd
