// SPDX-License-Identifier: Apache-2.0
//
// Appending formatted text to the output buffer.
#pragma once

#include <string>

namespace daybreak::analyze {

/// Appends text formatted as printf does.
[[gnu::format(printf, 2, 3)]] void appendf(std::string& out, const char* format, ...);

} // namespace daybreak::analyze
