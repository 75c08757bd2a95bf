// SPDX-License-Identifier: Apache-2.0
//
// What the running kernel still knows of its start, by tracefs and /dev/kmsg, on one clock.
#pragma once

#include "base/result.hpp"
#include "cmd/backfill/start_clocks.hpp"

#include <string>
#include <utility>
#include <vector>

namespace daybreak::cmd {

/// Something that happened before the module came, or the moment when it did.
struct StartEvent {
    enum class Kind : uint8_t {
        loader_done, ///< the kernel's clock begins
        level,
        initcall_start,
        initcall_done,
        message,
        module_loaded
    };
    Kind kind = Kind::level;
    uint64_t mono_ns = 0;
    uint32_t cpu = 0;
    int32_t tid = 0;
    std::string task;
    std::string text;       ///< the level's name, the function's, the message
    uint64_t took_ns = 0;   ///< initcall_done; loader_done: since the TSC was 0
    int64_t error = 0;      ///< initcall_done: what it returned
    uint32_t log_level = 0; ///< message
};

/// What is not in the events, or is wrong in them.
struct StartLoss {
    std::string text;
    std::vector<std::pair<StartEvent::Kind, uint64_t>> missed; ///< at least; empty: none
};

struct KernelStart {
    std::vector<StartEvent> events; ///< by time; at least one
    std::vector<StartLoss> losses;
    std::vector<std::string> notes; ///< how exact the times are, where that is not within 1 ms
};

/// Where the kernel keeps it.
struct StartSource {
    std::string tracefs = "/sys/kernel/tracing";
    std::string log = "/dev/kmsg";
    std::string loader = "/proc/sys/kernel/bootloader_type";
};

/// Reads it; what comes after the module is left out.
/// Errors: not_found: the kernel kept no events; unsupported: their clock is not one that we can
/// convert; io.
base::Result<KernelStart> read_kernel_start(const StartSource& source, StartClocks& clocks);

/// Ends it: no more events of initcalls; where no other event is on, ftrace's buffer is emptied,
/// and its clock is the one that a kernel has by itself.  Returns what was left as it is, and why;
/// "" when nothing was.  Error: io.
base::Result<std::string> release_kernel_start(const StartSource& source);

} // namespace daybreak::cmd
