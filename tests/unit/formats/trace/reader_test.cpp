// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/file_reader.hpp"

#include "tests/unit/formats/trace/sample.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

size_t segments_beside_metadata(ByteView file) {
    Findings findings;
    BlockScanner scanner(file, findings);
    size_t count = 0;
    for (BlockView block; scanner.next(block);) {
        if (!has_pieces(block.header))
            continue;
        Bytes rows = unpack_block(block).value();
        std::vector<ByteView> pieces = test::pieces_of(rows);
        auto segments = std::count_if(pieces.begin(), pieces.end(), [](ByteView piece) {
            return parse_piece(piece)->kind == PieceKind::segment;
        });
        if (static_cast<size_t>(segments) < pieces.size())
            count += static_cast<size_t>(segments);
    }
    return count;
}

} // namespace

TEST_CASE("a trace file comes back whole", "[trace][reader]") {
    test::RingBuilder ring = test::sample_ring(2000, 32);
    Bytes file = test::sample_file(ring);
    Trace trace = parse_trace(file, "boot.dbrk").value();
    CHECK(trace.path == "boot.dbrk");
    CHECK(trace.has_header);
    CHECK(trace.header.hostname == "box");
    CHECK(trace.symbols.find(0xffffffff81001001)->name == "do_thing");
    Findings none;
    BlockScanner scanner{ByteView(file), none};
    BlockView schema;
    REQUIRE(scanner.next(schema));
    Bytes text = unpack_block(schema).value();
    CHECK(std::string(reinterpret_cast<const char*>(text.data()), text.size())
              .find("struct Message") != std::string::npos);
    CHECK(trace.file.has_end);
    CHECK(trace.file.blocks_lost == 0);
    CHECK(trace.file.bytes_cut == 0);
    CHECK(trace.recording.findings.count() == 0);
    CHECK_FALSE(trace.has_losses());
    const RingRecording& found = trace.recording.rings.at(0);
    CHECK(found.completeness().present == 4000);
    CHECK(found.find_dof(0)->bytes.size() == 300);
    REQUIRE(trace.summary);
    CHECK(trace.summary->cpus.at(1).completeness.present == 2000);
    // The index has each CPU's segments, each once, but for those in a block with metadata.
    std::set<std::pair<uint16_t, uint64_t>> segments;
    for (const IndexBlock& block : test::index_of(file))
        for (const PieceHead& piece : block.pieces) {
            dbk_segment_header header = parse_piece(piece.head).value().segment;
            CHECK(segments.emplace(header.cpu, header.sequence).second);
        }
    CHECK(segments.size() > 20);
    CHECK(segments.size() + segments_beside_metadata(file) ==
          found.completeness().segments_present);
}

TEST_CASE("overwritten records are no loss of a trace", "[trace][reader]") {
    test::RingBuilder ring = test::sample_ring(5000, 4);
    Trace trace = parse_trace(test::sample_file(ring), "boot.dbrk").value();
    CHECK(trace.recording.rings.at(0).completeness().overwritten > 0);
    CHECK_FALSE(trace.has_losses());
}

TEST_CASE("every prefix of a trace file loses at most its last block", "[trace][reader]") {
    test::RingBuilder ring = test::sample_ring(400);
    Bytes file = test::sample_file(ring, 4096);
    uint64_t before = 0, blocks = 0;
    for (size_t length = 0; length + 8 <= file.size(); length++) { // its last 7 may be padding
        Result<Trace> read = parse_trace(ByteView(file).first(length), "cut");
        if (!read.ok()) {
            REQUIRE(blocks == 0);
            REQUIRE(read.error().message() == "cut is not a Daybreak trace file");
            continue;
        }
        const Trace& trace = read.value();
        REQUIRE_FALSE(trace.file.has_end);
        REQUIRE(trace.has_losses());
        uint64_t present =
            trace.recording.rings.empty() ? 0 : trace.recording.rings[0].completeness().present;
        REQUIRE(trace.file.blocks_good >= blocks);
        REQUIRE(trace.file.blocks_good <= blocks + 1);
        REQUIRE(present >= before);
        blocks = trace.file.blocks_good;
        before = present;
    }
    CHECK(before == 800);
}

