// SPDX-License-Identifier: Apache-2.0
//
// The clocks that a time of the kernel's start is converted by.
#include "cmd/backfill/start_clocks.hpp"

#include <algorithm>
#include <sched.h>
#include <unistd.h>
#include <x86intrin.h>

namespace daybreak::cmd {

uint64_t StartClocks::clock_ns(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t StartClocks::raw_ns() {
    return clock_ns(CLOCK_MONOTONIC_RAW);
}

// The least of some tries: another process may run between the two readings.
uint64_t StartClocks::slept_ns() {
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < 50; i++) {
        uint64_t mono_ns = clock_ns(CLOCK_MONOTONIC);
        least_ns = std::min(least_ns, clock_ns(CLOCK_BOOTTIME) - mono_ns);
    }
    return least_ns;
}

// Of some tries the one that took least.
formats::TscReading StartClocks::read_tsc(uint32_t cpu) {
    cpu_set_t before, one;
    CPU_ZERO(&one);
    CPU_SET(cpu % CPU_SETSIZE, &one);
    static_cast<void>(::sched_getaffinity(0, sizeof(before), &before));
    bool is_other = ::sched_setaffinity(0, sizeof(one), &one) != 0;
    formats::TscReading best{.width_ns = UINT64_MAX};
    for (int i = 0; i < 50; i++) {
        uint64_t before_ns = raw_ns(), cycles = __rdtsc();
        uint64_t width_ns = raw_ns() - before_ns;
        if (width_ns < best.width_ns)
            best = {cycles, before_ns + width_ns / 2, width_ns, is_other};
    }
    static_cast<void>(::sched_setaffinity(0, sizeof(before), &before));
    return best;
}

void StartClocks::wait_ns(uint64_t ns) {
    ::usleep(static_cast<useconds_t>(ns / 1000));
}

} // namespace daybreak::cmd
