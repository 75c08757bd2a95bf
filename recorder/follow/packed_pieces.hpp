// SPDX-License-Identifier: Apache-2.0
//
// Pieces that lie back to back, as the trace writer has those that it has not written yet.
#pragma once

#include "base/padded.hpp"
#include "formats/segment/piece.hpp"
#include "recorder/follow/series.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::recorder {

/// What a piece takes in a block.
inline size_t packed_bytes(const formats::Piece& piece) {
    return base::padded_to_8(piece.committed_bytes);
}

using PieceKey = std::pair<formats::PieceKind, UnsyncedSegment>;

inline PieceKey key_of(const formats::Piece& piece) {
    const dbk_segment_header& header = piece.segment;
    return {piece.kind, {header.ring_id, header.cpu, header.sequence}};
}

/// Calls each(piece, its bytes) for pieces that lie back to back.
template <typename Each>
void for_each_piece(ByteView pieces, Each each) {
    while (!pieces.empty()) {
        Result<formats::Piece> piece = formats::parse_piece(pieces);
        if (!piece.ok())
            return;
        size_t bytes = std::min(packed_bytes(piece.value()), pieces.size());
        each(piece.value(), pieces.first(bytes));
        pieces = pieces.subspan(bytes);
    }
}

} // namespace daybreak::recorder
