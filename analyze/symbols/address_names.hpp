// SPDX-License-Identifier: Apache-2.0
//
// Address names: a kernel address as dtrace(1) writes it.
//
// The symbols are those of the boot that was recorded, as they lay in memory, so no slide is added.
#pragma once

#include "formats/trace/metadata.hpp"

#include <cstdint>
#include <string>

namespace daybreak::analyze {

class AddressNames {
public:
    /// Looks up in `symbols`, which must outlive this; null when there are none.
    explicit AddressNames(const formats::SymbolTable* symbols) : symbols_(symbols) {}

    /// Returns "module`symbol+0xoffset", "module`symbol" at its start, or "0xaddress".
    std::string location(uint64_t address) const;
    /// Returns "module`symbol" of the symbol the address lies in, or "0xaddress".
    std::string symbol(uint64_t address) const;
    /// Returns "module", or "0xaddress".
    std::string module(uint64_t address) const;

private:
    std::optional<formats::SymbolTable::Match> find(uint64_t address) const;

    const formats::SymbolTable* symbols_;
};

} // namespace daybreak::analyze
