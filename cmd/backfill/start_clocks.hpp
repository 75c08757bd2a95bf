// SPDX-License-Identifier: Apache-2.0
//
// The clocks that a time of the kernel's start is converted by.
#pragma once

#include "formats/boot_log/boot_log.hpp"

#include <cstdint>
#include <ctime>

namespace daybreak::cmd {

/// Of this machine; a test has its own.  CLOCK_MONOTONIC_RAW has the TSC's rate for ever, and is
/// CLOCK_MONOTONIC until a program begins to discipline that: at the times that are looked for.
class StartClocks {
public:
    StartClocks() = default;
    StartClocks(const StartClocks&) = delete;
    StartClocks& operator=(const StartClocks&) = delete;
    virtual ~StartClocks() = default;

    virtual uint64_t raw_ns();
    /// CLOCK_BOOTTIME less CLOCK_MONOTONIC: how long the machine was suspended.
    virtual uint64_t slept_ns();
    /// The TSC of a CPU and CLOCK_MONOTONIC_RAW at one moment.  Of a CPU that is gone, or not this
    /// process's, another's: the reading says so.
    virtual formats::TscReading read_tsc(uint32_t cpu);
    virtual void wait_ns(uint64_t ns);

private:
    virtual uint64_t clock_ns(clockid_t clock);
};

} // namespace daybreak::cmd
