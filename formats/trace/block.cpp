// SPDX-License-Identifier: Apache-2.0
//
// The bytes of blocks: zstd, CRC-32C, resynchronisation.
#include "formats/trace/block.hpp"

#include "base/counted.hpp"
#include "base/crc32c.hpp"
#include "formats/trace/column_unpack.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <new>
#include <utility>
#include <zstd.h>
#include <zstd_errors.h>

namespace daybreak::formats {

namespace {

using base::errorf;
using base::strprintf;

constexpr size_t kHeaderBytes = sizeof(dbk_trace_block);

/// A file made of headers that claim each other's bytes would be read again and again: after this
/// many times its size the scan no longer looks inside lost payloads.
constexpr uint64_t kRereadFactor = 16;

/// How much is read after a header, and at once where a header is looked for or a payload is
/// passed.
constexpr size_t kAheadBytes = 512, kStrideBytes = 256u << 10;

uint32_t header_checksum(const dbk_trace_block& header) {
    return base::crc32c(
        std::as_bytes(std::span(&header, 1)).first(offsetof(dbk_trace_block, header_crc32c)));
}

uint64_t padded(uint64_t bytes) {
    return (bytes + DBK_TRACE_ALIGN_BYTES - 1) & ~uint64_t{DBK_TRACE_ALIGN_BYTES - 1};
}

} // namespace

struct BlockMaker::State {
    std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), &ZSTD_freeCCtx};
    Bytes block;    ///< with room for the payload and its padding
    size_t end = 0; ///< of the bytes of it that are filled
};

BlockMaker::BlockMaker() : state_(std::make_unique<State>()) {
    if (!state_->context)
        throw std::bad_alloc();
}
BlockMaker::BlockMaker(BlockMaker&&) noexcept = default;
BlockMaker& BlockMaker::operator=(BlockMaker&&) noexcept = default;
BlockMaker::~BlockMaker() = default;

/// Makes room for a block whose frames together have at most so many bytes.
void BlockMaker::begin(size_t stored_bytes_max) {
    size_t room = kHeaderBytes + stored_bytes_max + DBK_TRACE_ALIGN_BYTES;
    if (state_->block.size() < room)
        state_->block.resize(room);
    state_->end = kHeaderBytes;
}

void BlockMaker::add_frame(ByteView raw, int zstd_level) {
    Bytes& block = state_->block;
    size_t stored =
        ZSTD_compressCCtx(state_->context.get(), block.data() + state_->end,
                          block.size() - state_->end, raw.data(), raw.size(), zstd_level);
    if (ZSTD_getErrorCode(stored) == ZSTD_error_memory_allocation)
        throw std::bad_alloc();
    DBK_ASSERT(!ZSTD_isError(stored));
    state_->end += stored;
}

ByteView BlockMaker::finish(enum dbk_trace_type type, uint32_t number, size_t raw_bytes,
                            uint32_t rows_bytes) {
    DBK_ASSERT(raw_bytes <= DBK_TRACE_RAW_BYTES_MAX);
    Bytes& block = state_->block;
    ByteView stored = ByteView(block).first(state_->end).subspan(kHeaderBytes);
    dbk_trace_block header = {};
    header.magic = DBK_TRACE_MAGIC;
    header.version = block_version(static_cast<uint16_t>(type));
    header.type = static_cast<uint16_t>(type);
    header.number = number;
    header.stored_bytes = static_cast<uint32_t>(stored.size());
    header.raw_bytes = static_cast<uint32_t>(raw_bytes);
    header.payload_crc32c = base::crc32c(stored);
    header.rows_bytes = rows_bytes;
    header.header_crc32c = header_checksum(header);
    std::memcpy(block.data(), &header, sizeof(header));
    size_t bytes = padded(state_->end);
    std::fill(block.begin() + static_cast<ptrdiff_t>(state_->end),
              block.begin() + static_cast<ptrdiff_t>(bytes), std::byte{0});
    return ByteView(block).first(bytes);
}

ByteView BlockMaker::make(enum dbk_trace_type type, uint32_t number, ByteView raw,
                          int zstd_level) {
    begin(ZSTD_compressBound(raw.size()));
    add_frame(raw, zstd_level);
    return finish(type, number, raw.size(), 0);
}

