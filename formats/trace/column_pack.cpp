// SPDX-License-Identifier: Apache-2.0
//
// Dividing segments: the layouts that are known, and the walk over pieces and records.
#include "formats/trace/column_pack.hpp"

#include "formats/abi/trace.h"
#include "formats/segment/ecbs.hpp"
#include "formats/segment/piece.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::formats {

using base::load;

namespace {
constexpr unsigned kFiringShift = 30; // of the bits of an EPID's word that say its firing
constexpr uint32_t kFirings = 4;
static_assert(DBK_EPID_MAX == (1U << kFiringShift) - 1);
} // namespace

void ColumnPacker::learn(ByteView untrusted_piece) {
    Result<Piece> piece = parse_piece(untrusted_piece);
    if (!piece.ok() || piece->kind != PieceKind::metadata || piece->meta.kind != DBK_META_ECBS ||
        piece->committed_bytes > untrusted_piece.size())
        return;
    EcbTable ecbs; // what contradicts itself is not in it: its records stay in rows
    (void)read_ecbs(untrusted_piece.first(piece->committed_bytes), ecbs);
    for (const EcbInfo& ecb : ecbs.all())
        learn_ecb(piece->meta.ring_id, ecb);
}

void ColumnPacker::learn_ecb(uint16_t ring_id, const EcbInfo& ecb) {
    std::optional<RecordLayout> record = make_layout(ring_id, ecb);
    if (!record)
        return;
    Ring& ring = rings_[ring_id];
    Layout* layout = find(ring, ecb.epid);
    if (layout && layout->record == *record)
        return;
    if (!layout) {
        ring.index.add(ecb.epid, layouts_.size());
        layouts_.resize(layouts_.size() + kFirings);
    }
    size_t first = *ring.index.find(ecb.epid);
    for (uint32_t firing = 0; firing < kFirings; firing++)
        layouts_[first + firing] = Layout(*record, firing);
}

ColumnPacker::Layout::Layout(const RecordLayout& of_epid, uint32_t firing) : record(of_epid) {
    record.word |= firing << kFiringShift;
    fixed_bytes = record.fixed_bytes();
    uint32_t at = record.first_offset();
    for (uint8_t width : record.widths) {
        if (width == kTailItem)
            tail_offsets.push_back(at);
        at += item_bytes(width);
    }
    items.resize(record.widths.size());
}

/// By the word that a record begins with.
ColumnPacker::Layout* ColumnPacker::find(const Ring& ring, uint32_t word) {
    std::optional<size_t> at = ring.index.find(word & DBK_EPID_MAX);
    return at ? &layouts_[*at + (word >> kFiringShift)] : nullptr;
}

void ColumnPacker::begin() {
    for (Layout* layout : used_) {
        layout->kind = 0;
        layout->positions.clear();
        layout->time_steps.clear();
    }
    used_.clear();
    runs_.clear();
    kinds_.clear();
    segments_.clear();
    controls_.clear();
    literals_.clear();
}

void ColumnPacker::take_literal(ByteView bytes) {
    if (runs_.empty())
        runs_.emplace_back();
    runs_.back().literal_bytes += bytes.size();
    literals_.insert(literals_.end(), bytes.begin(), bytes.end());
}

bool ColumnPacker::take_control(ByteView left) {
    auto header = load<dbk_control_header>(left.data());
    if (header.bytes < sizeof(header) || header.bytes % DBK_RECORD_ALIGN_BYTES != 0 ||
        header.bytes > left.size())
        return false;
    controls_.insert(controls_.end(), left.begin(), left.begin() + header.bytes);
    kinds_.push_back(0);
    return true;
}

/// Whether the tail is as close_tail() of the engine makes it, so that lengths alone give it.
bool ColumnPacker::is_canonical(const Layout& layout, const std::byte* record,
                                uint32_t length) const {
    uint32_t at = layout.fixed_bytes;
    for (uint32_t offset : layout.tail_offsets) {
        auto ref = load<dbk_tail_ref>(record + offset);
        uint32_t end = at + static_cast<uint32_t>(padded_to_8(ref.bytes));
        if (ref.offset != at || end > length)
            return false;
        unsigned used = ref.bytes % 8;
        if (used != 0 && load<uint64_t>(record + end - 8) >> (8 * used) != 0)
            return false;
        at = end;
    }
    return at == length;
}

