// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/message.hpp"
#include "tests/support/raw_message.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

PieceHead sample_piece(uint32_t offset_bytes) {
    PieceHead piece{offset_bytes, {}, SegmentCount{7, 1000, 900, 2000}};
    piece.head[0] = std::byte{1};
    piece.head.back() = std::byte{2};
    return piece;
}

/// A block with two pieces, of which one was not counted, and a block with others.
TraceIndex sample_index() {
    PieceHead not_counted = sample_piece(264);
    not_counted.count.reset();
    return {{{4096, 3, {sample_piece(128), not_counted}, false, {1, 7, 300}}, {8192, 4, {}}}};
}

} // namespace

TEST_CASE("the header comes back", "[trace][message]") {
    TraceHeader header = test::sample_header();
    TraceHeader back = decode_header(encode_header(header)).value();
    CHECK(back.tool_version == header.tool_version);
    CHECK(back.origin == header.origin);
    CHECK(back.clocks.wall_ns == 3);
    CHECK(back.boot_uuid == header.boot_uuid);
    CHECK(back.hostname == "box");
    CHECK(back.command_line == header.command_line);
    CHECK(back.memory_bytes == header.memory_bytes);
    CHECK(back.d_files == header.d_files);
    REQUIRE(back.modules.size() == 2);
    CHECK(back.modules[0].build_id == header.modules[0].build_id);
    CHECK(back.modules[1].size_bytes == 0x8000);
}

TEST_CASE("the units of a header come back", "[trace][message]") {
    TraceHeader header = test::sample_header();
    BootUnits back = decode_header(encode_header(header)).value().boot_units;
    CHECK(back.default_target == "graphical.target");
    REQUIRE(back.units.size() == 3);
    for (size_t i = 0; i < back.units.size(); i++) {
        const BootUnit& unit = header.boot_units.units[i];
        CHECK(back.units[i].name == unit.name);
        CHECK(back.units[i].began_mono_ns == unit.began_mono_ns);
        CHECK(back.units[i].ready_mono_ns == unit.ready_mono_ns);
        CHECK(back.units[i].after == unit.after);
    }
    header.boot_units = {};
    CHECK(decode_header(encode_header(header)).value().boot_units.units.empty());
}

TEST_CASE("units that cannot be are refused", "[trace][message]") {
    auto code = [](auto change) {
        TraceHeader header = test::sample_header();
        change(header.boot_units);
        auto decoded = decode_header(encode_header(header));
        return decoded.ok() ? std::optional<ErrorCode>() : decoded.error().code();
    };
    CHECK_FALSE(code([](BootUnits&) {}));
    CHECK(code([](BootUnits& boot) { boot.units[1].after = {3}; }) == ErrorCode::corrupt);
    CHECK(code([](BootUnits& boot) { boot.units[1].name = "a\x1b[2J.service"; }) ==
          ErrorCode::corrupt);
    CHECK(code([](BootUnits& boot) { boot.units[1].name = ""; }) == ErrorCode::corrupt);
    CHECK(code([](BootUnits& boot) { boot.default_target = "a b"; }) == ErrorCode::corrupt);
    CHECK(code([](BootUnits& boot) { boot.units.resize(kBootUnitsMax + 1, boot.units[0]); }) ==
          ErrorCode::corrupt);
    CHECK(code([](BootUnits& boot) { boot.units[0].after.resize(kBootUnitOrdersMax); }) ==
          ErrorCode::corrupt);
}

TEST_CASE("the summary comes back", "[trace][message]") {
    TraceSummary summary;
    summary.interrupted = true;
    CpuSummary cpu{3, 7, {}};
    cpu.completeness.committed = 100;
    cpu.completeness.overwritten = 60;
    cpu.completeness.lost_known = false;
    cpu.completeness.drops[DBK_DROP_NESTED] = 9;
    summary.cpus.push_back(cpu);
    summary.findings.push_back({FindingKind::no_symbols, "kallsyms", "hidden"});
    TraceSummary back = decode_summary(encode_summary(summary)).value();
    CHECK(back.interrupted);
    REQUIRE(back.cpus.size() == 1);
    CHECK(back.cpus[0].ring_id == 3);
    CHECK(back.cpus[0].completeness.overwritten == 60);
    CHECK_FALSE(back.cpus[0].completeness.lost_known);
    CHECK(back.cpus[0].completeness.drops[DBK_DROP_NESTED] == 9);
    REQUIRE(back.findings.size() == 1);
    CHECK(back.findings[0].kind == FindingKind::no_symbols);
}

