// SPDX-License-Identifier: Apache-2.0
//
// Decoding of a column from untrusted bytes: every length is checked before it is used.
#include "formats/trace/column_coding.hpp"

#include <algorithm>
#include <cinttypes>
#include <utility>

namespace daybreak::formats {

namespace {

using base::ByteReader;
using base::Error;
using base::ErrorCode;
using base::errorf;

constexpr unsigned kPlanesMax = 8;

/// Returns the bytes of all planes.
Result<ByteView> take_planes(ByteReader& reader, size_t count, uint8_t& planes) {
    DBK_TRY(planes, reader.read<uint8_t>());
    if (planes == 0 || planes > kPlanesMax)
        return errorf(ErrorCode::corrupt, "a column has %u planes", planes);
    return reader.bytes(uint64_t{planes} * count);
}

void join_planes(ByteView bytes, uint8_t planes, size_t count, std::vector<uint64_t>& values) {
    values.resize(count);
    const std::byte* from = bytes.data();
    for (size_t i = 0; i < count; i++)
        values[i] = static_cast<uint64_t>(from[i]);
    for (unsigned plane = 1; plane < planes; plane++) {
        from += count;
        for (size_t i = 0; i < count; i++)
            values[i] |= static_cast<uint64_t>(from[i]) << (8 * plane);
    }
}

Result<void> read_planes(ByteReader& reader, size_t count, std::vector<uint64_t>& values) {
    uint8_t planes = 0;
    DBK_TRY(ByteView bytes, take_planes(reader, count, planes));
    join_planes(bytes, planes, count, values);
    return {};
}

Result<void> read_varints(ByteReader& reader, size_t count, std::vector<uint64_t>& values) {
    if (count > reader.remaining())
        return errorf(ErrorCode::truncated, "a column of %zu values has %zu bytes", count,
                      reader.remaining());
    values.resize(count);
    for (uint64_t& value : values) {
        DBK_TRY(value, read_varint(reader));
    }
    return {};
}

Result<void> read_distinct(ByteReader& reader, size_t count, std::vector<uint64_t>& distinct) {
    DBK_TRY(uint64_t entries, read_varint(reader));
    if (entries == 0 || entries > count)
        return errorf(ErrorCode::corrupt, "a dictionary has %" PRIu64 " entries for %zu values",
                      entries, count);
    return read_varints(reader, entries, distinct);
}

Error leads_out(size_t entries) {
    return errorf(ErrorCode::corrupt, "an index leads out of a dictionary of %zu", entries);
}

Result<void> read_dictionary(ByteReader& reader, size_t count, std::vector<uint64_t>& values) {
    std::vector<uint64_t> distinct;
    DBK_TRY_VOID(read_distinct(reader, count, distinct));
    DBK_TRY_VOID(read_planes(reader, count, values));
    for (uint64_t& value : values) {
        if (value >= distinct.size())
            return leads_out(distinct.size());
        value = distinct[value];
    }
    return {};
}

Result<void> read_form(ByteReader& reader, ColumnForm form, size_t count,
                       std::vector<uint64_t>& values) {
    switch (form) {
    case ColumnForm::constant: {
        DBK_TRY(uint64_t value, read_varint(reader));
        values.assign(count, value);
        return {};
    }
    case ColumnForm::varint:
        return read_varints(reader, count, values);
    case ColumnForm::planes:
        return read_planes(reader, count, values);
    case ColumnForm::dictionary:
        return read_dictionary(reader, count, values);
    case ColumnForm::scaled:
        break; // not in a column that is itself part of one
    }
    return errorf(ErrorCode::unsupported, "a column of form %u is not allowed here",
                  static_cast<unsigned>(form));
}

void add_up(std::vector<uint64_t>& values, ColumnDifference how) {
    uint64_t before = 0, step = 0;
    for (uint64_t& value : values) {
        uint64_t difference = (value >> 1 ^ (0 - (value & 1))) + step;
        before += difference;
        value = before;
        if (how == ColumnDifference::twice)
            step = difference;
    }
}

Result<void> check_end(const ByteReader& reader) {
    return reader.remaining() == 0
               ? Result<void>()
               : errorf(ErrorCode::corrupt, "a column has %zu bytes too many", reader.remaining());
}

Result<void> decode_coded(const ColumnView& untrusted, size_t count,
                          std::vector<uint64_t>& values) {
    unsigned form = untrusted.coding & 0xf, difference = untrusted.coding >> 4;
    if (form >= kColumnForms || difference >= kColumnDifferences)
        return errorf(ErrorCode::unsupported, "a column has coding 0x%02x", untrusted.coding);
    ByteReader reader(untrusted.content, "column");
    DBK_TRY_VOID(read_form(reader, static_cast<ColumnForm>(form), count, values));
    DBK_TRY_VOID(check_end(reader));
    if (difference != 0)
        add_up(values, static_cast<ColumnDifference>(difference));
    return {};
}

Result<void> decode_scaled(const ColumnView& untrusted, size_t count,
                           std::vector<uint64_t>& values) {
    ByteReader reader(untrusted.content, "scaled column");
    DBK_TRY(uint64_t unit, read_varint(reader));
    DBK_TRY(ColumnView quotients, read_column(reader));
    DBK_TRY(ColumnView remainders, read_column(reader));
    DBK_TRY_VOID(check_end(reader));
    std::vector<uint64_t> left;
    DBK_TRY_VOID(decode_coded(quotients, count, values));
    DBK_TRY_VOID(decode_coded(remainders, count, left));
    for (size_t i = 0; i < count; i++) {
        if (left[i] >= unit)
            return errorf(ErrorCode::corrupt, "%" PRIu64 " is left of a unit of %" PRIu64, left[i],
                          unit);
        values[i] = values[i] * unit + left[i];
    }
    return {};
}

} // namespace

Result<void> decode_codes(const ColumnView& untrusted, size_t count, ColumnCodes& codes) {
    constexpr uint8_t kConstant = ColumnCoding{ColumnForm::constant, {}}.byte(),
                      kPlanes = ColumnCoding{ColumnForm::planes, {}}.byte(),
                      kDictionary = ColumnCoding{ColumnForm::dictionary, {}}.byte();
    codes = {};
    ByteReader reader(untrusted.content, "column");
    if (untrusted.coding == kConstant) {
        DBK_TRY(codes.same, read_varint(reader));
        DBK_TRY_VOID(check_end(reader));
    } else if (untrusted.coding == kPlanes || untrusted.coding == kDictionary) {
        if (untrusted.coding == kDictionary)
            DBK_TRY_VOID(read_distinct(reader, count, codes.meanings));
        uint8_t planes = 0;
        DBK_TRY(codes.bytes, take_planes(reader, count, planes));
        DBK_TRY_VOID(check_end(reader));
        if (planes > 1)
            join_planes(std::exchange(codes.bytes, {}), planes, count, codes.words);
    } else {
        DBK_TRY_VOID(decode_column(untrusted, count, codes.words));
    }
    uint64_t highest = codes.same;
    codes.visit([&](auto all) {
        auto most = all[0];
        for (auto code : all)
            most = std::max(most, code);
        highest = static_cast<uint64_t>(most);
    });
    codes.below = highest + 1;
    if (!codes.meanings.empty() && highest >= codes.meanings.size())
        return leads_out(codes.meanings.size());
    return {};
}

uint64_t ColumnCodes::highest() const {
    return meanings.empty() ? below - 1 : *std::max_element(meanings.begin(), meanings.end());
}

Result<uint64_t> read_varint(ByteReader& reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        DBK_TRY(uint8_t byte, reader.read<uint8_t>());
        value |= uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80)
            return value;
    }
    return errorf(ErrorCode::corrupt, "a number has more than 10 bytes");
}

Result<ColumnView> read_column(ByteReader& reader) {
    ColumnView column;
    DBK_TRY(column.coding, reader.read<uint8_t>());
    DBK_TRY(uint64_t bytes, read_varint(reader));
    DBK_TRY(column.content, reader.bytes(bytes));
    return column;
}

Result<void> decode_column(const ColumnView& untrusted, size_t count,
                           std::vector<uint64_t>& values) {
    constexpr ColumnCoding kScaled{ColumnForm::scaled, ColumnDifference::none};
    return untrusted.coding == kScaled.byte() ? decode_scaled(untrusted, count, values)
                                              : decode_coded(untrusted, count, values);
}

} // namespace daybreak::formats
