// SPDX-License-Identifier: Apache-2.0
//
// Counting a segment's records when it is written, or read for the first time.
#include "formats/segment/builder_state.hpp"
#include "formats/segment/ecbs.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::formats {

std::optional<SegmentCount> PieceCounter::take(ByteView untrusted_piece) {
    Result<Piece> parsed = parse_piece(untrusted_piece);
    if (!parsed.ok() || parsed->committed_bytes > untrusted_piece.size())
        return std::nullopt;
    ByteView bytes = untrusted_piece.first(parsed->committed_bytes);
    if (parsed->kind == PieceKind::metadata) {
        if (parsed->meta.kind == DBK_META_ECBS) {
            // What contradicts itself is a finding of the builder, which walks every segment then.
            Ring& ring = rings_[parsed->meta.ring_id];
            (void)read_ecbs(bytes, ring.ecbs);
            ring.is_met.resize(ring.ecbs.all().size());
        }
        return std::nullopt;
    }
    if (parsed->kind != PieceKind::segment)
        return std::nullopt;
    auto ring = rings_.find(parsed->segment.ring_id);
    std::optional<SegmentCount> counted;
    if (ring != rings_.end())
        counted = count(bytes, parsed->segment.base_ticks, ring->second);
    has_uncounted_ |= !counted;
    return counted;
}

std::optional<SegmentCount> PieceCounter::count(ByteView bytes, uint64_t base_ticks, Ring& ring) {
    const EcbInfo* first_ecb = ring.ecbs.all().data();
    RecordCursor cursor(bytes, base_ticks, ring.ecbs);
    RecordView record;
    SegmentCount count{0, base_ticks, base_ticks, base_ticks};
    while (cursor.next(record)) {
        if (count.records++ == 0)
            count.first_ticks = record.ticks;
        count.min_ticks = std::min(count.min_ticks, record.ticks);
        count.last_ticks = std::max(count.last_ticks, record.ticks);
        ring.is_met[static_cast<size_t>(record.ecb - first_ecb)] = 1;
    }
    return cursor.damage() ? std::nullopt : std::optional(count);
}

std::vector<uint32_t> PieceCounter::take_epids() {
    std::vector<uint32_t> epids;
    for (auto& [id, ring] : rings_)
        for (size_t i = 0; i < ring.is_met.size(); i++)
            if (std::exchange(ring.is_met[i], 0) != 0)
                epids.push_back(ring.ecbs.all()[i].epid);
    std::sort(epids.begin(), epids.end());
    epids.erase(std::unique(epids.begin(), epids.end()), epids.end());
    if (std::exchange(has_uncounted_, false) || epids.size() > kEpidsMax)
        epids.clear();
    return epids;
}

} // namespace daybreak::formats
