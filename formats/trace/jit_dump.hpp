// SPDX-License-Identifier: Apache-2.0
//
// JitDump: functions that a process made while it ran, from its jit-PID.dump.
//
// A runtime (Node with --perf-prof, Java with perf's agent) writes a header, and a record for each
// function that it makes, moves or describes: numbers in the machine's byte order, the name, and
// the instructions.  perf's "jitdump specification" has the layout.  What is kept of it are the
// lines of a perf-PID.map (JitNames), which readers know.
#pragma once

#include "base/counted.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace daybreak::formats {

/// Reads bytes of a file from an offset on; returns how many were there.
using JitDumpRead = std::function<size_t(uint64_t at, uint8_t* bytes, size_t count)>;

struct JitDumpText {
    std::string text;
    const char* problem = nullptr; ///< why it ends before the file does; null: it does not
    base::LeftOut left_out = {};   ///< records that do not hold together
};

/// Records that are looked at in all files: one of 16 bytes may say nothing.
constexpr size_t kJitDumpRecordsMax = 1u << 20;

/// Returns the lines of an untrusted file, at most `text_bytes_max`, and takes the records that it
/// looked at off `records_left`.  A record that is cut is being written, and ends them.
JitDumpText text_of_jit_dump(const JitDumpRead& read, size_t text_bytes_max, size_t& records_left);

} // namespace daybreak::formats
