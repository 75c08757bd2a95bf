// SPDX-License-Identifier: Apache-2.0
//
// Columns: what was packed unpacks to the same bytes, and what was not is refused.
#include "formats/abi/trace.h"
#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/column_block.hpp"
#include "formats/trace/column_pack.hpp"
#include "formats/trace/column_unpack.hpp"
#include "tests/support/spec_example.hpp"
#include "tests/unit/formats/trace/sample_rows.hpp"
#include "tests/unit/formats/trace/version_2.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

Result<Bytes> unpacked(ByteView payload, size_t rows_bytes) {
    return unpack_columns(payload, rows_bytes, StepsPlace::last);
}

void learn_all(ColumnPacker& packer, ByteView rows) {
    while (!rows.empty()) {
        Result<Piece> piece = parse_piece(rows);
        if (!piece.ok())
            return;
        packer.learn(rows);
        rows = rows.subspan(std::min(padded_to_8(piece->committed_bytes), rows.size()));
    }
}

/// Offsets of the segments in rows.
std::vector<size_t> segments_in(ByteView rows) {
    std::vector<size_t> offsets;
    for (size_t at = 0; at < rows.size();) {
        Piece piece = parse_piece(rows.subspan(at)).value();
        if (piece.kind == PieceKind::segment)
            offsets.push_back(at);
        at += padded_to_8(piece.committed_bytes);
    }
    return offsets;
}

void reseal(Bytes& rows, size_t at) {
    Result<Piece> piece = parse_piece(ByteView(rows).subspan(at));
    if (!piece.ok() || piece->committed_bytes > rows.size() - at)
        return;
    uint32_t crc32c = segment_checksum(ByteView(rows).subspan(at, piece->committed_bytes));
    std::memcpy(rows.data() + at + offsetof(dbk_segment_header, crc32c), &crc32c, sizeof(crc32c));
}

/// Packs and unpacks; true when it was divided.
bool same_again(ColumnPacker& packer, ByteView rows) {
    Bytes payload;
    if (!packer.pack(rows, payload))
        return false;
    Result<Bytes> back = unpacked(payload, rows.size());
    INFO((back.ok() ? std::string() : back.error().message()));
    REQUIRE(back.ok());
    REQUIRE(back->size() == rows.size());
    REQUIRE(std::equal(rows.begin(), rows.end(), back->begin()));
    return true;
}

struct PackedRows {
    Bytes rows, payload;
    size_t steps_offset = 0;
};

PackedRows packed_rows(uint64_t seed) {
    std::mt19937_64 random(seed);
    test::RingBuilder ring = test::random_ring(random, 2000, 64);
    PackedRows packed;
    packed.rows = test::rows_of(ring);
    ColumnPacker packer;
    learn_all(packer, packed.rows);
    packed.steps_offset = packer.pack(packed.rows, packed.payload).value();
    return packed;
}

} // namespace

TEST_CASE("blocks of version 2 are still read", "[trace][columns]") {
    auto [rows, payload, steps_offset] = packed_rows(11);
    Bytes old = test::with_steps_before_items(payload, rows.size());
    REQUIRE(old != payload);
    CHECK(unpack_columns(old, rows.size(), StepsPlace::with_items).value() == rows);
    CHECK_FALSE(unpack_columns(payload, rows.size(), StepsPlace::with_items).ok());

    Bytes block = test::version_2_block(0, payload, static_cast<uint32_t>(rows.size()));
    auto header = base::load<dbk_trace_block>(block.data());
    BlockView view{header, 0, ByteView(block).subspan(sizeof(header), header.stored_bytes)};
    CHECK(unpack_block(view).value() == rows);
}

