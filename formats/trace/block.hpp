// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a trace file: framing, compression, checksums, and finding the next good one.
#pragma once

#include "base/byte_source.hpp"
#include "formats/abi/trace.h"
#include "formats/segment/finding.hpp"

#include <functional>
#include <memory>
#include <string>

struct ZSTD_DCtx_s;

namespace daybreak::formats {

/// Returns a whole block: header, the payload as a zstd frame, padding.
/// `raw` must not be longer than DBK_TRACE_RAW_BYTES_MAX.
Bytes make_block(enum dbk_trace_type type, uint32_t number, ByteView raw, int zstd_level);

/// Makes blocks one after the other, with one compression context and one buffer.
class BlockMaker {
public:
    BlockMaker();
    BlockMaker(BlockMaker&&) noexcept;
    BlockMaker& operator=(BlockMaker&&) noexcept;
    ~BlockMaker();

    /// Returns what make_block() does.  The view lives until the next call.
    ByteView make(enum dbk_trace_type type, uint32_t number, ByteView raw, int zstd_level);
    /// The same of a COLUMNS block, which stands for so many bytes of pieces: two frames, of the
    /// payload before its steps in time and of these.
    ByteView make_columns(uint32_t number, ByteView payload, size_t steps_offset,
                          uint32_t rows_bytes, int zstd_level);

private:
    struct State;
    void begin(size_t stored_bytes_max);
    void add_frame(ByteView raw, int zstd_level);
    ByteView finish(enum dbk_trace_type type, uint32_t number, size_t raw_bytes,
                    uint32_t rows_bytes);

    std::unique_ptr<State> state_;
};

/// Whether a block has pieces, in rows or in columns.
constexpr bool has_pieces(uint16_t type) {
    return type == DBK_TRACE_DATA || type == DBK_TRACE_COLUMNS;
}
constexpr bool has_pieces(const dbk_trace_block& header) {
    return has_pieces(header.type);
}

/// The version that a block of this type is written with.
constexpr uint16_t block_version(uint16_t type) {
    return type == DBK_TRACE_COLUMNS  ? DBK_TRACE_COLUMNS_VERSION
           : type == DBK_TRACE_STATES ? DBK_TRACE_STATES_VERSION
                                      : DBK_TRACE_VERSION;
}

/// The oldest version of it that is read.
constexpr uint16_t oldest_version(uint16_t type) {
    return type == DBK_TRACE_COLUMNS ? DBK_TRACE_COLUMNS_VERSION_OLDEST : block_version(type);
}

/// Whether this reader knows the block's version.
constexpr bool has_known_version(const dbk_trace_block& header) {
    return header.version >= oldest_version(header.type) &&
           header.version <= block_version(header.type);
}

/// Returns "2 to 3": the versions of a type that are read.
std::string versions_text(uint16_t type);

/// What the pieces of a block have, as a DATA block has them.
constexpr uint32_t rows_bytes(const dbk_trace_block& header) {
    return header.type == DBK_TRACE_COLUMNS ? header.rows_bytes : header.raw_bytes;
}

/// What unpack_block() takes of memory for what the block has: its payload, and its rows.
constexpr uint64_t unpacked_bytes(const dbk_trace_block& header) {
    return uint64_t{header.raw_bytes} + (header.type == DBK_TRACE_COLUMNS ? header.rows_bytes : 0);
}

/// A block whose header and checksum hold.
struct BlockView {
    dbk_trace_block header{};
    uint64_t offset_bytes = 0; ///< in the file
    ByteView stored;           ///< its zstd frames; good until the scanner moves on
};

/// Reads the header at `offset_bytes`.  Returns whether it holds and the file has room for its
/// payload.
bool read_header(base::ByteSource& untrusted_file, uint64_t offset_bytes, dbk_trace_block& header);

/// Returns how many bytes the block has in its file, with header and padding.
uint64_t block_bytes(const dbk_trace_block& header);

/// What zstd makes of the largest payload is not longer: what is does not unpack.
constexpr size_t kStoredBytesMax = DBK_TRACE_RAW_BYTES_MAX + (DBK_TRACE_RAW_BYTES_MAX >> 7);

/// Walks a file's blocks.  Damage is noted and passed over.  Of the file it has in memory what it
/// looks at: one payload.
class BlockScanner {
public:
    /// The source and the findings must outlive the scanner.
    BlockScanner(base::ByteSource& untrusted_file, Findings& findings)
        : file_(untrusted_file), findings_(findings) {}
    /// The same of bytes in memory.
    BlockScanner(ByteView untrusted_file, Findings& findings)
        : memory_(base::view_source(untrusted_file)), file_(*memory_), findings_(findings) {}

