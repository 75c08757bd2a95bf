// SPDX-License-Identifier: Apache-2.0
//
// Finding index blocks, and the check that they describe whole blocks.
#include "formats/trace/index_reader.hpp"

#include "formats/segment/piece.hpp"
#include "formats/trace/message.hpp"

#include "base/crc32c.hpp"
#include "base/padded.hpp"

#include <algorithm>
#include <cstring>

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

} // namespace

IndexReader::IndexReader(base::ByteSource& untrusted_file) : file_(untrusted_file) {
    Place place{0, {}};
    for (uint32_t number = 0; read_header(file_, place.offset_bytes, place.header); number++) {
        if (place.header.number != number || place.header.version != block_version(place.header.type))
            return;
        if (place.header.type == DBK_TRACE_INDEX)
            places_.push_back(place);
        place.offset_bytes += block_bytes(place.header);
    }
}

void IndexReader::read(const Place& place, const MayUnpack& may_unpack) {
    blocks_.clear();
    if (place.header.stored_bytes > kStoredBytesMax || !may_unpack(place.header.raw_bytes))
        return;
    Bytes stored(place.header.stored_bytes);
    if (file_.read(place.offset_bytes + sizeof(dbk_trace_block), stored) != stored.size() ||
        base::crc32c(stored) != place.header.payload_crc32c)
        return;
    Result<Bytes> raw = unpack_block({place.header, place.offset_bytes, stored});
    if (!raw.ok())
        return;
    Result<TraceIndex> index = decode_index(*raw);
    if (!index.ok())
        return;
    blocks_ = std::move(index->blocks);
    std::stable_sort(blocks_.begin(), blocks_.end(), [](const IndexBlock& a, const IndexBlock& b) {
        return a.file_offset < b.file_offset;
    });
}

const IndexBlock* IndexReader::find(const dbk_trace_block& header, uint64_t offset_bytes,
                                    const MayUnpack& may_unpack) {
    // The index that has the block is the next one after it.
    while (!places_.empty() && places_.front().offset_bytes < offset_bytes)
        places_.pop_front();
    if (places_.empty())
        return nullptr;
    if (read_offset_ != places_.front().offset_bytes) {
        read_offset_ = places_.front().offset_bytes;
        read(places_.front(), may_unpack);
    }
    auto found = std::lower_bound(
        blocks_.begin(), blocks_.end(), offset_bytes,
        [](const IndexBlock& block, uint64_t offset) { return block.file_offset < offset; });
    bool here = found != blocks_.end() && found->file_offset == offset_bytes &&
                found->block_number == header.number && !found->pieces.empty();
    return here && fill(found->pieces, rows_bytes(header)) ? &*found : nullptr;
}

} // namespace daybreak::formats
