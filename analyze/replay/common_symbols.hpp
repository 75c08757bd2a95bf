// SPDX-License-Identifier: Apache-2.0
//
// CommonSymbols: one address for what several recordings have at different ones.
//
// A function lies elsewhere in each boot, and where it lay another one lies in the next.  In a
// replay of several recordings an address of a stack becomes that of its symbol and offset here:
//
//     web-1  0xffffffff8a1b2c3d  vfs_read+0x1d  --+--> 0xf000000000700000+0x1d  vfs_read+0x1d
//     web-2  0xffffffff961b2c3d  vfs_read+0x1d  --'
#pragma once

#include "formats/trace/metadata.hpp"

#include <map>
#include <unordered_map>
#include <vector>

namespace daybreak::analyze {

class CommonSymbols {
public:
    /// The tables, of each recording by index, must outlive it.
    explicit CommonSymbols(std::vector<const formats::SymbolTable*> tables)
        : tables_(std::move(tables)), known_(tables_.size()) {}

    /// Returns the address here of what a recording has at an address; the same when it has no
    /// name there.
    uint64_t common(size_t recording, uint64_t address);
    /// Names of the addresses so far; goes on with each new one.
    const formats::SymbolTable& symbols() const { return symbols_; }

private:
    /// Addresses that no x86-64 machine has, and between two symbols more than one is long.
    static constexpr uint64_t kBase = 0xf000'0000'0000'0000, kStride = 2 * formats::kSymbolBytesMax;

    uint64_t place(std::string_view module, std::string_view name);

    std::vector<const formats::SymbolTable*> tables_;
    std::vector<std::unordered_map<uint64_t, uint64_t>> known_; // by recording
    std::map<std::string, uint64_t, std::less<>> places_;       // by "module`name"
    formats::SymbolTable symbols_;
};

} // namespace daybreak::analyze
