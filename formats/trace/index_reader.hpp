// SPDX-License-Identifier: Apache-2.0
//
// IndexReader: what a file's index says of its data blocks, one index block in memory at a time.
#pragma once

#include "formats/trace/block.hpp"
#include "formats/trace/metadata.hpp"

#include <deque>

namespace daybreak::formats {

/// The index blocks that are found by going from header to header, without looking at payloads.
/// Where a header does not hold, the file is damaged or not finished: what comes after has no
/// index.
class IndexReader {
public:
    explicit IndexReader(base::ByteSource& untrusted_file);

    /// Returns the pieces of the block, which fill it; null when no index has them, or one that
    /// contradicts itself.  Blocks are asked for in the order of the file.  `may_unpack` is asked
    /// before an index of so many bytes is unpacked.
    using MayUnpack = std::function<bool(uint64_t raw_bytes)>;
    const IndexBlock* find(const dbk_trace_block& header, uint64_t offset_bytes,
                           const MayUnpack& may_unpack);

private:
    struct Place {
        uint64_t offset_bytes;
        dbk_trace_block header;
    };

    void read(const Place& place, const MayUnpack& may_unpack);

    base::ByteSource& file_;
    std::deque<Place> places_;       // of the index blocks not passed yet
    uint64_t read_offset_ = 0;       // of the one read last
    std::vector<IndexBlock> blocks_; // of that one, ascending by offset
};

} // namespace daybreak::formats
