// SPDX-License-Identifier: Apache-2.0
//
// What a kernel keeps of its own start, as text: events of ftrace, and its messages.
//
//     <idle>-0       [000] d..1. 8076931785: initcall_start: func=con_init+0x0/0x2f0      file trace
//     swapper/0-1    [001] .....   0.348000: initcall_finish: func=con_init+0x0/0x2f0 ret=0
//     6,339,5140900,-;NET: Registered PF_INET6 protocol family                            /dev/kmsg
//
// A time of ftrace's clock x86-tsc is a whole number of cycles; of the others seconds, a point and
// microseconds.  Lines that are neither, and lines of comment, are passed over and counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::formats {

/// A line of ftrace.
struct FtraceEvent {
    uint32_t cpu = 0;
    int32_t tid = 0;
    std::string task; ///< the thread's name
    uint64_t stamp = 0;
    bool is_cycles = false; ///< the stamp is of the TSC; else nanoseconds
    std::string name;       ///< initcall_start
    std::string fields;     ///< what follows its colon
};

struct FtraceText {
    std::vector<FtraceEvent> events; ///< in the order of the text
    uint64_t lost = 0;               ///< events that the kernel had no room for, by its lines
    bool lost_unknown = false;       ///< a line says so without a number
    uint64_t in_buffer = 0;          ///< by the comment at the top
    uint64_t written = 0;            ///< by it: the others were overwritten
    uint64_t other_lines = 0;        ///< that say nothing to us, comments not among them
};

/// Reads the file `trace`.  CPUs from 4096 on and lines of more than 4 KiB are other lines.
FtraceText read_ftrace(std::string_view untrusted_text);

/// Returns the value of a field: "func" of "func=con_init+0x0/0x2f0 ret=0"; empty when it has none.
std::optional<std::string> field_of(const FtraceEvent& event, std::string_view name);

/// Returns "con_init" of "con_init+0x0/0x2f0".  Empty: "init_v9fs+0x0/0x90 [9p]", an address; the
/// kernel names a function when the text is read, and the init functions of modules are gone by
/// then.
std::string kernel_function_of(std::string_view symbol);

/// A message of the kernel.
struct KernelMessage {
    uint32_t level = 0;    ///< 0 emergency to 7 debug
    uint32_t facility = 0; ///< 0: the kernel itself
    uint64_t sequence = 0; ///< 0: the first since the boot
    uint64_t stamp_ns = 0; ///< of the kernel's own clock
    std::string text;      ///< escapes of /dev/kmsg (\x0a) undone
};

/// Reads one record of /dev/kmsg; empty when it is none.
std::optional<KernelMessage> read_kernel_message(std::string_view untrusted_record);

/// Two readings of one moment: the TSC and a clock.
struct TscReading {
    uint64_t cycles = 0, clock_ns = 0;
    uint64_t width_ns = 0;     ///< the clock is right within half of it
    bool is_other_cpu = false; ///< it is not the TSC that was asked for
};

/// Returns the clock's time of a stamp by two readings some time apart; below 0 before it began.
long double clock_ns_of(uint64_t cycles, const TscReading& first, const TscReading& second);

/// Returns what that time is wrong by at most, as far as the readings are.
uint64_t clock_error_ns(uint64_t cycles, const TscReading& first, const TscReading& second);

} // namespace daybreak::formats
