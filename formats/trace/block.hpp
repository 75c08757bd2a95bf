// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a trace file: framing, compression, checksums, and finding the next good one.
#pragma once

#include "formats/abi/trace.h"
#include "formats/segment/finding.hpp"

namespace daybreak::formats {

/// Returns a whole block: header, the payload as a zstd frame, padding.
/// `raw` must not be longer than DBK_TRACE_RAW_BYTES_MAX.
Bytes make_block(enum dbk_trace_type type, uint32_t number, ByteView raw, int zstd_level);

/// A block whose header and checksum hold.
struct BlockView {
    dbk_trace_block header{};
    uint64_t offset_bytes = 0; ///< in the file
    ByteView stored;           ///< the zstd frame
};

/// Walks a file's blocks.  Damage is noted and passed over.
class BlockScanner {
public:
    BlockScanner(ByteView untrusted_file, Findings& findings)
        : file_(untrusted_file), findings_(findings) {}

    /// Yields the next good block; false at the end of the file.
    bool next(BlockView& block);

    uint64_t blocks_lost() const { return blocks_lost_; }
    uint64_t bytes_skipped() const { return bytes_skipped_; }
    uint64_t bytes_cut() const { return bytes_cut_; }
    /// A block that came through the scanner turned out to be undecodable.
    void count_lost() { blocks_lost_++; }

private:
    bool header_at(uint64_t offset, dbk_trace_block& header) const;
    void check_number(const dbk_trace_block& header, uint64_t offset);
    void check_padding(uint64_t from);
    uint64_t find_header(uint64_t from) const;
    void resync();
    void pass_lost(const dbk_trace_block& header, uint64_t at);

    ByteView file_;
    Findings& findings_;
    uint64_t offset_ = 0;
    uint64_t expected_number_ = 0;
    uint64_t reread_bytes_ = 0;
    uint64_t blocks_lost_ = 0, bytes_skipped_ = 0, bytes_cut_ = 0;
};

/// Returns the block's payload, unpacked.  Errors: corrupt.
Result<Bytes> unpack_block(const BlockView& block);

} // namespace daybreak::formats
