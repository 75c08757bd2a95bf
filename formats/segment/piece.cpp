// SPDX-License-Identifier: Apache-2.0
//
// Header checks of pieces, and their form in a trace file (docs/design/0018-what-a-reset-leaves.md).
#include "formats/segment/piece.hpp"

#include "base/crc32c.hpp"
#include "base/padded.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::errorf;

constexpr size_t kChecksumOffset = offsetof(dbk_segment_header, crc32c);

/// What segments and aggregation buffers have in common.
Result<Piece> parse_ring_piece(ByteView untrusted, PieceKind kind) {
    base::ByteReader reader(untrusted,
                            kind == PieceKind::segment ? "segment" : "aggregation buffer");
    Piece piece;
    piece.kind = kind;
    DBK_TRY(piece.segment, reader.read<dbk_segment_header>());
    DBK_TRY(piece.losses, reader.read<dbk_segment_losses>());
    const dbk_segment_header& header = piece.segment;
    if (header.version < DBK_SEGMENT_VERSION_FIRST || header.version > DBK_SEGMENT_VERSION)
        return errorf(ErrorCode::unsupported, "version is %u, this program reads %u to %u",
                      header.version, DBK_SEGMENT_VERSION_FIRST, DBK_SEGMENT_VERSION);
    bool segment = kind == PieceKind::segment;
    bool room_ok =
        segment ? std::has_single_bit(header.segment_bytes) &&
                      header.segment_bytes >= DBK_SEGMENT_BYTES_MIN &&
                      header.segment_bytes <= DBK_SEGMENT_BYTES_MAX
                : header.segment_bytes % 8 == 0 && header.segment_bytes <= kAggregationBytesMax;
    if (!room_ok)
        return errorf(ErrorCode::corrupt, "a size of %u bytes is none that a ring makes",
                      header.segment_bytes);
    if (header.committed_bytes < DBK_SEGMENT_DATA_OFFSET ||
        header.committed_bytes > header.segment_bytes ||
        header.committed_bytes % DBK_RECORD_ALIGN_BYTES != 0)
        return errorf(ErrorCode::corrupt, "%u bytes are committed of %u", header.committed_bytes,
                      header.segment_bytes);
    if (segment && header.sequence == 0)
        return errorf(ErrorCode::busy, "it was being opened");
    if (header.cpu >= kCpusMax)
        return errorf(ErrorCode::corrupt, "CPU %u is above %u", header.cpu, kCpusMax - 1);
    piece.room_bytes = header.segment_bytes;
    piece.committed_bytes = header.committed_bytes;
    piece.boot_id = header.boot_id;
    piece.phys_addr = header.phys_addr;
    return piece;
}

Result<Piece> parse_meta_piece(ByteView untrusted) {
    base::ByteReader reader(untrusted, "metadata block");
    Piece piece;
    piece.kind = PieceKind::metadata;
    DBK_TRY(piece.meta, reader.read<dbk_meta_header>());
    const dbk_meta_header& header = piece.meta;
    if (header.version != DBK_META_VERSION)
        return errorf(ErrorCode::unsupported, "version is %u, this program reads %u",
                      header.version, DBK_META_VERSION);
    if (header.block_bytes == 0 || header.block_bytes % DBK_META_ALIGN_BYTES != 0 ||
        header.block_bytes > DBK_META_BLOCK_BYTES_MAX)
        return errorf(ErrorCode::corrupt, "a size of %u bytes is none that a block has",
                      header.block_bytes);
    if (header.committed_bytes < DBK_META_DATA_OFFSET ||
        header.committed_bytes > header.block_bytes)
        return errorf(ErrorCode::corrupt, "%u bytes are committed of %u", header.committed_bytes,
                      header.block_bytes);
    if (header.part >= header.part_count)
        return errorf(ErrorCode::corrupt, "it is part %u of %u", header.part, header.part_count);
    piece.room_bytes = header.block_bytes;
    piece.committed_bytes = header.committed_bytes;
    piece.boot_id = header.boot_id;
    piece.phys_addr = header.phys_addr;
    return piece;
}

} // namespace