ByteView BlockMaker::make_columns(uint32_t number, ByteView payload, size_t steps_offset,
                                  uint32_t rows_bytes, int zstd_level) {
    ByteView first = payload.first(steps_offset), steps = payload.subspan(steps_offset);
    begin(ZSTD_compressBound(first.size()) + ZSTD_compressBound(steps.size()));
    add_frame(first, zstd_level);
    add_frame(steps, zstd_level);
    return finish(DBK_TRACE_COLUMNS, number, payload.size(), rows_bytes);
}

std::string versions_text(uint16_t type) {
    std::string newest = std::to_string(block_version(type));
    return oldest_version(type) == block_version(type)
               ? newest
               : std::to_string(oldest_version(type)) + " to " + newest;
}

Bytes make_block(enum dbk_trace_type type, uint32_t number, ByteView raw, int zstd_level) {
    BlockMaker maker;
    ByteView block = maker.make(type, number, raw, zstd_level);
    return Bytes(block.begin(), block.end());
}

bool read_header(base::ByteSource& untrusted_file, uint64_t offset_bytes, dbk_trace_block& header) {
    std::array<std::byte, kHeaderBytes> bytes{};
    if (untrusted_file.read(offset_bytes, bytes) < kHeaderBytes)
        return false;
    std::memcpy(&header, bytes.data(), sizeof(header));
    return header.magic == DBK_TRACE_MAGIC && header.header_crc32c == header_checksum(header) &&
           header.stored_bytes <= untrusted_file.size() - offset_bytes - kHeaderBytes;
}

uint64_t block_bytes(const dbk_trace_block& header) {
    return padded(kHeaderBytes + uint64_t{header.stored_bytes});
}

/// Returns `bytes` bytes at `offset`, fewer at the end of the file; reads up to `ahead` more than
/// are wanted now.  The view is good until the next call.
ByteView BlockScanner::look(uint64_t offset, size_t bytes, size_t ahead) {
    bool here = offset >= buffer_offset_ && offset - buffer_offset_ <= buffer_bytes_ &&
                buffer_bytes_ - (offset - buffer_offset_) >= bytes;
    if (!here) {
        if (buffer_.size() < bytes + ahead)
            buffer_.resize(bytes + ahead);
        buffer_offset_ = offset;
        buffer_bytes_ = file_.read(offset, std::span(buffer_).first(bytes + ahead));
    }
    size_t at = offset - buffer_offset_;
    return ByteView(buffer_).subspan(at, std::min(bytes, buffer_bytes_ - at));
}

bool BlockScanner::header_at(uint64_t offset, dbk_trace_block& header, size_t ahead) {
    ByteView bytes = look(offset, kHeaderBytes, ahead);
    if (bytes.size() < kHeaderBytes)
        return false;
    std::memcpy(&header.magic, bytes.data(), sizeof(header.magic));
    if (header.magic != DBK_TRACE_MAGIC)
        return false;
    std::memcpy(&header, bytes.data(), sizeof(header));
    return header.header_crc32c == header_checksum(header);
}

/// Returns the next offset from `from` on where a header holds, or the file's size.
uint64_t BlockScanner::find_header(uint64_t from) {
    // Byte by byte: what was lost or put in between need not have been a multiple of anything.
    constexpr int kFirstByte = DBK_TRACE_MAGIC & 0xff;
    dbk_trace_block header;
    while (from < file_.size()) {
        ByteView bytes = look(from, 1, kStrideBytes);
        if (bytes.empty())
            break;
        bytes = ByteView(buffer_).subspan(from - buffer_offset_,
                                          buffer_bytes_ - (from - buffer_offset_));
        const void* found = std::memchr(bytes.data(), kFirstByte, bytes.size());
        if (!found) {
            from += bytes.size();
            continue;
        }
        from += static_cast<size_t>(static_cast<const std::byte*>(found) - bytes.data());
        if (header_at(from, header, kStrideBytes))
            return from;
        from++;
    }
    return std::min<uint64_t>(from, file_.size());
}

