// SPDX-License-Identifier: Apache-2.0
//
// Segments made again from columns; every number of the payload is untrusted.
//
// Headers come first, then one walk over the kinds gives each record its place, which is checked
// against its segment, then each column is spread over the places of its layout's records.
#include "formats/trace/column_unpack.hpp"

#include "formats/abi/trace.h"
#include "formats/segment/piece.hpp"

#include <cinttypes>
#include <cstring>

namespace daybreak::formats {

namespace {

using base::errorf;

/// The columns of a layout's records, decoded as far as records are placed by them.
struct PlacedLayout {
    const LayoutColumns* columns = nullptr;
    std::vector<TailColumn> tails; ///< of the items that are references, in order
    std::vector<uint64_t> time_steps;
    std::vector<uint32_t> positions; ///< of the records placed so far
};

class Unpacker {
public:
    explicit Unpacker(const ColumnBlock& block)
        : block_(block), controls_(block.controls()), literals_(block.literals()),
          kinds_(block.kinds()) {}

    Result<Bytes> run() {
        for (size_t i = 0; i < headers_.size(); i++)
            DBK_TRY_VOID(block_.header(i, headers_[i]));
        DBK_TRY_VOID(decode_layouts());
        rows_.resize(block_.rows_bytes());
        DBK_TRY_VOID(place_pieces());
        for (const PlacedLayout& layout : layouts_)
            DBK_TRY_VOID(spread(layout));
        seal();
        return std::move(rows_);
    }

private:
    Result<void> decode_layouts();
    Result<void> place_pieces();
    Result<void> place_segment();
    Result<void> place_records(size_t from, size_t to);
    Result<size_t> place_control(size_t at, size_t to);
    Result<size_t> place_record(PlacedLayout& layout, size_t at, size_t to);
    Result<void> spread(const PlacedLayout& layout);
    Result<void> spread_item(const PlacedLayout& layout, size_t item, uint32_t offset);
    void seal();

