// SPDX-License-Identifier: Apache-2.0
//
// Symbols that lie in another file of the folder: which of them are a file's own
// (docs/design/0062-shared-symbols.md).
//
//     1122aabb-symbols.dbrk   vmlinux ext4 jbd2 ...
//          |                     |     |
//     slow.dbrk               hash  hash          and what differs, whole
#pragma once

#include "formats/trace/file_reader.hpp"

namespace daybreak::formats {

/// The kernel's own symbols are of a module of this name.
constexpr std::string_view kKernelModule = "vmlinux";

/// Reads what a file has of the symbols of a boot, which stay packed until one is asked for.
/// Errors: not_found, io; invalid: not a trace file, or not known to be of that boot.
Result<FileContent> read_symbols_file(const std::string& path, uint64_t boot_id,
                                      const OpenFile& open_file, RawBudget& budget);

/// Returns a hash of each module's symbols: address, type and name, in the order of the table.  It
/// is there for mistakes; a user who can write to the folder can forge it.
std::map<std::string, uint64_t, std::less<>> hashes_of_modules(const SymbolTable& table);

/// Returns `all` with those of its `modules` by reference that are the same in `beside`, a symbols
/// file's; the kernel counts as one of them.  Empty: the kernel's are not the same, or the others
/// would not fit into the block; then all of them have to be written.
std::optional<SharedSymbols> share_symbols(const SymbolTable& all, const SymbolTable& beside,
                                           std::span<const ModuleInfo> modules);

/// Adds what `shared` stands for to an empty table, and finishes it.  Returns the name of a module
/// whose symbols `beside` has not, or has otherwise: then the table has the kernel's alone, or
/// nothing when it is the kernel; else "".  Where a module lay whose symbols are not had is not
/// known: an address there would get the name of a neighbour's.
std::string join_symbols(const SharedSymbols& shared, const SymbolTable& beside,
                         SymbolTable& table);

} // namespace daybreak::formats
