// SPDX-License-Identifier: Apache-2.0
//
// What happened to the machine, in words: its end, its triggers, its last messages.
#pragma once

#include "formats/segment/recording.hpp"

#include <optional>
#include <string>

namespace daybreak::analyze {

/// Lines of the kernel's log that are shown of a machine that died, unless more is asked for.
constexpr size_t kLastLogLines = 20;

/// Appends how the machine ended, what triggers it entered, and the last `log_lines` lines of its
/// log: empty means kLastLogLines after a panic or an oops, else only how many there are.
void print_machine(std::string& out, const formats::Recording& recording,
                   std::optional<size_t> log_lines);

/// Returns a sentence on how the machine ended ("it died of a panic: ..."), empty when it is not
/// known to have ended.
std::string end_sentence(const formats::MachineInfo& machine);

} // namespace daybreak::analyze