    const ColumnBlock& block_;
    std::vector<PlacedLayout> layouts_;
    std::array<std::vector<uint64_t>, kHeaderItems.size()> headers_;
    ByteView controls_, literals_; ///< what is left of them
    const ColumnCodes& kinds_;
    Bytes rows_;
    size_t at_ = 0;     ///< in rows_
    size_t record_ = 0; ///< in kinds_
    uint32_t ticks_ = 0;
    std::vector<uint32_t> segments_; ///< positions
    std::vector<uint64_t> values_;
};

void store(std::byte* to, uint64_t value, unsigned width) {
    std::memcpy(to, &value, width);
}

template <typename T>
void spread_as(std::byte* base, std::span<const uint32_t> positions,
               std::span<const uint64_t> values) {
    for (size_t i = 0; i < positions.size(); i++) {
        T value = static_cast<T>(values[i]);
        std::memcpy(base + positions[i], &value, sizeof(T));
    }
}

Result<void> Unpacker::decode_layouts() {
    for (const LayoutColumns& columns : block_.layouts()) {
        PlacedLayout& layout = layouts_.emplace_back();
        layout.columns = &columns;
        DBK_TRY_VOID(ColumnBlock::time_steps(columns, layout.time_steps));
        for (size_t i = 0; i < columns.items.size(); i++)
            if (columns.record.widths[i] == kTailItem)
                DBK_TRY_VOID(ColumnBlock::tails(columns, i, layout.tails.emplace_back()));
        layout.positions.reserve(columns.count);
    }
    return {};
}

Result<void> Unpacker::place_pieces() {
    for (const ColumnRun& run : block_.runs()) {
        if (run.segments > block_.segment_count() - segments_.size() ||
            run.literal_bytes > literals_.size())
            return errorf(ErrorCode::corrupt, "a run of pieces leads past what is there");
        for (uint64_t i = 0; i < run.segments; i++)
            DBK_TRY_VOID(place_segment());
        if (run.literal_bytes > rows_.size() - at_)
            return errorf(ErrorCode::corrupt, "pieces are longer than %zu bytes", rows_.size());
        if (run.literal_bytes != 0)
            std::memcpy(rows_.data() + at_, literals_.data(), run.literal_bytes);
        literals_ = literals_.subspan(run.literal_bytes);
        at_ += run.literal_bytes;
    }
    if (at_ != rows_.size() || !literals_.empty() || !controls_.empty() ||
        record_ != block_.record_count() || segments_.size() != block_.segment_count())
        return errorf(ErrorCode::corrupt, "%zu bytes of pieces, %zu are said", at_, rows_.size());
    return {};
}

Result<void> Unpacker::place_segment() {
    size_t index = segments_.size();
    uint64_t bytes = headers_[kCommittedItem][index];
    if (bytes < DBK_SEGMENT_DATA_OFFSET || bytes % DBK_RECORD_ALIGN_BYTES != 0 ||
        bytes > rows_.size() - at_)
        return errorf(ErrorCode::corrupt, "a segment of %" PRIu64 " bytes, %zu are left", bytes,
                      rows_.size() - at_);
    for (size_t i = 0; i < kHeaderItems.size(); i++)
        store(rows_.data() + at_ + kHeaderItems[i].offset, headers_[i][index],
              kHeaderItems[i].width);
    segments_.push_back(static_cast<uint32_t>(at_));
    DBK_TRY_VOID(place_records(at_ + DBK_SEGMENT_DATA_OFFSET, at_ + bytes));
    at_ += bytes;
    return {};
}

Result<void> Unpacker::place_records(size_t from, size_t to) {
    ticks_ = 0;
    for (size_t at = from; at < to; record_++) {
        if (record_ == block_.record_count())
            return errorf(ErrorCode::corrupt, "records end before their segment");
        uint64_t kind = kinds_.value(record_);
        if (kind == 0) {
            DBK_TRY(at, place_control(at, to));
        } else {
            DBK_TRY(at, place_record(layouts_[kind - 1], at, to));
        }
    }
    return {};
}

Result<size_t> Unpacker::place_control(size_t at, size_t to) {
    dbk_control_header header;
    if (controls_.size() < sizeof(header))
        return errorf(ErrorCode::corrupt, "no control record is left");
    std::memcpy(&header, controls_.data(), sizeof(header));
    if (header.bytes < sizeof(header) || header.bytes % DBK_RECORD_ALIGN_BYTES != 0 ||
        header.bytes > controls_.size() || header.bytes > to - at)
        return errorf(ErrorCode::corrupt, "a control record of %u bytes", header.bytes);
    std::memcpy(rows_.data() + at, controls_.data(), header.bytes);
    controls_ = controls_.subspan(header.bytes);
    return at + header.bytes;
}

Result<size_t> Unpacker::place_record(PlacedLayout& layout, size_t at, size_t to) {
    const RecordLayout& record_layout = layout.columns->record;
    size_t index = layout.positions.size();
    uint64_t length = layout.columns->fixed_bytes;
    for (const TailColumn& tail : layout.tails)
        length += padded_to_8(tail.value(index).size());
    if (length > to - at || length > DBK_RECORD_BYTES_MAX)
        return errorf(ErrorCode::corrupt, "a record of %" PRIu64 " bytes, %zu are left", length,
                      to - at);
    std::byte* record = rows_.data() + at;
    ticks_ += static_cast<uint32_t>(layout.time_steps[index]);
    store(record, record_layout.word, 4);
    store(record + 4, ticks_, 4);
    if (record_layout.variable)
        store(record + 8, length, 4);
    layout.positions.push_back(static_cast<uint32_t>(at));
    uint32_t item_at = record_layout.first_offset(), tail_at = layout.columns->fixed_bytes;
    size_t tail = 0;
    for (size_t i = 0; tail < layout.tails.size(); i++) {
        uint8_t width = record_layout.widths[i];
        if (width == kTailItem) {
            ByteView value = layout.tails[tail++].value(index);
            store(record + item_at, tail_at | value.size() << 16, kTailRefBytes);
            if (!value.empty())
                std::memcpy(record + tail_at, value.data(), value.size());
            tail_at += static_cast<uint32_t>(padded_to_8(value.size()));
        }
        item_at += item_bytes(width);
    }
    return at + length;
}

Result<void> Unpacker::spread_item(const PlacedLayout& layout, size_t item, uint32_t offset) {
    DBK_TRY_VOID(ColumnBlock::integers(*layout.columns, item, values_));
    std::byte* base = rows_.data() + offset;
    uint8_t width = layout.columns->record.widths[item];
    switch (width) {
    case 1:
        spread_as<uint8_t>(base, layout.positions, values_);
        break;
    case 2:
        spread_as<uint16_t>(base, layout.positions, values_);
        break;
    case 4:
        spread_as<uint32_t>(base, layout.positions, values_);
        break;
    case 8:
        spread_as<uint64_t>(base, layout.positions, values_);
        break;
    default:
        for (size_t i = 0; i < layout.positions.size(); i++)
            store(base + layout.positions[i], values_[i], width);
    }
    return {};
}

Result<void> Unpacker::spread(const PlacedLayout& layout) {
    const RecordLayout& record = layout.columns->record;
    uint32_t at = record.first_offset();
    for (size_t i = 0; i < layout.columns->items.size(); i++) {
        if (record.widths[i] != kTailItem)
            DBK_TRY_VOID(spread_item(layout, i, at));
        at += item_bytes(record.widths[i]);
    }
    return {};
}

/// The checksums, which no column has.
void Unpacker::seal() {
    for (size_t i = 0; i < segments_.size(); i++) {
        std::byte* segment = rows_.data() + segments_[i];
        uint32_t crc32c = segment_checksum({segment, headers_[kCommittedItem][i]});
        store(segment + offsetof(dbk_segment_header, crc32c), crc32c, sizeof(crc32c));
    }
}

} // namespace

base::Result<base::Bytes> unpack_columns(base::ByteView untrusted_payload, size_t rows_bytes,
                                         StepsPlace steps) {
    DBK_TRY(ColumnBlock block, ColumnBlock::read(untrusted_payload, rows_bytes, steps));
    return Unpacker(block).run();
}

} // namespace daybreak::formats