TEST_CASE("a changed byte costs at most one block", "[trace][reader]") {
    test::RingBuilder ring = test::sample_ring(400);
    Bytes file = test::sample_file(ring, 4096);
    uint64_t blocks = parse_trace(file, "whole").value().file.blocks_good;
    for (size_t at = 0; at < file.size(); at += 3) {
        Bytes changed = file;
        changed[at] ^= std::byte{0x10};
        Trace trace = parse_trace(changed, "changed").value();
        REQUIRE(trace.file.blocks_good >= blocks - 1);
        REQUIRE((trace.file.blocks_good == blocks || trace.has_losses()));
    }
}

TEST_CASE("what is not a trace file is said to be none", "[trace][reader]") {
    CHECK(parse_trace(ByteView(), "empty").error().code() == ErrorCode::invalid);
    CHECK_FALSE(parse_trace(Bytes(100000, std::byte{0x44}), "noise").ok());
    CHECK(read_trace("/nonexistent/x.dbrk").error().code() == ErrorCode::not_found);
    CHECK_FALSE(read_trace("/").ok());
}

TEST_CASE("a block of an unknown type is left out, of another version lost", "[trace][reader]") {
    test::RingBuilder ring = test::sample_ring(5);
    Bytes file = test::sample_file(ring);
    uint32_t number = static_cast<uint32_t>(parse_trace(file, "x").value().file.blocks_good);
    Bytes unknown =
        make_block(static_cast<enum dbk_trace_type>(99), number, base::as_bytes("?"), 3);
    file.insert(file.end(), unknown.begin(), unknown.end());
    Trace trace = parse_trace(file, "x").value();
    REQUIRE(trace.recording.findings.list().size() == 1);
    CHECK(trace.recording.findings.list()[0].kind == FindingKind::unknown_kind);
    CHECK_FALSE(trace.has_losses());
}

TEST_CASE("bytes that are missing before the end are reported", "[trace][reader]") {
    test::RingBuilder ring = test::sample_ring(5);
    Bytes file = test::sample_file(ring), shorter;
    Findings findings;
    BlockScanner scanner(file, findings);
    BlockView block;
    while (scanner.next(block)) { // the schema is another, all numbers hold
        bool schema = block.header.type == DBK_TRACE_SCHEMA;
        Bytes one = schema ? make_block(DBK_TRACE_SCHEMA, 0, base::as_bytes("?"), 3) : Bytes();
        ByteView as_it_is = ByteView(file).subspan(
            block.offset_bytes, (sizeof(block.header) + block.stored.size() + 7) / 8 * 8);
        ByteView kept = schema ? ByteView(one) : as_it_is;
        shorter.insert(shorter.end(), kept.begin(), kept.end());
    }
    Trace trace = parse_trace(shorter, "x").value();
    REQUIRE(trace.recording.findings.list().size() == 1);
    const Finding& finding = trace.recording.findings.list()[0];
    CHECK(finding.kind == FindingKind::bad_block);
    CHECK(finding.text.find("bytes were written before it") != std::string::npos);
    CHECK(trace.has_losses());
}

TEST_CASE("only a recorder's names have a file number", "[trace][reader]") {
    CHECK(file_number_in("DIR/1122aabb-000012+oops.dbrk") == 12);
    CHECK(file_number_in("1122aabb-000012.dbrk") == 12);
    CHECK(file_number_in("1122aabb-123456789.dbrk") == 123456789);
    for (const char* name : {"1122aabb-00012.dbrk", "boot-1.dbrk", "1122aabb-1234567890.dbrk",
                             "1122aabb-000012", "1122aabb-000012x.dbrk", "1122aabb.dbrk", ""})
        CHECK(file_number_in(name) == 0);
}
