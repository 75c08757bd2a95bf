// SPDX-License-Identifier: Apache-2.0
//
// Segments made again from columns; every number of the payload is untrusted.
//
// Headers come first, then one walk over the kinds gives each record its place, which is checked
// against its segment, then each column is spread over the places of its layout's records.
#include "formats/trace/column_unpack.hpp"

#include "formats/abi/trace.h"
#include "formats/segment/piece.hpp"
#include "formats/trace/column_coding.hpp"
#include "formats/trace/column_layout.hpp"

#include <cinttypes>
#include <cstring>

namespace daybreak::formats {

namespace {

using base::ByteReader;
using base::errorf;

/// A column of strings or stacks: where each value lies.
struct TailColumn {
    ByteView bytes;
    std::vector<uint32_t> offsets; ///< of the entries in bytes, and the end
    std::vector<uint64_t> indexes; ///< empty: value i is entry i

    ByteView value(size_t i) const {
        size_t entry = indexes.empty() ? i : indexes[i];
        return bytes.subspan(offsets[entry], offsets[entry + 1] - offsets[entry]);
    }
};

struct LayoutColumns {
    RecordLayout record;
    uint32_t fixed_bytes = 0;
    size_t count = 0;
    std::vector<ColumnView> fixed; ///< of the items that are integers
    std::vector<TailColumn> tails; ///< of the others
    std::vector<uint64_t> time_steps;
    std::vector<uint32_t> positions; ///< of the records placed so far
};

struct Run {
    uint64_t segments = 0, literal_bytes = 0;
};

class Unpacker {
public:
    Unpacker(ByteView payload, size_t rows_bytes)
        : reader_(payload, "columns"), rows_bytes_(rows_bytes) {}

    Result<Bytes> run() {
        DBK_TRY_VOID(read_head());
        DBK_TRY_VOID(read_headers());
        DBK_TRY_VOID(read_streams());
        DBK_TRY_VOID(read_layout_columns());
        if (reader_.remaining() != 0)
            return errorf(ErrorCode::corrupt, "%zu bytes are after the columns",
                          reader_.remaining());
        rows_.resize(rows_bytes_);
        DBK_TRY_VOID(place_pieces());
        for (const LayoutColumns& layout : layouts_)
            DBK_TRY_VOID(spread(layout));
        seal();
        return std::move(rows_);
    }

private:
    Result<void> read_head();
    Result<void> read_headers();
    Result<void> read_streams();
    Result<void> read_layout_columns();
    Result<void> read_tail(const ColumnView& column, size_t count, TailColumn& tail);
    Result<void> place_pieces();
    Result<void> place_segment();
    Result<void> place_records(size_t from, size_t to);
    Result<size_t> place_control(size_t at, size_t to);
    Result<size_t> place_record(LayoutColumns& layout, size_t at, size_t to);
    Result<void> spread(const LayoutColumns& layout);
    Result<void> spread_item(const ColumnView& column, const LayoutColumns& layout, uint32_t offset,
                             uint8_t width);
    void seal();

