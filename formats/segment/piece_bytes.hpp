// SPDX-License-Identifier: Apache-2.0
//
// PieceBytes: where the bytes of a piece are, in memory or in a block that is unpacked on demand.
//
// A Recording of a trace file has millions of records and keeps none of them: a segment says in
// which block of the file it lies (docs/design/0057-trace-store.md).  Of a dump, a bank or a live
// ring the bytes are in memory, and loading them costs nothing.
#pragma once

#include "formats/segment/finding.hpp"

#include <memory>
#include <span>

namespace daybreak::formats {

/// Bytes, and what must live as long as they are looked at; null: memory that the Recording has.
struct PinnedBytes {
    ByteView bytes;
    std::shared_ptr<const Bytes> pin;
};

class ColumnBlock;
class PieceBytes;

/// Blocks that pieces lie in.
class PieceStore {
public:
    virtual ~PieceStore() = default;
    /// Returns the piece's bytes.  Error: they cannot be read any more, or are not what they were
    /// said to be; late_findings() has it then.
    virtual Result<PinnedBytes> load(const PieceBytes& piece) = 0;
    /// Returns a block by its columns, those of steps in time left out where they are a frame of
    /// their own; null when it is not stored so.  Error: it cannot be read so; loading a piece of it
    /// can, or reports why.
    virtual Result<std::shared_ptr<const ColumnBlock>> columns(uint32_t block) = 0;
    /// Returns false when no record of the block is of one of these ECBs, which ascend by EPID.
    virtual bool may_have(uint32_t block, std::span<const uint32_t> epids) const = 0;
    /// Adds what is wrong with a piece that was taken to be good.
    virtual void add_late(FindingKind kind, std::string where, std::string text) = 0;
    virtual const Findings& late_findings() const = 0;
};

class PieceBytes {
public:
    PieceBytes() = default;
    /// In memory that outlives this.
    PieceBytes(ByteView in_memory) // NOLINT(google-explicit-constructor): a view of a view
        : size_(static_cast<uint32_t>(in_memory.size())), in_store_(0), from_index_(0) {
        data_ = in_memory.data();
    }
    /// In a block of the store.  `head_crc32c` is of the first DBK_SEGMENT_DATA_OFFSET bytes, as
    /// they must be when the block is unpacked; nothing more is known of a piece `from_index`.
    PieceBytes(PieceStore& store, uint32_t block, uint32_t offset, uint32_t size,
               uint32_t head_crc32c, bool from_index)
        : block_(block), offset_(offset), head_crc32c_(head_crc32c), size_(size), in_store_(1),
          from_index_(from_index) {
        store_ = &store;
    }

    size_t size() const { return size_; }
    /// Null: in memory.
    PieceStore* store() const { return in_store_ ? store_ : nullptr; }
    uint32_t block() const { return block_; }
    uint32_t offset() const { return offset_; }
    uint32_t head_crc32c() const { return head_crc32c_; }
    bool from_index() const { return from_index_; }
    /// Of a piece in memory; else empty.
    ByteView view() const { return in_store_ ? ByteView() : ByteView(data_, size_); }
    Result<PinnedBytes> load() const {
        return in_store_ ? store_->load(*this) : Result<PinnedBytes>(PinnedBytes{view(), nullptr});
    }

private:
    union {
        const std::byte* data_ = nullptr;
        PieceStore* store_; // when in_store_
    };
    uint32_t block_ = 0, offset_ = 0, head_crc32c_ = 0;
    uint32_t size_ : 30 = 0; // a piece has at most 32 MiB
    uint32_t in_store_ : 1 = 0, from_index_ : 1 = 0;
};

static_assert(sizeof(PieceBytes) == 24, "a recording has millions of them");

} // namespace daybreak::formats
