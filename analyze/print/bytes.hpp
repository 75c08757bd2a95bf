// SPDX-License-Identifier: Apache-2.0
//
// Bytes: strings in a field, and hex dumps of what is not a string.
#pragma once

#include "base/byte_reader.hpp"

#include <string>

namespace daybreak::analyze {

/// Appends a newline and a table of sixteen bytes a line, each line with its characters beside.
/// Appends nothing when there are no bytes.
void print_hex_dump(std::string& out, base::ByteView bytes);

/// Returns whether all bytes up to the first NUL can be shown on a terminal and only NULs follow.
bool is_printable_string(base::ByteView bytes);

/// Appends bytes as a string in a field of `width` after two spaces, or bare when `quiet`; bytes
/// that are no string are dumped, filled up with zeros to `room_bytes`.
void print_string_or_dump(std::string& out, base::ByteView bytes, size_t room_bytes, int width,
                          bool quiet);

} // namespace daybreak::analyze