TEST_CASE("the first frame has all columns but the steps", "[trace][columns]") {
    auto [rows, payload, steps_offset] = packed_rows(12);
    BlockMaker maker;
    auto rows_bytes = static_cast<uint32_t>(rows.size());
    ByteView made = maker.make_columns(7, payload, steps_offset, rows_bytes, 3);
    BlockView block{base::load<dbk_trace_block>(made.data()), 0, {}};
    block.stored = made.subspan(sizeof(block.header), block.header.stored_bytes);
    PayloadUnpacker unpacker;
    Bytes first;
    REQUIRE(unpacker.unpack(block, PayloadPart::without_steps, first).ok());
    CHECK(ByteView(first).size() == steps_offset);
    CHECK(unpack_block(block).value() == rows);
    ColumnBlock some = ColumnBlock::read(first, rows_bytes, StepsPlace::left_out).value();
    ColumnBlock all = ColumnBlock::read(payload, rows_bytes, StepsPlace::last).value();
    REQUIRE(some.layouts().size() == all.layouts().size());
    for (size_t i = 0; i < all.layouts().size(); i++) {
        const LayoutColumns &one = some.layouts()[i], &other = all.layouts()[i];
        CHECK(one.count == other.count);
        CHECK(one.time_steps.has_value() == false);
        CHECK(other.time_steps.has_value() == (other.count != 0));
        REQUIRE(one.items.size() == other.items.size());
        for (size_t item = 0; item < one.items.size(); item++)
            CHECK(std::ranges::equal(one.items[item].content, other.items[item].content));
    }

    // Sizes that do not add up: the whole block is lost, whichever part is wanted.
    auto why = [&](BlockView changed, PayloadPart part) {
        Bytes out;
        return unpacker.unpack(changed, part, out).error().message();
    };
    for (PayloadPart part : {PayloadPart::whole, PayloadPart::without_steps}) {
        BlockView changed = block;
        changed.header.raw_bytes++;
        CHECK(why(changed, part).starts_with("it says to unpack to"));
        changed.header.raw_bytes -= 2;
        CHECK(why(changed, part).starts_with("it does not unpack to"));
        changed = block;
        changed.stored = block.stored.first(block.stored.size() - 1);
        CHECK(why(changed, part).starts_with("it does not unpack to"));
        Bytes longer(block.stored.begin(), block.stored.end());
        longer.push_back({});
        changed.stored = longer;
        CHECK(why(changed, part) == "1 byte is left over after what unpacks");
        Bytes skippable{std::byte{0x50}, std::byte{0x2a}, std::byte{0x4d}, std::byte{0x18}};
        skippable.resize(8); // of no bytes; zstd passes over it
        skippable.insert(skippable.end(), block.stored.begin(), block.stored.end());
        changed.stored = skippable;
        CHECK(why(changed, part) == "no zstd frame is where one should be");
    }
}

TEST_CASE("random segments come back bit for bit", "[trace][columns]") {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        test::RingBuilder ring = test::random_ring(random, random() % 3000, 64);
        Bytes rows = test::rows_of(ring);
        ColumnPacker packer;
        learn_all(packer, rows);
        for (int block = 0; block < 3; block++) // the second by the choices of the first
            CHECK(same_again(packer, rows) == !segments_in(rows).empty());
    }
}

TEST_CASE("records that go on a firing are columns as well", "[trace][columns]") {
    for (uint32_t mark : {0u, DBK_RECORD_F_SAME_FIRING}) {
        test::RingBuilder ring({.segments_per_cpu = 64});
        uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                     {test::RingBuilder::integer_field(8, 8)}, 16);
        for (uint64_t i = 0; i < 4000; i++)
            ring.record(0, epid | (i % 2 ? mark : 0), 1000 + 10 * i, test::RingBuilder::words({i}));
        Bytes rows = test::rows_of(ring), payload;
        ColumnPacker packer;
        learn_all(packer, rows);
        CHECK(packer.pack(rows, payload));
        CHECK(payload.size() < rows.size() / 2);
    }
}

TEST_CASE("segments that are not as the engine writes them come back bit for bit",
          "[trace][columns]") {
    std::mt19937_64 random(7);
    test::RingBuilder ring = test::random_ring(random, 600, 64);
    const Bytes good = test::rows_of(ring);
    std::vector<size_t> segments = segments_in(good);
    ColumnPacker packer;
    learn_all(packer, good);
    for (int i = 0; i < 2000; i++) {
        Bytes rows = good;
        size_t segment = segments[random() % segments.size()];
        for (uint64_t changes = 1 + random() % 4; changes > 0; changes--)
            rows[std::min(segment + random() % 4096, rows.size() - 1)] ^=
                static_cast<std::byte>(1u << random() % 8);
        if (random() % 4 != 0)
            for (size_t at : segments)
                reseal(rows, at);
        if (random() % 8 == 0)
            rows.resize(random() % rows.size());
        same_again(packer, rows);
    }
}

