// SPDX-License-Identifier: Apache-2.0
//
// Memory of a real process, for a simulated machine that looks at one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace daybreak::sim {

/// Copies from a process's memory; false when any byte is not there, or the process is not ours to
/// look at.
bool load_process(uint32_t pid, void* to, uint64_t address, size_t bytes);
/// Copies a string into `bytes` (at least 1), cut with a NUL in the last.  Returns its length, or
/// -1 when it faults.
int32_t load_process_string(uint32_t pid, char* to, uint64_t address, uint32_t bytes);

} // namespace daybreak::sim
