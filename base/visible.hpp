// SPDX-License-Identifier: Apache-2.0
//
// Text of unknown origin for a terminal: what would drive it is shown instead.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace daybreak::base {

/// Returns how many bytes the character has that `text` begins with, 1 to 4; 0 when a terminal must
/// not get its first byte: a control character (C0 but newline and tab, DEL, C1, also as U+0080 to
/// U+009F) or no UTF-8.
size_t visible_bytes(std::string_view text);

/// Returns the text with each byte that visible_bytes() refuses as backslash and three octal
/// digits, as "\033".
std::string visible(std::string_view text);

/// The same, of newlines and tabs, too: for a name inside of a line.
std::string visible_name(std::string name);

} // namespace daybreak::base
