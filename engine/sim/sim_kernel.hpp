// SPDX-License-Identifier: Apache-2.0
//
// The simulated kernel: its few functions, their symbols, and the stacks that lead to a probe.
#pragma once

#include "engine/api/host.h"
#include "formats/trace/metadata.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace daybreak::sim {

constexpr uint64_t kKernelTextStart = 0xffffffff81000000;
/// Where `curthread` points.  Nothing is mapped there unless a test does so.
constexpr uint64_t kCurthreadAddress = 0xffff888000100000;
/// The frame of a damaged user stack that leads back to itself.
constexpr uint64_t kBadFrameAddress = 0x7ffe00001f40;
/// uregs[]: the words of struct pt_regs of x86-64, four segment registers, the trap's number.
constexpr uint64_t kUserRegisterCount = 26;

/// Where the simulated kernel keeps what subroutines ask about: as Linux 6 on x86-64 does.
const dbk_kernel_layout& kernel_layout();

/// Program counters, innermost first.
std::span<const uint64_t> syscall_stack(); ///< in BEGIN and END: the consumer's ioctl
std::span<const uint64_t> timer_stack();   ///< in tick-N and profile-N: an idle CPU's interrupt
std::span<const uint64_t> user_stack();

/// The symbols of all that.
formats::SymbolTable kernel_symbols();
/// Its build id: the same as long as its functions lie where they do.
formats::Bytes kernel_build_id();
/// Returns the address of a function or variable, "name" or "module`name"; 0 when there is none.
uint64_t kernel_symbol(std::string_view name);

/// A variable of the simulated kernel, and what it holds.
struct KernelVariable {
    const char* name;
    uint64_t address;
    std::string_view bytes;
};
/// jiffies, max_pfn (unsigned long), nr_cpu_ids (unsigned int), linux_banner (char []).
std::span<const KernelVariable> kernel_variables();

} // namespace daybreak::sim