/// Returns whether the payload is there and what its checksum says; it is in `block` then, unless
/// it is too long to be unpacked.
bool BlockScanner::payload_holds(BlockView& block) {
    uint64_t at = block.offset_bytes + kHeaderBytes;
    uint32_t stored_bytes = block.header.stored_bytes;
    if (stored_bytes <= kStoredBytesMax) {
        // With its padding, so that looking at that leaves the payload where it is.
        ByteView bytes = look(at, stored_bytes + size_t{DBK_TRACE_ALIGN_BYTES}, kAheadBytes);
        block.stored = bytes.first(std::min<size_t>(bytes.size(), stored_bytes));
        return block.stored.size() == stored_bytes &&
               base::crc32c(block.stored) == block.header.payload_crc32c;
    }
    block.stored = {};
    uint32_t crc = 0;
    for (uint64_t done = 0; done < stored_bytes;) {
        size_t wanted = std::min<uint64_t>(kStrideBytes, stored_bytes - done);
        ByteView part = look(at + done, wanted, 0);
        if (part.size() < wanted)
            return false;
        crc = base::crc32c(part, crc);
        done += wanted;
    }
    return crc == block.header.payload_crc32c;
}

/// No header holds at offset_: moves to the next that does.
void BlockScanner::resync() {
    uint64_t from = offset_;
    offset_ = find_header(from + 1);
    uint64_t passed = offset_ - from;
    if (offset_ == file_.size()) {
        bytes_cut_ += passed;
        findings_.add(FindingKind::truncated, strprintf("0x%" PRIx64, from),
                      strprintf("the last %" PRIu64 " bytes are no whole block", passed));
        return;
    }
    bytes_skipped_ += passed;
    findings_.add(FindingKind::bad_block, strprintf("0x%" PRIx64, from),
                  strprintf("no block starts here; the next is %" PRIu64 " bytes on", passed));
}

/// The payload of the block at `at` is cut or changed.  When a block follows where it should, the
/// scan goes on there, else at the next header inside what should have been the payload.
void BlockScanner::pass_lost(const dbk_trace_block& header, uint64_t at) {
    uint64_t room = file_.size() - at - kHeaderBytes;
    bool fits = header.stored_bytes <= room;
    std::string where = strprintf("block %u at 0x%" PRIx64, header.number, at);
    blocks_lost_++;
    if (fits)
        findings_.add(FindingKind::bad_block, where, "its checksum does not hold");
    else
        findings_.add(
            FindingKind::truncated, where,
            strprintf("%u bytes are stored, %" PRIu64 " are there", header.stored_bytes, room));
    uint64_t end = at + padded(kHeaderBytes + header.stored_bytes);
    dbk_trace_block follower;
    reread_bytes_ += fits ? header.stored_bytes : 0;
    bool patient = reread_bytes_ / kRereadFactor <= file_.size();
    if (fits && (end >= file_.size() || header_at(end, follower, kAheadBytes) || !patient)) {
        offset_ = std::min<uint64_t>(end, file_.size());
        return;
    }
    offset_ = find_header(at + kHeaderBytes);
    (offset_ == file_.size() ? bytes_cut_ : bytes_skipped_) += offset_ - at;
}

void BlockScanner::check_number(const dbk_trace_block& header, uint64_t offset) {
    if (!std::exchange(jumped_, false) && header.number > expected_number_) {
        blocks_lost_ += header.number - expected_number_;
        findings_.add(FindingKind::bad_block, strprintf("0x%" PRIx64, offset),
                      base::counted(header.number - expected_number_, "block") +
                          strprintf(" missing before block %u", header.number));
    }
    expected_number_ = uint64_t{header.number} + 1;
}

/// Nothing lies between the payload that ends at `from` and the next block.
void BlockScanner::check_padding(uint64_t from) {
    ByteView padding = look(from, offset_ - from, kAheadBytes);
    for (size_t i = 0; i < padding.size(); i++)
        if (padding[i] != std::byte{0}) {
            findings_.add(FindingKind::bad_padding, strprintf("0x%" PRIx64, from + i),
                          "the bytes after a block are not zero");
            return;
        }
}

bool BlockScanner::next(BlockView& block) {
    while (offset_ < file_.size()) {
        dbk_trace_block header;
        if (!header_at(offset_, header, kAheadBytes)) {
            if (offset_ < file_.size())
                resync();
            continue;
        }
        uint64_t at = offset_;
        check_number(header, at);
        block.header = header;
        block.offset_bytes = at;
        uint64_t payload = at + kHeaderBytes;
        uint64_t end = at + padded(kHeaderBytes + header.stored_bytes);
        bool fits = header.stored_bytes <= file_.size() - payload;
        if (fits && is_trusted_ && is_trusted_(header, at)) {
            block.stored = {};
            offset_ = std::min<uint64_t>(end, file_.size());
            return true;
        }
        if (fits && payload_holds(block)) {
            offset_ = std::min<uint64_t>(end, file_.size());
            check_padding(payload + header.stored_bytes);
            return true;
        }
        pass_lost(header, at);
    }
    return false;
}