std::optional<PieceKind> piece_kind(uint32_t magic) {
    switch (magic) {
    case DBK_SEGMENT_MAGIC:
        return PieceKind::segment;
    case DBK_META_MAGIC:
        return PieceKind::metadata;
    case DBK_AGGBUF_MAGIC:
        return PieceKind::aggregation;
    default:
        return std::nullopt;
    }
}

void metadata_first(std::vector<ByteView>& pieces) {
    std::stable_partition(pieces.begin(), pieces.end(), [](ByteView bytes) {
        auto magic = base::ByteReader(bytes, "piece").read<uint32_t>();
        return magic.ok() && piece_kind(*magic) == PieceKind::metadata;
    });
}

Result<Piece> parse_piece(ByteView untrusted) {
    base::ByteReader reader(untrusted, "piece");
    DBK_TRY(uint32_t magic, reader.read<uint32_t>());
    std::optional<PieceKind> kind = piece_kind(magic);
    if (!kind)
        return errorf(ErrorCode::corrupt, "0x%08x is not the magic of a segment or metadata block",
                      magic);
    return *kind == PieceKind::metadata ? parse_meta_piece(untrusted)
                                        : parse_ring_piece(untrusted, *kind);
}

bool metadata_checksum_holds(const dbk_meta_header& header, ByteView bytes) {
    constexpr size_t kFrom = offsetof(dbk_meta_header, boot_id);
    constexpr size_t kTo = offsetof(dbk_meta_header, checksum);
    if (bytes.size() < DBK_META_DATA_OFFSET)
        return false;
    for (uint64_t word : header.checksum) {
        if (word == 0 || static_cast<uint32_t>(word) != bytes.size())
            continue;
        uint32_t crc = base::crc32c(bytes.subspan(kFrom, kTo - kFrom));
        return base::crc32c(bytes.subspan(DBK_META_DATA_OFFSET), crc) == word >> 32;
    }
    return true;
}

uint32_t segment_checksum(ByteView bytes) {
    static constexpr std::byte kZero[sizeof(uint32_t)] = {};
    DBK_ASSERT(bytes.size() >= sizeof(dbk_segment_header));
    uint32_t crc = base::crc32c(bytes.first(kChecksumOffset));
    crc = base::crc32c(kZero, crc);
    return base::crc32c(bytes.subspan(kChecksumOffset + sizeof(uint32_t)), crc);
}

Result<Bytes> packed_piece(ByteView untrusted_piece) {
    DBK_TRY(Piece piece, parse_piece(untrusted_piece));
    if (piece.committed_bytes > untrusted_piece.size())
        return errorf(ErrorCode::truncated, "%u bytes are committed, %zu are there",
                      piece.committed_bytes, untrusted_piece.size());
    ByteView committed = untrusted_piece.first(piece.committed_bytes);
    size_t padded = base::padded_to_8(committed.size());
    Bytes packed;
    packed.reserve(padded);
    packed.assign(committed.begin(), committed.end());
    packed.resize(padded);
    if (piece.kind != PieceKind::segment)
        return packed;
    if ((piece.segment.flags & DBK_SEGMENT_F_SEALED) &&
        piece.segment.crc32c != segment_checksum(committed))
        return errorf(ErrorCode::corrupt, "its checksum does not hold");
    dbk_segment_header header = piece.segment;
    header.flags |= DBK_SEGMENT_F_SEALED;
    std::memcpy(packed.data(), &header, sizeof(header));
    header.crc32c = segment_checksum(packed);
    std::memcpy(packed.data(), &header, sizeof(header));
    return packed;
}

std::string boot_name(uint64_t boot_id) {
    std::string name;
    for (unsigned i = 0; i < 8; i++)
        name += base::strprintf(i == 4 || i == 6 ? "-%02x" : "%02x",
                                static_cast<unsigned>(boot_id >> (8 * i) & 0xff));
    return name;
}

bool boot_begins_with(uint64_t boot_id, std::string_view text) {
    std::string name = boot_name(boot_id), wanted;
    std::erase(name, '-');
    for (char c : text)
        if (c != '-' && wanted.size() < name.size())
            wanted += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name.starts_with(wanted);
}

} // namespace daybreak::formats
