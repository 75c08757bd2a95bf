// SPDX-License-Identifier: Apache-2.0
//
// Info of the files themselves: names, sizes, damage, and who wrote them.
#pragma once

#include "formats/trace/reader.hpp"

#include <string>

namespace daybreak::analyze {

/// How many files, findings and drop intervals are listed; the rest is counted.
constexpr size_t kListed = 20;

/// Returns "12 MiB", "12 KiB" or "12 bytes".
std::string bytes_text(uint64_t bytes);

/// Appends the line of a window, whose ends are CLOCK_MONOTONIC, as seconds after boot.
void print_window(std::string& out, const formats::Recording& recording, const char* label,
                  uint64_t from, uint64_t to);

/// Returns the kernel's build id in hexadecimal; "" when it is not known.
std::string build_text(const formats::TraceHeader& header);

/// What the files do not have because they were cut to a window.
struct LeftOutCounts {
    uint64_t records = 0, segments = 0;
    size_t cpus = 0;
};
LeftOutCounts left_out_of(const formats::Recording& recording);

/// Appends what is known of the files before anything in them: which boots, which files, damage.
void print_file(std::string& out, const formats::Trace& trace);

} // namespace daybreak::analyze
