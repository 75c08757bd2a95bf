// SPDX-License-Identifier: Apache-2.0
//
// Finding pieces in pages, putting them together, and cutting those with holes (docs/design/0019-dumps.md).
#include "formats/dump/piece_finder.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::strprintf;

/// Pieces begun inside of one another: more are not rings, but a crafted file.
constexpr size_t kOpenMax = 4;

std::optional<PieceKind> kind_of(ByteView page) {
    uint32_t magic;
    std::memcpy(&magic, page.data(), sizeof(magic));
    return piece_kind(magic);
}

std::string where(uint64_t phys_addr) {
    return strprintf("dump at 0x%" PRIx64, phys_addr);
}

bool is_sealed(const Piece& piece) {
    return piece.kind == PieceKind::segment && (piece.segment.flags & DBK_SEGMENT_F_SEALED) != 0;
}

bool checksum_holds(const DumpPiece& found) {
    return found.bytes.size() == found.piece.committed_bytes &&
           found.piece.segment.crc32c == segment_checksum(found.bytes);
}

/// Blocks that are written round or in place, and begin as zeros: those are what dumps leave out.
bool begins_as_zeros(const Piece& piece) {
    return piece.kind == PieceKind::metadata &&
           (piece.meta.kind == DBK_META_LOG || piece.meta.kind == DBK_META_CRASH ||
            piece.meta.kind == DBK_META_TRIGGERS);
}

/// A piece of one description is whole or of no use; a list loses its end.
bool needs_all(const Piece& piece) {
    return piece.kind == PieceKind::metadata && piece.meta.kind == DBK_META_DOF;
}

} // namespace

bool PieceFinder::wants(uint64_t phys_addr, ByteView first_bytes) {
    if (first_bytes.size() >= sizeof(uint32_t) && kind_of(first_bytes))
        return true;
    return std::any_of(open_.begin(), open_.end(),
                       [&](const Open& open) { return open.next <= phys_addr; });
}

Result<void> PieceFinder::pages(uint64_t phys_addr, ByteView bytes) {
    for (size_t at = 0; at + kDumpPageBytes <= bytes.size(); at += kDumpPageBytes) {
        ByteView now = bytes.subspan(at, kDumpPageBytes);
        if (!open_.empty() || kind_of(now)) [[unlikely]]
            page(phys_addr + at, now);
    }
    return {};
}

void PieceFinder::page(uint64_t phys_addr, ByteView bytes) {
    feed(phys_addr, bytes);
    if (kind_of(bytes))
        begin(phys_addr, bytes);
}

/// Gives a page to the pieces it belongs to; closes those that are complete or passed by.
void PieceFinder::feed(uint64_t phys_addr, ByteView bytes) {
    for (size_t i = 0; i < open_.size();) {
        Open& open = open_[i];
        uint64_t end = open.found.phys_addr + open.found.piece.committed_bytes;
        bool inside = phys_addr >= open.next && phys_addr < end;
        if (inside) {
            if (phys_addr > open.next) {
                if (!open.holed)
                    open.whole_bytes = static_cast<uint32_t>(open.found.bytes.size());
                open.holed = true;
                open.found.missing_bytes += static_cast<uint32_t>(phys_addr - open.next);
                open.found.bytes.resize(static_cast<size_t>(phys_addr - open.found.phys_addr));
            }
            size_t now = static_cast<size_t>(std::min<uint64_t>(bytes.size(), end - phys_addr));
            open.found.bytes.insert(open.found.bytes.end(), bytes.begin(),
                                    bytes.begin() + static_cast<ptrdiff_t>(now));
            open.next = phys_addr + bytes.size();
        }
        if (inside && open.next < end) {
            i++;
            continue;
        }
        Open done = std::move(open);
        open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
        close(std::move(done));
    }
}

