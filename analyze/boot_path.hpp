// SPDX-License-Identifier: Apache-2.0
//
// The critical path of a boot: which unit waited for which, by systemd's own times.
//
// A unit begins when those that it is ordered after are ready; the last of them is the one that it
// waited for. From the target of the boot back, that is the path that made the boot as long as it
// was: what `systemd-analyze critical-chain` prints.
#pragma once

#include "formats/trace/reader.hpp"

#include <optional>
#include <span>

namespace daybreak::analyze {

/// Returns the units of the first file that has some; none when systemd was not asked.
const formats::BootUnits& boot_units_of(std::span<const formats::TraceFile> files);

/// Returns which unit the boot went to, as an index: of those that were ready multi-user.target,
/// else graphical.target, else the machine's default target.
std::optional<size_t> boot_target(const formats::BootUnits& boot);

/// Returns which unit this one waited for: of those that it is ordered after the one that was ready
/// last, not later than this one began.
std::optional<size_t> waited_for(const formats::BootUnits& boot, size_t unit);

/// Returns the path from the target back to a unit that waited for none.  None is there twice.
std::vector<size_t> critical_path(const formats::BootUnits& boot, size_t target);

/// Returns the units that took longest from their begin until they were ready, longest first; all
/// that took any time, at most so many.
std::vector<size_t> slowest_units(const formats::BootUnits& boot, size_t count);

/// Returns what of a path took any time (half a millisecond), and its target: most of its units are targets
/// and sockets.
std::vector<size_t> without_moments(const formats::BootUnits& boot, std::span<const size_t> path);

/// Returns a line for each unit of the path: ms after the kernel's start when it was ready, how long
/// it took, its name.
std::string path_text(const formats::BootUnits& boot, std::span<const size_t> path);

/// Returns a line for each unit: how many ms it took, its name, what it waited for.
std::string slowest_text(const formats::BootUnits& boot, std::span<const size_t> units);

/// Appends both as an object: "target", "critical_path", "slowest".
void append_json_units(std::string& out, const formats::BootUnits& boot, size_t slowest_count);

} // namespace daybreak::analyze