void PayloadUnpacker::FreeContext::operator()(ZSTD_DCtx_s* context) const {
    ZSTD_freeDCtx(context);
}

namespace {

Result<void> check_sizes(const BlockView& block) {
    const dbk_trace_block& header = block.header;
    if (header.type == DBK_TRACE_COLUMNS && (header.rows_bytes > DBK_TRACE_ROWS_BYTES_MAX ||
                                             header.raw_bytes >= header.rows_bytes))
        return errorf(ErrorCode::limit, "%u bytes of columns for %u of pieces, %u are the most",
                      header.raw_bytes, header.rows_bytes, DBK_TRACE_ROWS_BYTES_MAX);
    if (header.raw_bytes > DBK_TRACE_RAW_BYTES_MAX)
        return errorf(ErrorCode::limit, "%u bytes unpacked, %u are the most", header.raw_bytes,
                      DBK_TRACE_RAW_BYTES_MAX);
    if (block.stored.empty() && header.stored_bytes > kStoredBytesMax)
        return errorf(ErrorCode::limit, "%u bytes are stored, %zu are the most",
                      header.stored_bytes, kStoredBytesMax);
    return {};
}

/// zstd frames back to back, and what they say to unpack to.
struct Frames {
    ByteView stored;
    size_t raw_bytes = 0;
};

/// Returns the frames of a part of the payload.
Result<Frames> find_part(const BlockView& block, PayloadPart part) {
    Frames found;
    size_t stored_bytes = 0;
    uint64_t raw_bytes = 0;
    for (int left = has_two_frames(block.header) ? 2 : 1; left > 0; left--) {
        ByteView rest = block.stored.subspan(stored_bytes);
        // zstd passes over frames of other kinds, and knows those of its first versions.
        if (rest.size() < sizeof(uint32_t) || base::load<uint32_t>(rest.data()) != ZSTD_MAGICNUMBER)
            return errorf(ErrorCode::corrupt, "no zstd frame is where one should be");
        uint64_t content = ZSTD_getFrameContentSize(rest.data(), rest.size());
        size_t bytes = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
        if (content > block.header.raw_bytes - raw_bytes || ZSTD_isError(bytes))
            return errorf(ErrorCode::corrupt, "it does not unpack to %u bytes",
                          block.header.raw_bytes);
        raw_bytes += content;
        stored_bytes += bytes;
        if (found.stored.empty() || part == PayloadPart::whole)
            found = {block.stored.first(stored_bytes), raw_bytes};
    }
    if (raw_bytes != block.header.raw_bytes)
        return errorf(ErrorCode::corrupt, "it says to unpack to %" PRIu64 " bytes, %u expected",
                      raw_bytes, block.header.raw_bytes);
    if (stored_bytes != block.stored.size())
        return errorf(ErrorCode::corrupt, "%s left over after what unpacks",
                      base::counted(block.stored.size() - stored_bytes, "byte is", "bytes are").c_str());
    return found;
}

} // namespace

Result<void> PayloadUnpacker::unpack(const BlockView& block, PayloadPart part, Bytes& payload) {
    DBK_TRY_VOID(check_sizes(block));
    DBK_TRY(Frames frames, find_part(block, part));
    if (!context_)
        context_.reset(ZSTD_createDCtx());
    if (!context_)
        throw std::bad_alloc();
    payload.resize(frames.raw_bytes);
    size_t got = ZSTD_decompressDCtx(context_.get(), payload.data(), payload.size(),
                                     frames.stored.data(), frames.stored.size());
    if (ZSTD_isError(got))
        return errorf(ErrorCode::corrupt, "it does not unpack: %s", ZSTD_getErrorName(got));
    if (got != frames.raw_bytes)
        return errorf(ErrorCode::corrupt, "it unpacks to %zu bytes, %zu expected", got,
                      frames.raw_bytes);
    return {};
}

Result<Bytes> unpack_block(const BlockView& block) {
    Bytes payload;
    DBK_TRY_VOID(PayloadUnpacker().unpack(block, PayloadPart::whole, payload));
    if (block.header.type != DBK_TRACE_COLUMNS)
        return payload;
    return unpack_columns(payload, block.header.rows_bytes,
                          steps_place(block.header, PayloadPart::whole));
}

} // namespace daybreak::formats