TEST_CASE("index and end come back", "[trace][message]") {
    TraceIndex index = decode_index(encode_index(sample_index())).value();
    REQUIRE(index.blocks.size() == 2);
    CHECK(index.blocks[0].file_offset == 4096);
    CHECK(index.blocks[0].block_number == 3);
    CHECK(index.blocks[0].epids == std::vector<uint32_t>{1, 7, 300});
    CHECK(index.blocks[1].epids.empty());
    REQUIRE(index.blocks[0].pieces.size() == 2);
    const PieceHead& piece = index.blocks[0].pieces[0];
    CHECK(piece.offset_bytes == 128);
    CHECK(piece.head == sample_piece(0).head);
    REQUIRE(piece.count);
    CHECK(piece.count->records == 7);
    CHECK(piece.count->first_ticks == 1000);
    CHECK(piece.count->min_ticks == 900);
    CHECK(piece.count->last_ticks == 2000);
    CHECK(index.blocks[0].pieces[1].offset_bytes == 264);
    CHECK_FALSE(index.blocks[0].pieces[1].count);
    CHECK(index.blocks[1].file_offset == 8192);
    CHECK(index.blocks[1].pieces.empty());
    CHECK(decode_end(encode_end({5, 12345})).value().bytes == 12345);
}

TEST_CASE("the window of a file comes back", "[trace][message]") {
    LeftOut one{1, 2, 5, 6, 100, 20, 1000, 2000, {0, 4}, {{1, 2}, {3, 4}}};
    LeftOut next{1, 2, 8, UINT64_MAX - 1, 130, UINT64_MAX, 3000, 4000, {}, {}};
    TraceWindow back = decode_window(encode_window({7, {10, 20}, {one, next}})).value();
    CHECK(back.boot_id == 7);
    CHECK(back.window.since_mono_ns == 10);
    CHECK(back.window.until_mono_ns == 20);
    REQUIRE(back.left_out.size() == 2);
    CHECK(back.left_out[0].cpu == 2);
    CHECK(back.left_out[0].records_before == 100);
    CHECK(back.left_out[0].drops.at(1) == 4);
    CHECK(back.left_out[0].pairs.at(1).mono_ns == 4);
    CHECK(back.left_out[1].last_sequence == UINT64_MAX - 1);
    CHECK(back.left_out[1].drops.empty());
    CHECK(back.left_out[1].pairs.empty());
}

TEST_CASE("stretches that contradict themselves are refused", "[trace][message]") {
    auto refused = [](std::vector<LeftOut> list, CutWindow window = {}) {
        auto decoded = decode_window(encode_window({7, window, std::move(list)}));
        return decoded.ok() ? std::string() : decoded.error().message();
    };
    LeftOut good{1, 2, 5, 9};
    CHECK(refused({good, {1, 2, 10, 10}, {1, 3, 1, 1}, {2, 0, 1, 1}}).empty());
    CHECK(refused({{1, 2, 9, 5}}) == "segments 9..5 cannot be left out");
    CHECK(refused({{1, 2, 0, 5}}) == "segments 0..5 cannot be left out");
    CHECK(refused({{1, 2, 5, UINT64_MAX}}).find("cannot be left out") != std::string::npos);
    CHECK(refused({good, {1, 2, 9, 12}}) == "ring 1 cpu 2 segment 9 is left out twice");
    CHECK(refused({good, good}) == "ring 1 cpu 2 segment 5 is left out twice");
    CHECK(refused({good, {1, 1, 1, 1}}) == "ring 1 cpu 1 segment 1 is left out twice");
    LeftOut with_pairs = good;
    with_pairs.pairs.resize(4);
    CHECK(refused({with_pairs}) == "4 and 4 times do not fit the segments 5..9");
    CHECK(refused({}, {2, 1}) == "the window ends before it begins");
    std::vector<LeftOut> many;
    for (uint64_t i = 0; i < kLeftOutMax; i++)
        many.push_back({1, 2, 1 + 2 * i, 1 + 2 * i});
    CHECK(refused(many).empty());
    many.push_back({1, 3, 1, 1});
    CHECK(refused(many) == "65537 stretches are left out, 65536 are the most");
}

TEST_CASE("a message of another kind, or none, is an error", "[trace][message]") {
    Bytes end = encode_end({1, 2});
    CHECK(decode_header(end).error().code() == ErrorCode::corrupt);
    CHECK_FALSE(decode_summary(end).ok());
    CHECK_FALSE(decode_index(end).ok());
    SymbolTable table;
    CHECK_FALSE(decode_symbols(end, table).ok());
    CHECK_FALSE(decode_end(encode_header({})).ok());
    CHECK_FALSE(decode_window(end).ok());
    CHECK_FALSE(decode_contents(end).ok());
    CHECK_FALSE(decode_end({}).ok());
    CHECK_FALSE(decode_end(Bytes(7)).ok());
    CHECK_FALSE(decode_end(Bytes(64, std::byte{0xff})).ok());
}

