// SPDX-License-Identifier: Apache-2.0
//
// CommonSymbols: places of symbols are given as they are met.
#include "analyze/replay/common_symbols.hpp"

namespace daybreak::analyze {

uint64_t CommonSymbols::common(size_t recording, uint64_t address) {
    auto [at, is_new] = known_[recording].emplace(address, address);
    if (is_new)
        if (auto match = tables_[recording]->find(address))
            at->second = place(match->module, match->name) + match->offset_bytes;
    return at->second;
}

uint64_t CommonSymbols::place(std::string_view module, std::string_view name) {
    std::string text = std::string(module) + '`' + std::string(name);
    auto [at, is_new] = places_.emplace(std::move(text), kBase + places_.size() * kStride);
    if (is_new) {
        symbols_.add(at->second, 'T', name, module);
        symbols_.finish();
    }
    return at->second;
}

} // namespace daybreak::analyze
