// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own symbol table as it lies in its image and in its memory (scripts/kallsyms.c):
//
//     names    | length | token token ... | length | token ...      a byte each; lengths from 128 on two
//     tokens   | "text" 0 | "text" 0 | ...                          256 of them
//     offsets  | int32 | int32 | ...                                one for each name, from a base
//
// A name has the letter of its type in front.  Where the parts lie, the caller knows or finds out.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::formats {

using KallsymsTokens = std::array<std::string_view, 256>;

/// Moves `at` past the length of a name and returns it, in tokens; 0 at the end of the names.
inline size_t kallsyms_length(base::ByteView names, size_t& at) {
    auto next = [&] { return at < names.size() ? std::to_integer<size_t>(names[at++]) : 0; };
    size_t length = next();
    return length & 0x80 ? (length & 0x7f) | next() << 7 : length;
}

/// Returns `count` names, each with its type in front.
/// Errors: corrupt when a length leads past the end, or a name is longer than the kernel makes
/// them, is empty, or has a blank in it; limit when all take more than 64 MiB.
base::Result<std::vector<std::string>> unpack_kallsyms(base::ByteView untrusted_names,
                                                       const KallsymsTokens& tokens,
                                                       size_t count);

/// The two ways to count.  Since 2016 a per-CPU kernel's offsets that are not negative are absolute
/// (CONFIG_KALLSYMS_ABSOLUTE_PERCPU); 6.15 gave that up.
enum class KallsymsOffsets : uint8_t { absolute_percpu, relative };

/// Returns the address of a symbol; empty for one that is none: of a per-CPU variable.
std::optional<uint64_t> kallsyms_address(KallsymsOffsets way, uint64_t base, int32_t offset);

} // namespace daybreak::formats
