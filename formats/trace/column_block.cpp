// SPDX-License-Identifier: Apache-2.0
//
// Where the columns of a payload lie, and decoding one of them.
#include "formats/trace/column_block.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::ByteReader;
using base::errorf;
using base::ErrorCode;

Result<void> check_width(std::span<const uint64_t> values, unsigned width) {
    uint64_t all = 0;
    for (uint64_t value : values)
        all |= value;
    if (width < 8 && all >> (8 * width) != 0)
        return errorf(ErrorCode::corrupt, "a value is wider than its %u bytes", width);
    return {};
}

} // namespace

void count_codes(const ColumnCodes& codes, size_t count, std::span<uint64_t> counts) {
    constexpr size_t kTables = 4, kSmall = 256, kMany = 1024;
    if (codes.is_same())
        counts[codes.same] += count;
    codes.visit([&](auto all) {
        size_t i = 0;
        if (counts.size() <= kSmall && count >= kMany) {
            // Equal codes often follow each other: in one table each addition waits for the last.
            std::array<std::array<uint64_t, kSmall>, kTables> tables{};
            for (; i + kTables <= count; i += kTables)
                for (size_t table = 0; table < kTables; table++)
                    tables[table][static_cast<size_t>(all[i + table])]++;
            for (const auto& table : tables)
                for (size_t code = 0; code < counts.size(); code++)
                    counts[code] += table[code];
        }
        for (; i < count; i++)
            counts[static_cast<size_t>(all[i])]++;
    });
}

Result<ColumnBlock> ColumnBlock::read(ByteView untrusted_payload, size_t rows_bytes,
                                      StepsPlace steps) {
    if (rows_bytes > DBK_TRACE_ROWS_BYTES_MAX || untrusted_payload.size() >= rows_bytes)
        return errorf(ErrorCode::limit, "columns of %zu bytes for pieces of %zu, %u are the most",
                      untrusted_payload.size(), rows_bytes, DBK_TRACE_ROWS_BYTES_MAX);
    ColumnBlock block(untrusted_payload, rows_bytes, steps);
    DBK_TRY_VOID(block.read_all());
    return block;
}

Result<void> ColumnBlock::read_all() {
    DBK_TRY_VOID(read_head());
    if (segment_count_ != 0)
        for (ColumnView& column : headers_) {
            DBK_TRY(column, read_column(reader_));
        }
    DBK_TRY_VOID(read_streams());
    DBK_TRY_VOID(read_layout_columns());
    if (reader_.remaining() != 0)
        return errorf(ErrorCode::corrupt, "%zu bytes are after the columns", reader_.remaining());
    return {};
}

Result<void> ColumnBlock::read_head() {
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
    for (ColumnRun& run : runs_) {
        DBK_TRY(run.segments, read_varint(reader_));
        DBK_TRY(run.literal_bytes, read_varint(reader_));
    }
    return {};
}

Result<void> ColumnBlock::read_streams() {
    if (record_count_ != 0) {
        DBK_TRY(ColumnView column, read_column(reader_));
        DBK_TRY_VOID(decode_codes(column, record_count_, kinds_));
    }
    if (kinds_.highest() > layouts_.size())
        return errorf(ErrorCode::corrupt, "a record of layout %" PRIu64 " of %zu",
                      kinds_.highest(), layouts_.size());
    std::vector<uint64_t> by_code(kinds_.below), counts(layouts_.size() + 1);
    count_codes(kinds_, record_count_, by_code);
    for (size_t code = 0; code < by_code.size(); code++)
        counts[kinds_.meanings.empty() ? code : kinds_.meanings[code]] += by_code[code];
    uint64_t least = 0; // of all records; before any column of them takes memory
    for (size_t i = 0; i < layouts_.size(); i++) {
        layouts_[i].count = counts[i + 1];
        least += uint64_t{layouts_[i].fixed_bytes} * layouts_[i].count;
    }
    if (least > rows_bytes_)
        return errorf(ErrorCode::limit, "records of %" PRIu64 " bytes, %zu are there", least,
                      rows_bytes_);
    for (ByteView* stream : {&controls_, &literals_}) {
        DBK_TRY(ColumnView column, read_column(reader_));
        *stream = column.content;
    }
    return {};
}

Result<void> ColumnBlock::read_layout_columns() {
    for (LayoutColumns& layout : layouts_) {
        if (layout.count == 0)
            continue;
        if (steps_ == StepsPlace::with_items) {
            DBK_TRY(layout.time_steps, read_column(reader_));
        }
        for (size_t i = 0; i < layout.record.widths.size(); i++) {
            DBK_TRY(ColumnView column, read_column(reader_));
            layout.items.push_back(column);
        }
    }
    if (steps_ == StepsPlace::last)
        for (LayoutColumns& layout : layouts_)
            if (layout.count != 0) {
                DBK_TRY(layout.time_steps, read_column(reader_));
            }
    return {};
}

Result<void> ColumnBlock::header(size_t item, std::vector<uint64_t>& values) const {
    values.clear();
    if (segment_count_ == 0)
        return {};
    DBK_TRY_VOID(decode_column(headers_[item], segment_count_, values));
    return check_width(values, kHeaderItems[item].width);
}

Result<void> ColumnBlock::time_steps(const LayoutColumns& layout, std::vector<uint64_t>& values) {
    values.clear();
    if (layout.count == 0)
        return {};
    DBK_ASSERT(layout.time_steps);
    return decode_column(*layout.time_steps, layout.count, values);
}

Result<void> ColumnBlock::integers(const LayoutColumns& layout, size_t item,
                                   std::vector<uint64_t>& values) {
    DBK_TRY_VOID(decode_column(layout.items[item], layout.count, values));
    return check_width(values, layout.record.widths[item]);
}

Result<void> ColumnBlock::integer_codes(const LayoutColumns& layout, size_t item,
                                        ColumnCodes& codes) {
    DBK_TRY_VOID(decode_codes(layout.items[item], layout.count, codes));
    uint64_t highest = codes.highest();
    return check_width(std::span(&highest, 1), layout.record.widths[item]);
}

Result<void> ColumnBlock::tails(const LayoutColumns& layout, size_t item, TailColumn& tail) {
    const ColumnView& column = layout.items[item];
    size_t count = layout.count;
    if (column.coding > 1)
        return errorf(ErrorCode::unsupported, "a column of strings has coding %u", column.coding);
    bool dictionary = column.coding == 1;
    ByteReader reader(column.content, "column of strings");
    DBK_TRY(uint64_t entries, read_varint(reader));
    if (dictionary ? entries > count || entries == 0 : entries != count)
        return errorf(ErrorCode::corrupt, "%" PRIu64 " strings for %zu records", entries, count);
    std::vector<uint64_t> lengths;
    DBK_TRY(ColumnView lengths_column, read_column(reader));
    DBK_TRY_VOID(decode_column(lengths_column, entries, lengths));
    DBK_TRY_VOID(check_width(lengths, sizeof(uint16_t)));
    tail.is_dictionary = dictionary;
    if (dictionary) {
        DBK_TRY(ColumnView indexes, read_column(reader));
        DBK_TRY_VOID(decode_codes(indexes, count, tail.indexes));
        if (tail.indexes.highest() >= entries)
            return errorf(ErrorCode::corrupt, "string %" PRIu64 " of %" PRIu64,
                          tail.indexes.highest(), entries);
    }
    uint64_t bytes = 0;
    tail.offsets.clear();
    tail.offsets.reserve(entries + 1);
    for (uint64_t length : lengths) {
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

} // namespace daybreak::formats
