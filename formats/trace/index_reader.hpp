// SPDX-License-Identifier: Apache-2.0
//
// IndexReader: what a file's index says of its data blocks, one index block in memory at a time.
#pragma once

#include "formats/trace/block.hpp"
#include "formats/trace/metadata.hpp"
#include "formats/trace/raw_budget.hpp"

#include <deque>

namespace daybreak::formats {

/// A block, by its header.
struct BlockPlace {
    uint64_t offset_bytes = 0;
    dbk_trace_block header{};
};

/// Returns what is packed there.  Errors: truncated, corrupt, limit.
Result<Bytes> read_payload(base::ByteSource& untrusted_file, const BlockPlace& place);

/// Returns the data blocks of an index block, ascending by offset, each head with its place.
/// Errors: truncated, corrupt, limit: it cannot be read, or contradicts itself.
Result<std::vector<IndexBlock>> read_index(base::ByteSource& untrusted_file,
                                           const BlockPlace& place);

/// Makes again what read_index() gives, from the `count` data blocks between that index block and
/// the one before, the header of which is at `from_bytes` or after; `budget` is what they may unpack to.
/// `counter` knows the ECBs.  Errors: corrupt, limit: other blocks are there, or too much.
Result<std::vector<IndexBlock>> index_again(base::ByteSource& untrusted_file, uint64_t from_bytes,
                                            const BlockPlace& index, size_t count,
                                            RawBudget& budget, PieceCounter& counter);

/// Returns whether the pieces that the index has of a block are all of it.
bool fills(const IndexBlock& block, const dbk_trace_block& header);

/// The index blocks that are found by going from header to header, without looking at payloads.
/// Where a header does not hold, the file is damaged or not finished: what comes after has no
/// index.
class IndexReader {
public:
    explicit IndexReader(base::ByteSource& untrusted_file) : file_(untrusted_file) {}
    /// Looks for them.
    void find_all();
    /// Those that are known, in the order of the file.
    void use(std::deque<BlockPlace> places) { places_ = std::move(places); }

    /// Returns the pieces of the block, which fill it; null when no index has them, or one that
    /// contradicts itself.  Blocks are asked for in the order of the file.  `may_unpack` is asked
    /// before an index of so many bytes is unpacked.
    using MayUnpack = std::function<bool(uint64_t raw_bytes)>;
    const IndexBlock* find(const dbk_trace_block& header, uint64_t offset_bytes,
                           const MayUnpack& may_unpack);
    /// The index block that was read last, and how many of its blocks are before this one, which
    /// find() returned last.
    const BlockPlace& place() const { return read_; }
    size_t number_of(const IndexBlock& block) const {
        return static_cast<size_t>(&block - blocks_.data());
    }
    /// Returns whether what lies there is the index block that was read last, and has blocks.
    bool has_read(uint64_t offset_bytes) const {
        return read_.offset_bytes == offset_bytes && !blocks_.empty();
    }
    size_t blocks() const { return blocks_.size(); }

private:
    base::ByteSource& file_;
    std::deque<BlockPlace> places_;  // of the index blocks not passed yet
    BlockPlace read_;                // of the one read last
    std::vector<IndexBlock> blocks_; // of that one, ascending by offset
};

} // namespace daybreak::formats
