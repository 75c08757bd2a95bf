// SPDX-License-Identifier: Apache-2.0
//
// Unpacking blocks on demand, and the checks of what the file said of them before.
#include "formats/trace/block_store.hpp"

#include "formats/segment/piece.hpp"
#include "formats/trace/column_block.hpp"
#include "formats/trace/column_unpack.hpp"

#include "base/crc32c.hpp"

#include <algorithm>
#include <cinttypes>
#include <optional>
#include <utility>

namespace daybreak::formats {

namespace {

using base::errorf;
using base::strprintf;

} // namespace

uint32_t BlockStore::add(std::shared_ptr<base::ByteSource> file, const std::string& prefix,
                         const dbk_trace_block& header, uint64_t offset_bytes) {
    if (files_.empty() || files_.back().source != file)
        files_.push_back({std::move(file), prefix});
    blocks_.push_back({static_cast<uint32_t>(files_.size() - 1), 0, offset_bytes, header, {}});
    return static_cast<uint32_t>(blocks_.size() - 1);
}

uint32_t BlockStore::reserve(std::shared_ptr<base::ByteSource> file, const std::string& prefix,
                             uint32_t blocks) {
    if (files_.empty() || files_.back().source != file)
        files_.push_back({std::move(file), prefix});
    auto first = static_cast<uint32_t>(blocks_.size());
    blocks_.resize(blocks_.size() + blocks,
                   {static_cast<uint32_t>(files_.size() - 1), 0, 0, {}, {}});
    return first;
}

void BlockStore::place(uint32_t block, const dbk_trace_block& header, uint64_t offset_bytes) {
    blocks_[block].header = header;
    blocks_[block].offset_bytes = offset_bytes;
}

void BlockStore::tell_epids(uint32_t block, const std::vector<uint32_t>& epids) {
    blocks_[block].epid_set = 0;
    auto known = epid_set_numbers_.find(epids);
    if (known == epid_set_numbers_.end()) {
        if (epids.empty() || epid_sets_.size() > kEpidSets)
            return;
        auto number = static_cast<uint32_t>(epid_sets_.size());
        known = epid_set_numbers_.emplace(epids, number).first;
        epid_sets_.push_back(&known->first);
    }
    blocks_[block].epid_set = known->second;
}

bool BlockStore::may_have(uint32_t block, std::span<const uint32_t> epids) const {
    const std::vector<uint32_t>* all = epid_sets_[blocks_[block].epid_set];
    return !all || std::any_of(all->begin(), all->end(), [&](uint32_t epid) {
        return std::binary_search(epids.begin(), epids.end(), epid);
    });
}

void BlockStore::keep(uint32_t block, Bytes raw) {
    Unpacked unpacked = counted(std::move(raw));
    blocks_[block].unpacked = unpacked;
    keep_unpacked(unpacked);
}

BlockStore::Unpacked BlockStore::counted(Bytes raw) const {
    std::shared_ptr<Resident> resident = resident_;
    resident->now += raw.size();
    resident->peak = std::max(resident->peak, resident->now);
    return {new Bytes(std::move(raw)), [resident](Bytes* bytes) {
                resident->now -= bytes->size();
                resident->spare = std::move(*bytes);
                delete bytes;
            }};
}

/// The oldest go: of them stays what a cursor has pinned.
void BlockStore::keep_unpacked(const Unpacked& unpacked) {
    if (!kept_.empty() && kept_.back() == unpacked)
        return;
    auto known = std::find(kept_.begin(), kept_.end(), unpacked);
    if (known != kept_.end())
        kept_.erase(known);
    else
        kept_bytes_ += unpacked->size();
    kept_.push_back(unpacked);
    while (kept_bytes_ > kept_bytes_max() || kept_.size() > kKeptBlocks) {
        kept_bytes_ -= kept_.front()->size();
        kept_.pop_front();
    }
}

/// Reads a block's payload into stored_.
Result<void> BlockStore::read_stored(const Block& block) {
    if (block.header.magic == 0)
        return errorf(ErrorCode::corrupt, "what lies there is not the block that the index has");
    if (block.header.stored_bytes > kStoredBytesMax)
        return errorf(ErrorCode::limit, "it is too long");
    stored_.header = block.header;
    stored_.offset_bytes = block.offset_bytes;
    stored_.stored.resize(block.header.stored_bytes);
    base::ByteSource& file = *files_[block.file].source;
    size_t got = file.read(block.offset_bytes + sizeof(dbk_trace_block), stored_.stored);
    if (got != stored_.stored.size())
        return file.failure()
                   ? *file.failure()
                   : errorf(ErrorCode::truncated, "%zu bytes are stored, %zu are there any more",
                            stored_.stored.size(), got);
    return {};
}

Result<void> BlockStore::unpack_payload(const Block& block, PayloadPart part, Bytes& payload) {
    auto number = static_cast<uint32_t>(&block - blocks_.data());
    if (!has_two_frames(block.header))
        part = PayloadPart::whole;
    blocks_unpacked_++;
    if (jobs_ > 1)
        begin_next(number, part);
    if (ahead_ && ahead_->has(number, part)) {
        DBK_TRY(payload, ahead_->take(number));
        return {};
    }
    DBK_TRY_VOID(read_stored(block));
    stored_.part = part;
    return unpack_stored(unpacker_, stored_, payload);
}

/// Has the same part of the blocks after this one unpacked, if it comes after the last.  A block
/// that cannot be read is left to the reader, which reports it if it is wanted.
void BlockStore::begin_next(uint32_t number, PayloadPart part) {
    bool follows = number == std::exchange(last_, number) + 1;
    if (ahead_)
        ahead_->pass(number);
    if (!follows)
        return;
    if (!ahead_)
        ahead_ = std::make_unique<UnpackAhead>(jobs_ - 1);
    size_t end = std::min<size_t>(blocks_.size(), size_t{number} + 1 + ahead_->depth());
    for (uint32_t next = number + 1; next < end; next++) {
        const Block& block = blocks_[next];
        if (ahead_->has(next, part) || !block.unpacked.expired())
            continue;
        if (!is_placed(next))
            return;
        if (std::max(block.header.raw_bytes, block.header.stored_bytes) > UnpackAhead::kBytesMax)
            return;
        StoredBlock stored{block.header, block.offset_bytes, Bytes(block.header.stored_bytes),
                           part};
        if (!files_[block.file].source->try_read(block.offset_bytes + sizeof(dbk_trace_block),
                                                 stored.stored))
            return;
        ahead_->begin(next, std::move(stored));
    }
}

/// A block and the payload that it is views of.
struct BlockStore::Columns {
    Bytes payload;
    std::optional<ColumnBlock> block;
};

Result<std::shared_ptr<const ColumnBlock>> BlockStore::columns(uint32_t number) {
    DBK_ASSERT(number < blocks_.size());
    const Block& block = blocks_[number];
    if (block.header.type != DBK_TRACE_COLUMNS)
        return std::shared_ptr<const ColumnBlock>();
    if (!columns_ || columns_.use_count() != 1)
        columns_ = std::make_shared<Columns>();
    columns_->block.reset();
    DBK_TRY_VOID(unpack_payload(block, PayloadPart::without_steps, columns_->payload));
    DBK_TRY(columns_->block,
            ColumnBlock::read(columns_->payload, block.header.rows_bytes,
                              steps_place(block.header, PayloadPart::without_steps)));
    return std::shared_ptr<const ColumnBlock>(columns_, &*columns_->block);
}

Result<BlockStore::Unpacked> BlockStore::unpack(Block& block) {
    Bytes payload;
    if (resident_->spare.capacity() <=
        size_t{2} * block.header.raw_bytes) // else it would stay so large
        payload = std::exchange(resident_->spare, {});
    DBK_TRY_VOID(unpack_payload(block, PayloadPart::whole, payload));
    if (block.header.type != DBK_TRACE_COLUMNS)
        return counted(std::move(payload));
    DBK_TRY(Bytes rows,
            unpack_columns(payload, block.header.rows_bytes,
                           steps_place(block.header, PayloadPart::whole)));
    resident_->spare = std::move(payload);
    return counted(std::move(rows));
}

Result<BlockStore::Unpacked> BlockStore::block_of(const PieceBytes& piece) {
    DBK_ASSERT(piece.block() < blocks_.size());
    Block& block = blocks_[piece.block()];
    Unpacked unpacked = block.unpacked.lock();
    if (!unpacked) {
        Result<Unpacked> now = unpack(block);
        if (!now.ok())
            return refuse(block, 0, now.error().message());
        unpacked = std::move(*now);
        block.unpacked = unpacked;
    }
    keep_unpacked(unpacked);
    return unpacked;
}

Error BlockStore::refuse(const Block& block, uint32_t offset_bytes, const std::string& why) {
    std::string where =
        files_[block.file].prefix +
        strprintf("block %u at 0x%" PRIx64, block.header.number, block.offset_bytes);
    if (offset_bytes != 0)
        where += strprintf(" at 0x%x", offset_bytes);
    add_late(FindingKind::bad_block, where, why);
    return errorf(ErrorCode::corrupt, "%s: %s", where.c_str(), why.c_str());
}

Result<void> BlockStore::take(uint32_t block, const UseBlock& use) {
    DBK_ASSERT(block < blocks_.size());
    Result<Unpacked> unpacked = unpack(blocks_[block]);
    Result<void> used = unpacked.ok() ? use(**unpacked) : unpacked.error();
    return used.ok() ? used : refuse(blocks_[block], 0, used.error().message());
}

void BlockStore::add_late(FindingKind kind, std::string where, std::string text) {
    Finding finding{kind, std::move(where), std::move(text)};
    // A block is asked for by each of its pieces, and by several readings of a recording.
    const std::vector<Finding>& known = late_.list();
    if (std::find(known.begin(), known.end(), finding) == known.end())
        late_.add(kind, std::move(finding.where), std::move(finding.text));
}

Result<PinnedBytes> BlockStore::load(const PieceBytes& piece) {
    DBK_TRY(Unpacked unpacked, block_of(piece));
    const Block& block = blocks_[piece.block()];
    if (piece.offset() > unpacked->size() || piece.size() > unpacked->size() - piece.offset())
        return refuse(
            block, piece.offset(),
            strprintf("the index says %zu bytes, there are %zu", piece.size(), unpacked->size()));
    ByteView bytes = ByteView(*unpacked).subspan(piece.offset(), piece.size());
    ByteView head = bytes.first(std::min<size_t>(bytes.size(), DBK_SEGMENT_DATA_OFFSET));
    if (base::crc32c(head) != piece.head_crc32c())
        return refuse(block, piece.offset(), "the index has another header");
    if (piece.from_index()) {
        Result<Piece> parsed = parse_piece(bytes);
        bool sealed = parsed.ok() && parsed->kind == PieceKind::segment &&
                      (parsed->segment.flags & DBK_SEGMENT_F_SEALED) != 0;
        if (sealed && parsed->segment.crc32c != segment_checksum(bytes))
            return refuse(block, piece.offset(), "the segment's checksum does not hold");
    }
    if (resident_->now - kept_bytes_ <= kPinnedBytes)
        return PinnedBytes{bytes, std::move(unpacked)};
    Unpacked copy = counted(Bytes(bytes.begin(), bytes.end()));
    return PinnedBytes{*copy, copy};
}

} // namespace daybreak::formats
