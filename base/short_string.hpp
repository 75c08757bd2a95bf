// SPDX-License-Identifier: Apache-2.0
//
// Names in a table that is not trusted.
#pragma once

#include "base/byte_reader.hpp"

#include <algorithm>

namespace daybreak::base {

/// Returns the NUL-terminated string at an offset of a table; "" when none of at most `bytes_max`
/// is there.  Looks no further: a table may have no NUL at all, and millions of references into it.
inline std::string_view short_string_at(ByteView untrusted_table, uint64_t offset,
                                        size_t bytes_max) {
    if (offset >= untrusted_table.size())
        return {};
    const auto* text = reinterpret_cast<const char*>(untrusted_table.data() + offset);
    size_t room = std::min<size_t>(untrusted_table.size() - offset, bytes_max + 1);
    size_t bytes = ::strnlen(text, room);
    return bytes == room ? std::string_view() : std::string_view(text, bytes);
}

} // namespace daybreak::base