TEST_CASE("without layouts, or segments, nothing is divided", "[trace][columns]") {
    std::mt19937_64 random(3);
    test::RingBuilder ring = test::random_ring(random, 100, 16);
    Bytes rows = test::rows_of(ring), payload;
    ColumnPacker packer;
    CHECK_FALSE(packer.pack(rows, payload));
    learn_all(packer, rows);
    CHECK(packer.pack(rows, payload));
    CHECK_FALSE(packer.pack(ByteView(rows).first(segments_in(rows)[0]), payload));
    CHECK_FALSE(packer.pack({}, payload));
    CHECK_FALSE(packer.pack(Bytes(DBK_TRACE_ROWS_BYTES_MAX + 8), payload));
}

TEST_CASE("every coding comes back", "[trace][columns]") {
    std::mt19937_64 random(5);
    ColumnEncoder encoder;
    for (int round = 0; round < 200; round++) {
        std::vector<uint64_t> values(1 + random() % 300), back;
        uint64_t mask = random() >> (random() % 64), slope = random() % 9, count = 0;
        for (uint64_t& value : values)
            value = slope * count++ + (random() & mask);
        for (unsigned form = 1; form <= static_cast<unsigned>(ColumnForm::dictionary); form++)
            for (unsigned how = 0; how < kColumnDifferences; how++) {
                ColumnCoding coding{static_cast<ColumnForm>(form),
                                    static_cast<ColumnDifference>(how)};
                uint64_t unit = random() % 2 != 0 ? 1 : 1 + random() % (mask | 1);
                ColumnMemory memory{coding, unit, 1};
                Bytes out;
                encoder.put(values, memory, out);
                base::ByteReader reader(out);
                ColumnView column = read_column(reader).value();
                REQUIRE(decode_column(column, values.size(), back).ok());
                REQUIRE(back == values);
                if (unit == 1) {
                    bool constant = (column.coding & 0xf) == 0;
                    REQUIRE(decode_column(column, values.size() + 1, back).ok() == constant);
                }
            }
    }
}

TEST_CASE("the worked example of columns.md", "[trace][columns]") {
    Bytes column = test::spec_example("formats/trace/columns.md", "## Worked example");
    base::ByteReader reader(column);
    std::vector<uint64_t> values;
    REQUIRE(decode_column(read_column(reader).value(), 4, values).ok());
    CHECK(values == std::vector<uint64_t>{7, 7, 9, 8});
    ColumnMemory memory{{ColumnForm::planes, ColumnDifference::once}, 1, 1};
    Bytes again;
    ColumnEncoder().put(values, memory, again);
    CHECK(again == column);
}

TEST_CASE("times of a clock that ticks in steps are stored in its unit", "[trace][columns]") {
    std::mt19937_64 random(7);
    std::vector<uint64_t> values(5000), back;
    auto bytes_with_unit = [&](uint64_t unit) {
        for (size_t i = 0; i < values.size(); i++)
            values[i] = random() % 20000 * unit + (i % 700 == 699); // the clock was set
        ColumnMemory memory;
        Bytes out;
        ColumnEncoder().put(values, memory, out);
        CHECK(memory.unit == unit);
        base::ByteReader reader(out);
        REQUIRE(decode_column(read_column(reader).value(), values.size(), back).ok());
        CHECK(back == values);
        return out.size();
    };
    size_t plain = bytes_with_unit(1);
    CHECK(bytes_with_unit(10) < plain + values.size() + 100); // planes of 2 bytes, and what is left
    CHECK(bytes_with_unit(1000) < plain + values.size() + 100);
}

