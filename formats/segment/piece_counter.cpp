// SPDX-License-Identifier: Apache-2.0
//
// Counting a segment's records when it is written, or read for the first time.
#include "formats/segment/builder_state.hpp"
#include "formats/segment/ecbs.hpp"

#include <algorithm>

namespace daybreak::formats {

std::optional<SegmentCount> PieceCounter::take(ByteView untrusted_piece) {
    Result<Piece> parsed = parse_piece(untrusted_piece);
    if (!parsed.ok() || parsed->committed_bytes > untrusted_piece.size())
        return std::nullopt;
    ByteView bytes = untrusted_piece.first(parsed->committed_bytes);
    if (parsed->kind == PieceKind::metadata) {
        if (parsed->meta.kind == DBK_META_ECBS)
            // What contradicts itself is a finding of the builder, which walks every segment then.
            (void)read_ecbs(bytes, rings_[parsed->meta.ring_id]);
        return std::nullopt;
    }
    auto ring = rings_.find(parsed->segment.ring_id);
    if (parsed->kind != PieceKind::segment || ring == rings_.end())
        return std::nullopt;
    uint64_t base_ticks = parsed->segment.base_ticks;
    RecordCursor cursor(bytes, base_ticks, ring->second);
    RecordView record;
    SegmentCount count{0, base_ticks, base_ticks, base_ticks};
    while (cursor.next(record)) {
        if (count.records++ == 0)
            count.first_ticks = record.ticks;
        count.min_ticks = std::min(count.min_ticks, record.ticks);
        count.last_ticks = std::max(count.last_ticks, record.ticks);
    }
    return cursor.damage() ? std::nullopt : std::optional(count);
}

} // namespace daybreak::formats