    /// Returns whether a block's payload need not be looked at: it is what its header says.
    using IsTrusted = std::function<bool(const dbk_trace_block& header, uint64_t offset_bytes)>;
    /// From now on a trusted block comes without `stored`, its checksum and its padding unread.
    void trust(IsTrusted is_trusted) { is_trusted_ = std::move(is_trusted); }

    /// Yields the next good block; false at the end of the file.
    bool next(BlockView& block);

    uint64_t blocks_lost() const { return blocks_lost_; }
    uint64_t bytes_skipped() const { return bytes_skipped_; }
    uint64_t bytes_cut() const { return bytes_cut_; }
    /// Goes on there, whatever number the block there has.
    void jump(uint64_t offset_bytes) {
        offset_ = offset_bytes;
        jumped_ = true;
    }
    /// A block that came through the scanner turned out to be undecodable.
    void count_lost() { blocks_lost_++; }

private:
    ByteView look(uint64_t offset, size_t bytes, size_t ahead);
    bool header_at(uint64_t offset, dbk_trace_block& header, size_t ahead);
    bool payload_holds(BlockView& block);
    void check_number(const dbk_trace_block& header, uint64_t offset);
    void check_padding(uint64_t from);
    uint64_t find_header(uint64_t from);
    void resync();
    void pass_lost(const dbk_trace_block& header, uint64_t at);

    std::shared_ptr<base::ByteSource> memory_;
    base::ByteSource& file_;
    Findings& findings_;
    IsTrusted is_trusted_;
    Bytes buffer_; // bytes of the file from buffer_offset_ on
    uint64_t buffer_offset_ = 0;
    size_t buffer_bytes_ = 0;
    uint64_t offset_ = 0;
    uint64_t expected_number_ = 0;
    bool jumped_ = false;
    uint64_t reread_bytes_ = 0;
    uint64_t blocks_lost_ = 0, bytes_skipped_ = 0, bytes_cut_ = 0;
};

/// What of a block's payload is unpacked.  Columns without their steps in time are the first of
/// two frames; where a block has one frame, that is the whole payload.
enum class PayloadPart { whole, without_steps };

/// Whether a block's payload is two frames.
constexpr bool has_two_frames(const dbk_trace_block& header) {
    return header.type == DBK_TRACE_COLUMNS && header.version > DBK_TRACE_COLUMNS_VERSION_OLDEST;
}

/// Unpacks payloads one after the other: what zstd needs for it is made once.
class PayloadUnpacker {
public:
    /// Puts the block's payload into `payload`, whose memory is used again.  Errors: corrupt,
    /// limit.
    Result<void> unpack(const BlockView& block, PayloadPart part, Bytes& payload);

private:
    struct FreeContext {
        void operator()(ZSTD_DCtx_s* context) const;
    };
    std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
};

/// Returns the block's payload, unpacked; of a COLUMNS block the pieces, as a DATA block has them.
/// Errors: corrupt, limit; of columns truncated and unsupported, too.
Result<Bytes> unpack_block(const BlockView& block);

} // namespace daybreak::formats
