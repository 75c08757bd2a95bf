// SPDX-License-Identifier: Apache-2.0
//
// Layouts from ECBs, and as a block carries them.
#include "formats/trace/column_layout.hpp"

#include "formats/trace/column_coding.hpp"

#include <algorithm>

namespace daybreak::formats {

namespace {

using base::ErrorCode;
using base::errorf;

void cover(RecordLayout& layout, uint32_t& at, uint32_t end) {
    while (at < end) {
        uint32_t width = std::min(end - at, kItemBytesMax);
        layout.widths.push_back(static_cast<uint8_t>(width));
        at += width;
    }
}

bool has_sound_size(uint32_t fixed_bytes, bool variable) {
    uint32_t least = variable ? 16 : sizeof(dbk_record_header);
    return fixed_bytes >= least && fixed_bytes <= DBK_RECORD_BYTES_MAX &&
           fixed_bytes % DBK_RECORD_ALIGN_BYTES == 0;
}

} // namespace

uint32_t RecordLayout::fixed_bytes() const {
    uint32_t bytes = first_offset();
    for (uint8_t width : widths)
        bytes += item_bytes(width);
    return bytes;
}

std::optional<RecordLayout> make_layout(uint16_t ring_id, const EcbInfo& ecb) {
    RecordLayout layout{ring_id, ecb.epid, ecb.variable(), {}};
    if (ecb.no_record() || !has_sound_size(ecb.fixed_bytes, layout.variable))
        return std::nullopt;
    std::vector<FieldInfo> sorted = ecb.fields;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.offset < b.offset; });
    uint32_t at = layout.first_offset();
    for (const FieldInfo& field : sorted) {
        bool tail = field.shape != DBK_FIELD_FIXED;
        uint64_t bytes = tail ? kTailRefBytes : field.bytes;
        if (field.offset < at || field.offset + bytes > ecb.fixed_bytes)
            continue;
        cover(layout, at, field.offset);
        if (tail && layout.variable) {
            layout.widths.push_back(kTailItem);
            at += kTailRefBytes;
        }
        cover(layout, at, field.offset + static_cast<uint32_t>(bytes));
    }
    cover(layout, at, ecb.fixed_bytes);
    return layout;
}

void put_layout(const RecordLayout& layout, base::Bytes& out) {
    put_varint(out, layout.ring_id);
    put_varint(out, layout.word);
    put_varint(out, layout.variable ? 1 : 0);
    put_varint(out, layout.widths.size());
    for (uint8_t width : layout.widths)
        out.push_back(static_cast<std::byte>(width));
}

base::Result<RecordLayout> read_layout(base::ByteReader& reader) {
    RecordLayout layout;
    DBK_TRY(uint64_t ring_id, read_varint(reader));
    DBK_TRY(uint64_t word, read_varint(reader));
    DBK_TRY(uint64_t variable, read_varint(reader));
    DBK_TRY(uint64_t items, read_varint(reader));
    if (ring_id > UINT16_MAX || word == 0 || word > UINT32_MAX || variable > 1)
        return errorf(ErrorCode::corrupt, "a layout contradicts itself");
    DBK_TRY(base::ByteView widths, reader.bytes(items));
    if (widths.size() > DBK_RECORD_BYTES_MAX)
        return errorf(ErrorCode::limit, "a layout has %zu items", widths.size());
    layout.ring_id = static_cast<uint16_t>(ring_id);
    layout.word = static_cast<uint32_t>(word);
    layout.variable = variable != 0;
    for (std::byte byte : widths) {
        auto width = static_cast<uint8_t>(byte);
        if (width > kItemBytesMax || (width == kTailItem && !layout.variable))
            return errorf(ErrorCode::corrupt, "a layout has an item of width %u", width);
        layout.widths.push_back(width);
    }
    if (!has_sound_size(layout.fixed_bytes(), layout.variable))
        return errorf(ErrorCode::corrupt, "a layout has a fixed part of %u bytes",
                      layout.fixed_bytes());
    return layout;
}

} // namespace daybreak::formats