TEST_CASE("a unit is taken where it pays, and looked for again", "[trace][columns]") {
    std::mt19937_64 random(9);
    ColumnEncoder encoder;
    ColumnMemory memory;
    std::vector<uint64_t> values(2000), back;
    auto unit_of = [&](auto value) {
        Bytes out;
        for (size_t i = 0; i < values.size(); i++)
            values[i] = value(i);
        encoder.put(values, memory, out);
        base::ByteReader reader(out);
        REQUIRE(decode_column(read_column(reader).value(), values.size(), back).ok());
        REQUIRE(back == values);
        return memory.unit;
    };
    auto tens = [&](size_t) { return random() % 3000 * 10; };
    CHECK(unit_of(tens) == 10);
    // Till it is chosen again the unit stays, and any values come back.
    for (int block = 1; block < 32; block++)
        CHECK(unit_of([&](size_t) { return random(); }) == 10);
    CHECK(unit_of([&](size_t) { return random(); }) == 1);
    memory = {};
    CHECK(unit_of([&](size_t i) { return i < 1900 ? 0 : random() % 3000 * 10; }) == 1);
    memory = {}; // half of the groups have an odd one
    CHECK(unit_of([&](size_t i) { return tens(i) + (i / 16 % 2 == 0 && i % 16 == 3); }) == 1);
    memory = {}; // a sixteenth of them
    CHECK(unit_of([&](size_t i) { return tens(i) + (i % 256 == 3); }) == 10);
    memory = {};
    CHECK(unit_of([&](size_t) { return uint64_t{0} - random() % 1000 * (uint64_t{1} << 40); }) != 0);
}

TEST_CASE("codes are counted in tables side by side, or in one", "[trace][columns]") {
    std::mt19937_64 random(11);
    for (size_t below : {1, 2, 255, 256, 257, 5000})
        for (size_t count : {0, 1, 1023, 1024, 1027}) {
            ColumnCodes words, bytes;
            words.words.resize(count);
            Bytes narrow;
            std::vector<uint64_t> counts(below, 1), wanted(below, 1);
            for (uint64_t& code : words.words) {
                wanted[code = random() % below]++;
                narrow.push_back(static_cast<std::byte>(code));
            }
            count_codes(words, count, counts);
            CHECK(counts == wanted);
            if (count == 1027) { // as one number for all
                ColumnCodes all;
                all.same = below - 1;
                count_codes(all, count, counts);
                wanted.back() += count;
                CHECK(counts == wanted);
                wanted.back() -= count;
                counts = wanted;
            }
            bytes.bytes = narrow;
            if (below <= 256) {
                count_codes(bytes, count, counts);
                for (uint64_t& twice : wanted)
                    twice = 2 * twice - 1;
                CHECK(counts == wanted);
            }
        }
}

TEST_CASE("codes are of the values that the column has", "[trace][columns]") {
    std::mt19937_64 random(12);
    ColumnEncoder encoder;
    for (uint64_t below : {1, 3, 256, 257, 100000})
        for (ColumnForm form : {ColumnForm::varint, ColumnForm::planes, ColumnForm::dictionary,
                                ColumnForm::scaled}) {
            bool is_scaled = form == ColumnForm::scaled;
            CAPTURE(below, form);
            std::vector<uint64_t> values(2000);
            for (uint64_t& value : values)
                value = random() % below;
            ColumnMemory memory{{is_scaled ? ColumnForm::planes : form, ColumnDifference::none},
                                is_scaled ? uint64_t{10} : 1, 100};
            Bytes payload;
            encoder.put(values, memory, payload);
            base::ByteReader reader(payload);
            ColumnView column = read_column(reader).value();
            ColumnCodes codes;
            REQUIRE(decode_codes(column, values.size(), codes).ok());
            for (size_t i = 0; i < values.size(); i++) {
                REQUIRE(codes.value(i) == values[i]);
                REQUIRE(codes[i] < codes.below);
            }
            CHECK(codes.highest() >= *std::max_element(values.begin(), values.end()));
            CHECK(decode_codes(column, values.size() + 1, codes).ok() == (column.coding == 0));
        }
    const Bytes content{std::byte{2}, std::byte{9}, std::byte{8}, std::byte{1},
                        std::byte{0}, std::byte{1}, std::byte{2}};
    ColumnCodes codes; // two values, 9 and 8; a plane of 0, 1, 2
    CHECK(decode_codes({3, content}, 3, codes).error().message() ==
          "an index leads out of a dictionary of 2");
    CHECK(decode_codes({3, ByteView(content).first(6)}, 2, codes).ok());
    CHECK(codes.value(1) == 8);
}

