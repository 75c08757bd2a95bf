// SPDX-License-Identifier: Apache-2.0
//
// SymbolBlocks: a file's symbols as they lie in it, unpacked when an address is to get a name.
#pragma once

#include "formats/trace/block_store.hpp"
#include "formats/trace/metadata.hpp"

#include <memory>
#include <vector>

namespace daybreak::formats {

/// Whether a block has symbols, in the coding of today or the one before.
constexpr bool has_symbols(const dbk_trace_block& header) {
    return header.type == DBK_TRACE_SYMBOLS || header.type == DBK_TRACE_SORTED_SYMBOLS;
}

class SymbolBlocks {
public:
    /// Takes the next block of symbols of `file`, as BlockStore::add() does.
    void add(const std::shared_ptr<base::ByteSource>& file, const std::string& prefix,
             const dbk_trace_block& header, uint64_t offset_bytes) {
        blocks_.push_back({store_->add(file, prefix, header, offset_bytes), header.type});
    }
    /// Symbols of the file are not here, or may not be: those after the ones added so far.
    void add_hole();
    bool empty() const { return blocks_.empty(); }
    /// Has what is found wrong when they are loaded.
    const std::shared_ptr<BlockStore>& store() const { return store_; }
    /// Adds the symbols of all blocks, and finishes the table.  A block that does not unpack, or
    /// contradicts itself, becomes a late finding of the store, and a hole.
    void load(SymbolTable& table) const;

private:
    struct Block {
        uint32_t place = 0; // in the store
        uint16_t type = 0;  // 0: a hole
    };

    std::shared_ptr<BlockStore> store_ = std::make_shared<BlockStore>();
    std::vector<Block> blocks_;
};

} // namespace daybreak::formats