void PieceFinder::begin(uint64_t phys_addr, ByteView bytes) {
    Result<Piece> parsed = parse_piece(bytes);
    if (!parsed.ok()) {
        if (parsed.error().code() == ErrorCode::busy)
            counts_.being_opened++;
        else
            findings_.add(FindingKind::bad_header, where(phys_addr), parsed.error().message());
        return;
    }
    if (parsed->phys_addr != phys_addr) {
        counts_.stale_copies++;
        return;
    }
    for (Open& open : open_)
        open.overlapped = true;
    if (open_.size() == kOpenMax) {
        counts_.overlapped++;
        return;
    }
    Open open;
    open.found.piece = *parsed;
    open.found.phys_addr = phys_addr;
    size_t now = std::min<size_t>(bytes.size(), parsed->committed_bytes);
    open.found.bytes.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(now));
    open.next = phys_addr + bytes.size();
    if (now == parsed->committed_bytes)
        close(std::move(open));
    else
        open_.push_back(std::move(open));
}

void PieceFinder::close(Open open) {
    DumpPiece& found = open.found;
    uint32_t committed = found.piece.committed_bytes;
    size_t here = found.bytes.size();
    if (!open.holed)
        open.whole_bytes = static_cast<uint32_t>(here);
    found.missing_bytes += committed - static_cast<uint32_t>(here);
    bool sealed = is_sealed(found.piece);
    if (sealed && found.missing_bytes != 0) { // pages of zeros are what dumps leave out first
        found.bytes.resize(committed);
        if (checksum_holds(found))
            found.missing_bytes = 0;
        else
            found.bytes.resize(here);
    }
    if (begins_as_zeros(found.piece)) {
        found.bytes.resize(committed);
        found.missing_bytes = 0;
    }
    bool proven = sealed && found.missing_bytes == 0 && checksum_holds(found);
    if (open.overlapped && !proven) {
        counts_.overlapped++;
        return;
    }
    if (open.overlapped) { // then what seemed to begin inside of it was its contents
        auto first = found_.upper_bound(found.phys_addr);
        found_.erase(first, found_.lower_bound(found.phys_addr + committed));
        std::erase_if(open_, [&](const Open& other) {
            return other.found.phys_addr > found.phys_addr &&
                   other.found.phys_addr < found.phys_addr + committed;
        });
    }
    if (sealed && found.missing_bytes == 0 && !proven) {
        const dbk_segment_header& header = found.piece.segment;
        findings_.add(FindingKind::bad_checksum, where(found.phys_addr),
                      strprintf("ring %u cpu %u segment %" PRIu64 ": its checksum does not hold",
                                header.ring_id, header.cpu, header.sequence));
        return;
    }
    if (found.missing_bytes != 0)
        cut(open);
    keep(std::move(found));
}

/// Leaves what is before the first hole, as if no more had been committed.
void PieceFinder::cut(Open& open) const {
    DumpPiece& found = open.found;
    Piece& piece = found.piece;
    bool segment = piece.kind != PieceKind::metadata;
    uint32_t kept = open.whole_bytes & ~(DBK_RECORD_ALIGN_BYTES - 1);
    found.missing_bytes = piece.committed_bytes - kept;
    found.unusable =
        needs_all(piece) || kept < (segment ? DBK_SEGMENT_DATA_OFFSET : DBK_META_DATA_OFFSET);
    found.bytes.resize(kept);
    found.bytes.shrink_to_fit(); // holes may have been large
    piece.committed_bytes = kept;
    if (found.unusable)
        return;
    if (segment) {
        piece.segment.committed_bytes = kept;
        piece.segment.flags &= static_cast<uint16_t>(~DBK_SEGMENT_F_SEALED);
        std::memcpy(found.bytes.data(), &piece.segment, sizeof(piece.segment));
    } else {
        piece.meta.committed_bytes = kept;
        std::memcpy(found.bytes.data(), &piece.meta, sizeof(piece.meta));
    }
}

/// Memory may be in a dump twice (the kernel's image is): the fuller copy counts.
void PieceFinder::keep(DumpPiece found) {
    auto [at, is_new] = found_.try_emplace(found.phys_addr);
    if (is_new || at->second.bytes.size() < found.bytes.size())
        at->second = std::move(found);
}

std::vector<DumpPiece> PieceFinder::finish() {
    while (!open_.empty()) {
        Open open = std::move(open_.front());
        open_.erase(open_.begin());
        close(std::move(open));
    }
    std::vector<DumpPiece> pieces;
    pieces.reserve(found_.size());
    for (auto& [phys_addr, found] : found_)
        pieces.push_back(std::move(found));
    found_.clear();
    return pieces;
}

} // namespace daybreak::formats
