// SPDX-License-Identifier: Apache-2.0
//
// Names of system calls, by their x86-64 numbers.
#pragma once

#include <cstdint>

namespace daybreak::sim {

/// Numbers are below this; not all of them have a name.
constexpr uint32_t kSyscallNumbers = 451;

/// Returns the name without any prefix ("openat"), or null for a number that is not a system call.
const char* syscall_name(uint32_t number);

} // namespace daybreak::sim
