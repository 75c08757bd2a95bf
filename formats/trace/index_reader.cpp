// SPDX-License-Identifier: Apache-2.0
//
// Finding index blocks, and the check that they describe whole blocks.
#include "formats/trace/index_reader.hpp"

#include "formats/segment/piece.hpp"
#include "formats/trace/message.hpp"

#include "base/crc32c.hpp"
#include "base/padded.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>

namespace daybreak::formats {

namespace {

/// Returns whether the pieces lie one after the other and nothing else is in the block.
bool fill(const std::vector<PieceHead>& pieces, uint32_t block_bytes) {
    uint64_t end = 0;
    for (const PieceHead& piece : pieces) {
        Result<Piece> parsed = parse_piece(piece.head);
        if (!parsed.ok() || parsed->kind == PieceKind::metadata || piece.offset_bytes != end)
            return false;
        end += base::padded_to_8(parsed->committed_bytes);
    }
    return end == block_bytes;
}

void set_places(std::vector<IndexBlock>& blocks) {
    std::map<StreamKey, uint32_t> counts;
    for (IndexBlock& block : blocks)
        for (PieceHead& head : block.pieces)
            if (Result<Piece> piece = parse_piece(head.head);
                piece.ok() && piece->kind == PieceKind::segment)
                head.place = counts[{piece->boot_id, piece->segment.ring_id, piece->segment.cpu}]++;
}

/// Returns the pieces of a block that has nothing but segments; none when it has others, too, or
/// more than `count_max`.
std::vector<PieceHead> heads_of(ByteView raw, PieceCounter& counter, size_t count_max) {
    std::vector<PieceHead> heads;
    for (size_t at = 0; at < raw.size();) {
        if (heads.size() == count_max)
            return {};
        ByteView rest = raw.subspan(at);
        Result<Piece> piece = parse_piece(rest);
        if (!piece.ok() || piece->kind != PieceKind::segment ||
            piece->committed_bytes > rest.size())
            return {};
        PieceHead& head = heads.emplace_back();
        head.offset_bytes = static_cast<uint32_t>(at);
        std::copy_n(rest.begin(), std::min(rest.size(), head.head.size()), head.head.begin());
        head.count = counter.take(rest);
        at += base::padded_to_8(piece->committed_bytes);
    }
    return heads;
}

} // namespace

Result<Bytes> read_payload(base::ByteSource& untrusted_file, const BlockPlace& place) {
    if (place.header.stored_bytes > kStoredBytesMax)
        return base::errorf(ErrorCode::limit, "%u bytes are stored", place.header.stored_bytes);
    Bytes stored(place.header.stored_bytes);
    if (untrusted_file.read(place.offset_bytes + sizeof(dbk_trace_block), stored) != stored.size())
        return base::errorf(ErrorCode::truncated, "it is not there any more");
    if (base::crc32c(stored) != place.header.payload_crc32c)
        return base::errorf(ErrorCode::corrupt, "its checksum does not hold");
    return unpack_block({place.header, place.offset_bytes, stored});
}

Result<std::vector<IndexBlock>> index_again(base::ByteSource& untrusted_file, uint64_t from_bytes,
                                            const BlockPlace& index, size_t count,
                                            RawBudget& budget, PieceCounter& counter) {
    std::vector<BlockPlace> places;
    BlockPlace place{from_bytes, {}};
    while (place.offset_bytes < index.offset_bytes &&
           read_header(untrusted_file, place.offset_bytes, place.header)) {
        if (place.header.type == DBK_TRACE_INDEX)
            places.clear(); // they are that one's
        if (has_pieces(place.header))
            places.push_back(place);
        place.offset_bytes += block_bytes(place.header);
    }
    // Whose pieces the index did not have room for, it did not have.
    size_t pieces_left = index.header.raw_bytes / DBK_SEGMENT_DATA_OFFSET;
    uint64_t bytes = 0;
    for (const BlockPlace& one : places)
        bytes += rows_bytes(one.header);
    if (!budget.take(bytes))
        return base::errorf(ErrorCode::limit, "the data blocks before it have %" PRIu64 " bytes",
                            bytes);
    if (place.offset_bytes != index.offset_bytes || places.size() != count)
        return base::errorf(ErrorCode::corrupt, "other data blocks are before it than it had");
    std::vector<IndexBlock> blocks;
    for (const BlockPlace& one : places) {
        Result<Bytes> raw = read_payload(untrusted_file, one);
        IndexBlock& block = blocks.emplace_back();
        block.file_offset = one.offset_bytes;
        block.block_number = one.header.number;
        block.is_lost = !raw.ok();
        if (raw.ok())
            block.pieces = heads_of(*raw, counter, pieces_left);
        block.epids = counter.take_epids();
        pieces_left -= block.pieces.size();
    }
    set_places(blocks);
    return blocks;
}

Result<std::vector<IndexBlock>> read_index(base::ByteSource& untrusted_file,
                                           const BlockPlace& place) {
    DBK_TRY(Bytes raw, read_payload(untrusted_file, place));
    DBK_TRY(TraceIndex index, decode_index(raw, place.offset_bytes / sizeof(dbk_trace_block)));
    if (!std::ranges::is_sorted(index.blocks, {}, &IndexBlock::file_offset))
        std::ranges::stable_sort(index.blocks, {}, &IndexBlock::file_offset);
    set_places(index.blocks);
    return std::move(index.blocks);
}

bool fills(const IndexBlock& block, const dbk_trace_block& header) {
    return !block.pieces.empty() && fill(block.pieces, rows_bytes(header));
}

void IndexReader::find_all() {
    BlockPlace place;
    for (uint32_t number = 0; read_header(file_, place.offset_bytes, place.header); number++) {
        if (place.header.number != number || !has_known_version(place.header))
            return;
        if (place.header.type == DBK_TRACE_INDEX)
            places_.push_back(place);
        place.offset_bytes += block_bytes(place.header);
    }
}

const IndexBlock* IndexReader::find(const dbk_trace_block& header, uint64_t offset_bytes,
                                    const MayUnpack& may_unpack) {
    // The index that has the block is the next one after it.
    while (!places_.empty() && places_.front().offset_bytes < offset_bytes)
        places_.pop_front();
    if (places_.empty())
        return nullptr;
    if (read_.offset_bytes != places_.front().offset_bytes) {
        read_ = places_.front();
        blocks_.clear();
        if (may_unpack(read_.header.raw_bytes))
            if (Result<std::vector<IndexBlock>> read = read_index(file_, read_); read.ok())
                blocks_ = std::move(*read);
    }
    auto found = std::lower_bound(
        blocks_.begin(), blocks_.end(), offset_bytes,
        [](const IndexBlock& block, uint64_t offset) { return block.file_offset < offset; });
    bool here = found != blocks_.end() && found->file_offset == offset_bytes &&
                found->block_number == header.number;
    return here && fills(*found, header) ? &*found : nullptr;
}

} // namespace daybreak::formats
