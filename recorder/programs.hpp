// SPDX-License-Identifier: Apache-2.0
//
// The programs at work: what each ring of the device is, and who holds it.
#pragma once

#include "formats/segment/recording.hpp"
#include "recorder/device.hpp"

#include <vector>

namespace daybreak::recorder {

/// A program on its way into the kernel.
struct NamedProgram {
    std::string name; ///< of its ring, 1 to 31 graphic ASCII characters
    Bytes dof;
};

/// A program at work.
struct RunningProgram {
    uint16_t ring_id = 0;
    std::string name, activity, policy; ///< the words that people read
    uint64_t start_wall_ns = 0;
    size_t ecbs = 0;
    size_t native_ecbs = 0, native_values = 0; ///< of these: as a whole, and their expressions
    uint64_t records = 0, errors = 0; ///< of all CPUs, since the start
    formats::DropCounts drops{};
    dbk_ioc_holder holder{}; ///< of a module that cannot say: no flags
};

/// Returns the activity in a word: "starting", "active", "stopping" or "stopped".
const char* activity_word(uint32_t activity);
/// Returns the buffer policy's name.
const char* policy_word(uint32_t policy);

/// Lists the programs, in the order of their rings.
/// Errors: unsupported: the module speaks another version; busy; io.
Result<std::vector<RunningProgram>> list_programs(DeviceApi& device);

/// Returns the one program of that name, or whose ring has that number, that no process holds.
/// Errors: not_found; invalid: several have the name; busy: a process holds it.
Result<RunningProgram> find_free_program(DeviceApi& device, const std::string& name);

/// Ends a program: END fires, and its ring goes once the device is closed.
/// Returns what it was when it had ended.  Errors: not_found; busy.
Result<RunningProgram> stop_program(DeviceApi& device, const RunningProgram& program);

} // namespace daybreak::recorder
