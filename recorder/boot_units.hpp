// SPDX-License-Identifier: Apache-2.0
//
// When systemd's units began and were ready, and what they are ordered after.
#pragma once

#include "formats/trace/metadata.hpp"

namespace daybreak::recorder {

/// Returns the units that began of what `systemctl show` printed: a block of lines "NAME=VALUE" for
/// each, divided by empty lines, the default target first.  What no unit can be is left out.
/// Error: limit, when there are more than a file may have.
base::Result<formats::BootUnits> parse_boot_units(std::string_view untrusted_text);

/// Asks the systemd that runs this machine, at most `timeout_ns`; none where no systemd runs it.
/// Errors: not_found, when there is no systemctl; io; limit.
base::Result<formats::BootUnits> ask_boot_units(uint64_t timeout_ns);

/// Runs a program and returns what it prints.  One that prints more than `bytes_max` or has not
/// ended after `timeout_ns` is killed.  Errors: not_found; limit; io, also when it fails.
base::Result<std::string> printed_by(std::vector<std::string> words, size_t bytes_max,
                               uint64_t timeout_ns);

} // namespace daybreak::recorder