TEST_CASE("a scaled column that contradicts itself is refused", "[trace][columns]") {
    auto decoded = [](std::initializer_list<int> content, uint8_t coding = 4) {
        Bytes bytes;
        for (int byte : content)
            bytes.push_back(static_cast<std::byte>(byte));
        std::vector<uint64_t> values;
        Result<void> result = decode_column({coding, bytes}, 2, values);
        return result.ok() ? std::to_string(values[0]) + " " + std::to_string(values[1])
                           : result.error().message();
    };
    // A unit of 10; the column 3, 4 of varints; what is left: 0, 9.
    CHECK(decoded({10, 1, 2, 3, 4, 1, 2, 0, 9}) == "30 49");
    CHECK(decoded({9, 1, 2, 3, 4, 1, 2, 0, 9}) == "9 is left of a unit of 9");
    CHECK(decoded({0, 1, 2, 3, 4, 0, 1, 0}) == "0 is left of a unit of 0");
    CHECK(decoded({10, 4, 2, 3, 4, 1, 2, 0, 9}) == "a column of form 4 is not allowed here");
    CHECK(decoded({10, 1, 2, 3, 4, 1, 2, 0, 9}, 0x14) == "a column of form 4 is not allowed here");
    CHECK(decoded({10, 1, 2, 3, 4, 1, 2, 0, 9, 0}) == "a column has 1 bytes too many");
    CHECK(decoded({10, 1, 2, 3, 4}) != "30 40");
}

TEST_CASE("a payload that asks for more than its rows is refused", "[trace][columns]") {
    // Counts far above what so few rows can have; the rest is not looked at.
    for (uint64_t records : {uint64_t{1} << 20, UINT64_MAX}) {
        Bytes payload;
        put_varint(payload, records);
        put_varint(payload, 1);
        put_varint(payload, 0);
        CHECK(unpacked(payload, 4096).error().code() == ErrorCode::limit);
    }
    CHECK(unpacked({}, DBK_TRACE_ROWS_BYTES_MAX + 1).error().code() == ErrorCode::limit);
    CHECK(unpacked(Bytes(100), 100).error().code() == ErrorCode::limit);
}

TEST_CASE("a record of a layout that is not there is refused", "[trace][columns]") {
    auto refusal = [](uint8_t coding, const std::vector<uint8_t>& kinds) {
        Bytes payload;
        for (uint64_t number : {2, 0, 1}) // records, segments, layouts
            put_varint(payload, number);
        put_layout({1, 1, false, {8}}, payload);
        put_varint(payload, 0); // runs
        for (uint64_t number : {uint64_t{coding}, uint64_t{kinds.size()}})
            put_varint(payload, number);
        for (uint8_t byte : kinds)
            payload.push_back(static_cast<std::byte>(byte));
        return unpacked(payload, 4096).error().message();
    };
    CHECK(refusal(0, {2}) == "a record of layout 2 of 1");
    CHECK(refusal(2, {1, 1, 3}) == "a record of layout 3 of 1");
    CHECK(refusal(3, {2, 1, 4, 1, 0, 1}) == "a record of layout 4 of 1");
    CHECK(refusal(3, {2, 1, 1, 1, 0, 1}) != "a record of layout 1 of 1");
}

TEST_CASE("layouts whose records would not fit take no memory for them", "[trace][columns]") {
    RecordLayout wide{1, 1, true, std::vector<uint8_t>(16001, kTailItem)};
    Bytes payload;
    put_varint(payload, DBK_TRACE_ROWS_BYTES_MAX / 8); // records, all of that layout
    put_varint(payload, 0);
    put_varint(payload, 1);
    put_layout(wide, payload);
    put_varint(payload, 0);                                                    // runs
    payload.insert(payload.end(), {std::byte{0}, std::byte{1}, std::byte{1}}); // all of kind 1
    put_raw_column({}, payload);
    put_raw_column({}, payload);
    Result<Bytes> rows = unpacked(payload, DBK_TRACE_ROWS_BYTES_MAX);
    REQUIRE_FALSE(rows.ok());
    CHECK(rows.error().code() == ErrorCode::limit);
}
