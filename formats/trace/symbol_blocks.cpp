// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/symbol_blocks.hpp"

#include "formats/trace/message.hpp"
#include "formats/trace/symbol_coding.hpp"

namespace daybreak::formats {

void SymbolBlocks::add_hole() {
    if (!blocks_.empty())
        blocks_.emplace_back();
}

void SymbolBlocks::load(SymbolTable& table) const {
    size_t name_bytes_left = kSymbolNameBytesMax;
    for (const Block& block : blocks_) {
        auto decode = [&](ByteView raw) {
            return block.type == DBK_TRACE_SORTED_SYMBOLS
                       ? decode_sorted_symbols(raw, table, name_bytes_left)
                       : decode_symbols(raw, table);
        };
        if (block.type == 0 || !store_->take(block.place, decode).ok())
            table.add_hole();
    }
    table.finish();
}

} // namespace daybreak::formats