bool ColumnPacker::walk(ByteView rows, size_t from, size_t to, const Ring& ring) {
    uint32_t before = 0;
    for (size_t at = from; at < to;) {
        const std::byte* record = rows.data() + at;
        size_t left = to - at;
        auto header = load<dbk_record_header>(record);
        if (header.epid == 0) {
            if (!take_control(rows.subspan(at, left)))
                return false;
            at += load<dbk_control_header>(record).bytes;
            continue;
        }
        Layout* layout = find(ring, header.epid);
        if (!layout || layout->fixed_bytes > left)
            return false;
        uint32_t length = layout->fixed_bytes;
        if (layout->record.variable) {
            length = load<uint32_t>(record + sizeof(header));
            if (length > left || length < layout->fixed_bytes ||
                !is_canonical(*layout, record, length))
                return false;
        }
        if (layout->kind == 0) {
            used_.push_back(layout);
            layout->kind = static_cast<uint32_t>(used_.size());
        }
        kinds_.push_back(layout->kind);
        layout->positions.push_back(static_cast<uint32_t>(at));
        layout->time_steps.push_back(header.delta_ticks - before);
        before = header.delta_ticks;
        at += length;
    }
    return true;
}

/// Takes back what the walk of a segment from `from` on had added.
void ColumnPacker::undo(size_t from, size_t kinds, size_t controls) {
    kinds_.resize(kinds);
    controls_.resize(controls);
    for (Layout* layout : used_)
        while (!layout->positions.empty() && layout->positions.back() >= from) {
            layout->positions.pop_back();
            layout->time_steps.pop_back();
        }
}

bool ColumnPacker::take_segment(ByteView rows, size_t at, size_t bytes) {
    ByteView segment = rows.subspan(at, bytes);
    auto header = load<dbk_segment_header>(segment.data());
    auto ring = rings_.find(header.ring_id);
    if (ring == rings_.end() || header.crc32c != segment_checksum(segment))
        return false;
    size_t kinds = kinds_.size(), controls = controls_.size();
    if (!walk(rows, at + DBK_SEGMENT_DATA_OFFSET, at + bytes, ring->second)) {
        undo(at, kinds, controls);
        return false;
    }
    segments_.push_back(static_cast<uint32_t>(at));
    if (runs_.empty() || runs_.back().literal_bytes != 0)
        runs_.emplace_back();
    runs_.back().segments++;
    return true;
}

std::optional<size_t> ColumnPacker::pack(ByteView rows, Bytes& payload) {
    begin();
    if (rows.size() > DBK_TRACE_ROWS_BYTES_MAX)
        return std::nullopt;
    for (size_t at = 0; at < rows.size();) {
        ByteView rest = rows.subspan(at);
        Result<Piece> piece = parse_piece(rest);
        size_t bytes = piece.ok() ? piece->committed_bytes : rest.size();
        if (bytes > rest.size())
            bytes = rest.size();
        bool whole = piece.ok() && piece->committed_bytes == bytes;
        size_t next = std::min(padded_to_8(bytes), rest.size());
        if (!whole || piece->kind != PieceKind::segment || !take_segment(rows, at, bytes))
            take_literal(rest.first(next));
        at += next;
    }
    size_t items = kHeaderItems.size();
    for (const Layout* layout : used_)
        items += layout->items.size() + 1;
    if (segments_.empty() || items > kColumnItemsMax)
        return std::nullopt;
    payload.clear();
    put_head(payload);
    put_headers(rows, payload);
    if (!kinds_.empty())
        encoder_.put(kinds_, kinds_memory_, payload);
    put_raw_column(controls_, payload);
    put_raw_column(literals_, payload);
    for (Layout* layout : used_)
        put_items(rows, *layout, payload);
    size_t steps_offset = payload.size();
    for (Layout* layout : used_)
        if (!layout->time_steps.empty())
            encoder_.put(layout->time_steps, layout->steps, payload);
    return payload.size() < rows.size() ? std::optional(steps_offset) : std::nullopt;
}

} // namespace daybreak::formats