TEST_CASE("lists of the table of contents come back without the others", "[trace][message]") {
    for (size_t list = 0; list < 4; list++) {
        TraceContents contents;
        contents.groups.resize(list == 0 ? 1000 : 0);
        contents.runs.resize(list == 1 ? 1000 : 0);
        contents.other_offsets.resize(list == 2 ? 1000 : 0);
        contents.pairs.resize(list == 3 ? 1000 : 0);
        for (TraceContents::Run& one : contents.runs)
            one.run.count = 1;
        Result<TraceContents> back = decode_contents(encode_contents(contents));
        INFO((back.ok() ? "" : back.error().message()));
        REQUIRE(back.ok());
        CHECK(back->groups.size() + back->runs.size() + back->other_offsets.size() +
                  back->pairs.size() ==
              1000);
    }
}

TEST_CASE("changed messages are errors or other values, never more", "[trace][message]") {
    std::mt19937_64 random(20240601);
    TraceSummary summary;
    summary.cpus.resize(3);
    summary.findings.resize(3);
    test::sample_header();
    SymbolTable symbols = test::sample_symbols();
    const Bytes seeds[] = {encode_header(test::sample_header()),
                           encode_summary(summary),
                           encode_symbols(symbols, symbols.symbols()),
                           encode_index(sample_index()),
                           encode_end({1, 2}),
                           encode_window({7, {1, 2}, {{1, 2, 5, 6}, {1, 2, 8, 9}}}),
                           encode_contents(test::sample_contents())};
    for (int i = 0; i < 20000; i++) {
        Bytes bytes = seeds[static_cast<size_t>(i) % std::size(seeds)];
        for (uint64_t changes = 1 + random() % 4; changes > 0; changes--)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        if (random() % 8 == 0)
            bytes.resize(random() % bytes.size());
        SymbolTable table;
        (void)decode_header(bytes).ok();
        (void)decode_summary(bytes).ok();
        (void)decode_symbols(bytes, table).ok();
        (void)decode_index(bytes).ok();
        (void)decode_window(bytes).ok();
        if (Result<TraceContents> contents = decode_contents(bytes); contents.ok())
            for (const TraceContents::Run& one : contents->runs) {
                REQUIRE(one.run.last_sequence() >= one.run.first_sequence);
                REQUIRE(one.run.records_after() >= one.run.records_before);
            }
        (void)decode_end(bytes).ok();
    }
}

TEST_CASE("EPIDs that a block cannot have are refused", "[trace][message]") {
    auto refused = [](const std::vector<uint32_t>& epids) {
        TraceIndex index = sample_index();
        index.blocks[0].epids = epids;
        return !decode_index(encode_index(index)).ok();
    };
    std::vector<uint32_t> many(PieceCounter::kEpidsMax);
    for (uint32_t i = 0; i < many.size(); i++)
        many[i] = i + 1;
    CHECK_FALSE(refused({1, 2, kEpidMax}));
    CHECK_FALSE(refused(many));
    many.push_back(static_cast<uint32_t>(many.size()) + 1);
    CHECK(refused(many));
    CHECK(refused({2, 1}));
    CHECK(refused({1, 1}));
    CHECK(refused({0, 1}));
    CHECK(refused({1, kEpidMax + 1}));
    CHECK(decode_index(encode_index(sample_index()), 2).ok());
    CHECK_FALSE(decode_index(encode_index(sample_index()), 1).ok()); // two blocks
}

// Cap'n Proto's list of structures: a pointer (3 bits of kind 1 and size 7, the words in the upper
// 29), and before the elements a word with their count and size.
TEST_CASE("a list of elements without bytes is refused", "[trace][message]") {
    constexpr uint64_t kCount = 500, kTag = 3u << 2 | uint64_t{3} << 32; // three of three words
    base::Bytes bytes = encode_index({std::vector<IndexBlock>(3)});
    std::vector<uint64_t> words(bytes.size() / 8);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    auto tag = std::find(words.begin(), words.end(), kTag);
    REQUIRE(tag != words.end());
    *tag = kCount << 2;
    auto list = std::find_if(words.begin(), tag, [](uint64_t word) {
        return (word & 3) == 1 && (word >> 32) == (uint64_t{9} << 3 | 7);
    });
    REQUIRE(list != tag);
    *list &= 0x7ffffffff; // no words
    std::memcpy(bytes.data(), words.data(), bytes.size());
    auto decoded = decode_index(bytes);
    REQUIRE_FALSE(decoded.ok());
    CHECK(decoded.error().message().find("500 blocks do not fit") != std::string::npos);
}

TEST_CASE("the entries of an older index are not looked at", "[trace][message]") {
    constexpr unsigned kIndex = 2, kPointers = 8, kEntries = 0, kBlocks = 1;
    auto decoded = decode_index(test::empty_structs({kIndex, kPointers, kEntries}, 500, 4096));
    REQUIRE(decoded.ok());
    CHECK(decoded->blocks.empty());
    decoded = decode_index(test::empty_structs({kIndex, kPointers, kBlocks}, 500, 4096));
    REQUIRE_FALSE(decoded.ok());
}