    ByteReader reader_;
    const size_t rows_bytes_;
    size_t record_count_ = 0, segment_count_ = 0;
    std::vector<LayoutColumns> layouts_;
    std::vector<Run> runs_;
    std::array<std::vector<uint64_t>, kHeaderItems.size()> headers_;
    std::vector<uint64_t> kinds_;
    ByteView controls_, literals_; ///< what is left of them
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

Result<void> check_width(std::span<const uint64_t> values, unsigned width) {
    uint64_t all = 0;
    for (uint64_t value : values)
        all |= value;
    if (width < 8 && all >> (8 * width) != 0)
        return errorf(ErrorCode::corrupt, "a value is wider than its %u bytes", width);
    return {};
}

Result<void> Unpacker::read_head() {
    DBK_TRY(uint64_t records, read_varint(reader_));
    DBK_TRY(uint64_t segments, read_varint(reader_));
    DBK_TRY(uint64_t layouts, read_varint(reader_));
    if (records > rows_bytes_ / DBK_RECORD_ALIGN_BYTES ||
        segments > rows_bytes_ / DBK_SEGMENT_DATA_OFFSET || layouts > kColumnItemsMax)
        return errorf(ErrorCode::limit,
                      "%" PRIu64 " records, %" PRIu64 " segments, %" PRIu64
                      " layouts are more than %zu bytes have",
                      records, segments, layouts, rows_bytes_);
    record_count_ = records;
    segment_count_ = segments;
    size_t items = kHeaderItems.size();
    for (uint64_t i = 0; i < layouts; i++) {
        LayoutColumns& layout = layouts_.emplace_back();
        DBK_TRY(layout.record, read_layout(reader_));
        layout.fixed_bytes = layout.record.fixed_bytes();
        items += layout.record.widths.size() + 1;
        if (items > kColumnItemsMax)
            return errorf(ErrorCode::limit, "more than %zu columns", kColumnItemsMax);
    }
    DBK_TRY(uint64_t runs, read_varint(reader_));
    if (runs > rows_bytes_ / DBK_RECORD_ALIGN_BYTES || runs > reader_.remaining() / 2)
        return errorf(ErrorCode::limit, "%" PRIu64 " runs of pieces", runs);
    runs_.resize(runs);
    for (Run& run : runs_) {
        DBK_TRY(run.segments, read_varint(reader_));
        DBK_TRY(run.literal_bytes, read_varint(reader_));
    }
    return {};
}

Result<void> Unpacker::read_headers() {
    if (segment_count_ == 0)
        return {};
    for (size_t i = 0; i < kHeaderItems.size(); i++) {
        DBK_TRY(ColumnView column, read_column(reader_));
        DBK_TRY_VOID(decode_column(column, segment_count_, headers_[i]));
        DBK_TRY_VOID(check_width(headers_[i], kHeaderItems[i].width));
    }
    return {};
}

Result<void> Unpacker::read_streams() {
    if (record_count_ != 0) {
        DBK_TRY(ColumnView column, read_column(reader_));
        DBK_TRY_VOID(decode_column(column, record_count_, kinds_));
    }
    for (uint64_t kind : kinds_) {
        if (kind > layouts_.size())
            return errorf(ErrorCode::corrupt, "a record of layout %" PRIu64 " of %zu", kind,
                          layouts_.size());
        if (kind != 0)
            layouts_[kind - 1].count++;
    }
    uint64_t least = 0; // of all records; before any column of them takes memory
    for (const LayoutColumns& layout : layouts_)
        least += uint64_t{layout.fixed_bytes} * layout.count;
    if (least > rows_bytes_)
        return errorf(ErrorCode::limit, "records of %" PRIu64 " bytes, %zu are there", least,
                      rows_bytes_);
    for (ByteView* stream : {&controls_, &literals_}) {
        DBK_TRY(ColumnView column, read_column(reader_));
        *stream = column.content;
    }
    return {};
}

Result<void> Unpacker::read_tail(const ColumnView& column, size_t count, TailColumn& tail) {
    if (column.coding > 1)
        return errorf(ErrorCode::unsupported, "a column of strings has coding %u", column.coding);
    bool dictionary = column.coding == 1;
    ByteReader reader(column.content, "column of strings");
    DBK_TRY(uint64_t entries, read_varint(reader));
    if (dictionary ? entries > count || entries == 0 : entries != count)
        return errorf(ErrorCode::corrupt, "%" PRIu64 " strings for %zu records", entries, count);
    DBK_TRY(ColumnView lengths, read_column(reader));
    DBK_TRY_VOID(decode_column(lengths, entries, values_));
    DBK_TRY_VOID(check_width(values_, sizeof(uint16_t)));
    if (dictionary) {
        DBK_TRY(ColumnView indexes, read_column(reader));
        DBK_TRY_VOID(decode_column(indexes, count, tail.indexes));
    }
    for (uint64_t index : tail.indexes)
        if (index >= entries)
            return errorf(ErrorCode::corrupt, "string %" PRIu64 " of %" PRIu64, index, entries);
    uint64_t bytes = 0;
    tail.offsets.reserve(entries + 1);
    for (uint64_t length : values_) {
        tail.offsets.push_back(static_cast<uint32_t>(bytes));
        bytes += length;
        if (bytes > reader.remaining())
            break;
    }
    if (bytes != reader.remaining())
        return errorf(ErrorCode::corrupt, "strings of %" PRIu64 " bytes in %zu", bytes,
                      reader.remaining());
    tail.offsets.push_back(static_cast<uint32_t>(bytes));
    DBK_TRY(tail.bytes, reader.bytes(reader.remaining()));
    return {};
}

Result<void> Unpacker::read_layout_columns() {
    for (LayoutColumns& layout : layouts_) {
        if (layout.count == 0)
            continue;
        DBK_TRY(ColumnView steps, read_column(reader_));
        DBK_TRY_VOID(decode_column(steps, layout.count, layout.time_steps));
        for (uint8_t width : layout.record.widths) {
            DBK_TRY(ColumnView column, read_column(reader_));
            if (width == kTailItem)
                DBK_TRY_VOID(read_tail(column, layout.count, layout.tails.emplace_back()));
            else
                layout.fixed.push_back(column);
        }
        layout.positions.reserve(layout.count);
    }
    return {};
}

Result<void> Unpacker::place_pieces() {
    for (const Run& run : runs_) {
        if (run.segments > segment_count_ - segments_.size() ||
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
        record_ != kinds_.size() || segments_.size() != segment_count_)
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
        if (record_ == kinds_.size())
            return errorf(ErrorCode::corrupt, "records end before their segment");
        uint64_t kind = kinds_[record_];
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

Result<size_t> Unpacker::place_record(LayoutColumns& layout, size_t at, size_t to) {
    size_t index = layout.positions.size();
    uint64_t length = layout.fixed_bytes;
    for (const TailColumn& tail : layout.tails)
        length += padded_to_8(tail.value(index).size());
    if (length > to - at || length > DBK_RECORD_BYTES_MAX)
        return errorf(ErrorCode::corrupt, "a record of %" PRIu64 " bytes, %zu are left", length,
                      to - at);
    std::byte* record = rows_.data() + at;
    ticks_ += static_cast<uint32_t>(layout.time_steps[index]);
    store(record, layout.record.word, 4);
    store(record + 4, ticks_, 4);
    if (layout.record.variable)
        store(record + 8, length, 4);
    layout.positions.push_back(static_cast<uint32_t>(at));
    uint32_t item_at = layout.record.first_offset(), tail_at = layout.fixed_bytes;
    size_t tail = 0;
    for (size_t i = 0; tail < layout.tails.size(); i++) {
        uint8_t width = layout.record.widths[i];
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

Result<void> Unpacker::spread_item(const ColumnView& column, const LayoutColumns& layout,
                                   uint32_t offset, uint8_t width) {
    DBK_TRY_VOID(decode_column(column, layout.count, values_));
    DBK_TRY_VOID(check_width(values_, width));
    std::byte* base = rows_.data() + offset;
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

Result<void> Unpacker::spread(const LayoutColumns& layout) {
    uint32_t at = layout.record.first_offset();
    size_t column = 0;
    if (layout.count == 0)
        return {};
    for (uint8_t width : layout.record.widths) {
        if (width != kTailItem)
            DBK_TRY_VOID(spread_item(layout.fixed[column++], layout, at, width));
        at += item_bytes(width);
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

base::Result<base::Bytes> unpack_columns(base::ByteView untrusted_payload, size_t rows_bytes) {
    if (rows_bytes > DBK_TRACE_ROWS_BYTES_MAX || untrusted_payload.size() >= rows_bytes)
        return errorf(ErrorCode::limit, "columns of %zu bytes for pieces of %zu, %u are the most",
                      untrusted_payload.size(), rows_bytes, DBK_TRACE_ROWS_BYTES_MAX);
    return Unpacker(untrusted_payload, rows_bytes).run();
}

} // namespace daybreak::formats
