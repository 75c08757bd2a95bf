// SPDX-License-Identifier: Apache-2.0
//
// A stretch of symbols as a SORTED_SYMBOLS block has it: names sorted and front-coded (symbols.md).
#pragma once

#include "formats/trace/metadata.hpp"

#include <optional>
#include <span>

namespace daybreak::formats {

/// What a name may share with the one before it.
constexpr size_t kSharedBytesMax = 255;
/// The most symbols of one block.
constexpr size_t kSortedSymbolsMax = 65536;
/// What the names of a file's symbols may have in all: some twelve times a kernel's with all its
/// modules.
constexpr size_t kSymbolNameBytesMax = 64u << 20;

/// Returns the payload; empty when a name has a newline, which no kernel's has.
std::optional<Bytes> encode_sorted_symbols(const SymbolTable& table,
                                           std::span<const Symbol> stretch);

/// Adds the stretch to the table, all of it or nothing.  Its names are taken off `name_bytes_left`,
/// which is kSymbolNameBytesMax for a file's first.
/// Errors: truncated, corrupt, unsupported; limit: more than kSortedSymbolsMax symbols, more bytes
///         of names than are left, or more than kSymbolsMax in the table.
Result<void> decode_sorted_symbols(ByteView untrusted, SymbolTable& table, size_t& name_bytes_left);

} // namespace daybreak::formats
