// SPDX-License-Identifier: Apache-2.0
//
// Address names: a kernel address as dtrace(1) writes it.
#include "analyze/symbols/address_names.hpp"

#include <cinttypes>

namespace daybreak::analyze {

namespace {

std::string hexadecimal(uint64_t address) {
    return base::strprintf("0x%" PRIx64, address);
}

} // namespace

std::optional<formats::SymbolTable::Match> AddressNames::find(uint64_t address) const {
    return symbols_ ? symbols_->find(address) : std::nullopt;
}

std::string AddressNames::location(uint64_t address) const {
    auto match = find(address);
    if (!match)
        return hexadecimal(address);
    std::string text = std::string(match->module) + "`" + std::string(match->name);
    return match->offset_bytes == 0 ? text : text + "+" + hexadecimal(match->offset_bytes);
}

std::string AddressNames::symbol(uint64_t address) const {
    auto match = find(address);
    return match ? std::string(match->module) + "`" + std::string(match->name)
                 : hexadecimal(address);
}

std::string AddressNames::module(uint64_t address) const {
    auto match = find(address);
    return match ? std::string(match->module) : hexadecimal(address);
}

} // namespace daybreak::analyze
