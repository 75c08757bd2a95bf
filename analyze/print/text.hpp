// SPDX-License-Identifier: Apache-2.0
//
// Appending formatted text to the output buffer.
#pragma once

#include <cstdint>
#include <string>

namespace daybreak::analyze {

/// Appends text formatted as printf does.
[[gnu::format(printf, 2, 3)]] void appendf(std::string& out, const char* format, ...);

/// Returns a wall clock time as the machine that prints would say it.
std::string wall_text(uint64_t wall_ns);

} // namespace daybreak::analyze
