// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/writer.hpp"

#include "base/file.hpp"
#include "tests/support/piece_order.hpp"
#include "tests/support/secret_file.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

using namespace daybreak;
using namespace daybreak::formats;

TEST_CASE("a sink's error is passed on from wherever it strikes", "[trace][writer]") {
    test::RingBuilder ring = test::sample_ring(600);
    size_t whole = test::sample_file(ring).size();
    size_t failures = 0;
    for (size_t room = 0; room <= whole; room += 512) {
        size_t written = 0;
        auto sink = [&](ByteView bytes) -> Result<void> {
            if (written + bytes.size() > room)
                return base::errorf(ErrorCode::io, "no space left");
            written += bytes.size();
            return {};
        };
        auto run = [&]() -> Result<void> {
            DBK_TRY(TraceWriter writer,
                    TraceWriter::create(sink, test::sample_header(), {3, 8192}));
            RecordingBuilder builder;
            std::vector<ByteView> pieces;
            builder.add_bytes(ring.segment_memory(0), {"ring"}, &pieces);
            builder.add_bytes(ring.segment_memory(1), {"ring"}, &pieces);
            for (ByteView piece : pieces)
                DBK_TRY_VOID(writer.add_piece(piece));
            DBK_TRY_VOID(writer.add_symbols(test::sample_symbols()));
            return writer.finish({});
        };
        Result<void> done = run();
        if (!done.ok()) {
            failures++;
            REQUIRE(done.error().message() == "no space left");
        }
    }
    CHECK(failures > 3);
}

TEST_CASE("a bad piece is refused and the file stays good", "[trace][writer]") {
    Bytes file;
    auto sink = [&](ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return Result<void>();
    };
    TraceWriter writer = TraceWriter::create(sink, {}).value();
    CHECK_FALSE(writer.add_piece(Bytes(4096)).ok());
    CHECK_FALSE(writer.add_piece({}).ok());
    test::RingBuilder ring = test::sample_ring(10);
    CHECK(writer.add_piece(ring.segment_memory(0)).ok());
    REQUIRE(writer.finish({}).ok());
    CHECK(parse_trace(file, "file").value().recording.rings.size() == 1);
}

TEST_CASE("regions in memory become a trace file", "[trace][writer]") {
    test::TempFolder folder;
    std::string path = folder.path / "sim.dbrk";
    test::RingBuilder ring = test::sample_ring(100);
    Bytes metadata = ring.metadata_memory();
    TraceRegion regions[] = {{ring.segment_memory(0), "cpu 0"},
                             {ring.segment_memory(1), "cpu 1"},
                             {metadata, "metadata"}};
    Bytes snapshots[] = {ring.aggregation_buffer(
        0, 1, test::RingBuilder::aggregation_entry(1, 0, test::RingBuilder::words({7}), {3}))};
    base::OutputFile file = create_trace_file(path, false).value();
    TraceSummary summary =
        write_trace(file, test::sample_header(), regions, snapshots, test::sample_symbols())
            .value();
    REQUIRE(summary.cpus.size() == 2);
    CHECK(test::is_secret(path));
    CHECK_FALSE(create_trace_file(path, false).ok());
    CHECK(summary.cpus[0].completeness.present == 100);
    Trace trace = read_trace(path).value();
    CHECK(trace.recording.rings.at(0).completeness().present == 200);
    CHECK(trace.recording.rings[0].cpus[0].aggregations.size() == 1);
    CHECK(trace.recording.rings[0].find_dof(0)->bytes.size() == 300);
    CHECK_FALSE(trace.has_losses());
    CHECK(test::piece_order(path).starts_with("ym")); // a file that is cut has them
    CHECK(test::piece_order(path).find_last_of("ym") < test::piece_order(path).find('s'));
    CHECK(folder.files() == 1);
}

TEST_CASE("a file that cannot be written is not there", "[trace][writer]") {
    test::TempFolder folder;
    CHECK_FALSE(create_trace_file(folder.path, true).ok());
    CHECK_FALSE(create_trace_file(folder.path / "none/x.dbrk", true).ok());
    CHECK(folder.files() == 0);
}

TEST_CASE("a write that failed and is made again leaves a whole file", "[trace][writer]") {
    Bytes file;
    bool fails = false;
    auto sink = [&](ByteView bytes) -> Result<void> {
        if (std::exchange(fails, false))
            return base::errorf(ErrorCode::io, "no space left");
        file.insert(file.end(), bytes.begin(), bytes.end());
        return {};
    };
    TraceWriter writer = TraceWriter::create(sink, test::sample_header()).value();
    test::RingBuilder ring = test::sample_ring(10);
    REQUIRE(writer.add_piece(ring.metadata_memory()).ok());
    REQUIRE(writer.flush().ok());
    REQUIRE(writer.add_piece(ring.segment_memory(0)).ok());
    fails = true;
    REQUIRE_FALSE(writer.flush().ok());
    CHECK_FALSE(writer.unwritten().empty());
    REQUIRE(writer.flush().ok());
    REQUIRE(writer.finish({}).ok());
    CHECK(writer.bytes_written() == file.size());
    Trace trace = parse_trace(file, "file").value();
    CHECK(trace.file.blocks_lost == 0);
    REQUIRE(trace.recording.rings.size() == 1);
    CHECK(trace.recording.rings[0].completeness().segments_present == 1);
}

TEST_CASE("the index says where each block is, and what is in it", "[trace][writer]") {
    test::RingBuilder ring = test::sample_ring(2000, 32);
    Bytes file = test::sample_file(ring);
    std::vector<IndexBlock> index = test::index_of(file);
    REQUIRE(index.size() > 4);
    size_t without_pieces = 0;
    for (const IndexBlock& entry : index) {
        Findings findings;
        BlockScanner scanner(ByteView(file).subspan(entry.file_offset), findings);
        BlockView block;
        REQUIRE(scanner.next(block));
        CHECK(block.offset_bytes == 0);
        CHECK(block.header.number == entry.block_number);
        CHECK(has_pieces(block.header));
        Bytes rows = unpack_block(block).value();
        std::vector<ByteView> pieces = test::pieces_of(rows);
        if (entry.pieces.empty()) {
            without_pieces++;
            CHECK(parse_piece(pieces.front())->kind == PieceKind::metadata);
            continue;
        }
        REQUIRE(entry.pieces.size() == pieces.size());
        for (size_t i = 0; i < pieces.size(); i++) {
            const PieceHead& head = entry.pieces[i];
            CHECK(head.offset_bytes == rows.size() - pieces[i].size());
            CHECK(std::equal(head.head.begin(), head.head.end(), pieces[i].begin()));
            REQUIRE(head.count);
            CHECK(head.count->records > 0);
        }
    }
    CHECK(without_pieces < 3);
}

namespace {

size_t blocks_of_columns(ByteView file) {
    Findings findings;
    BlockScanner scanner(file, findings);
    size_t count = 0;
    for (BlockView block; scanner.next(block);)
        count += block.header.type == DBK_TRACE_COLUMNS ? 1 : 0;
    return count;
}

std::vector<Bytes> segments_of(const Trace& trace) {
    std::vector<Bytes> segments;
    for (const CpuInfo& cpu : trace.recording.rings.at(0).cpus)
        for (const SegmentInfo& segment : cpu.segments) {
            PinnedBytes loaded = segment.bytes.load().value();
            segments.emplace_back(loaded.bytes.begin(), loaded.bytes.end());
        }
    return segments;
}

} // namespace

TEST_CASE("rows and columns of a recording read the same", "[trace][writer][columns]") {
    test::RingBuilder ring = test::sample_ring(5000, 64);
    Bytes rows_file = test::sample_file(ring, 100'000, false);
    Bytes columns_file = test::sample_file(ring, 100'000, true);
    CHECK(blocks_of_columns(rows_file) == 0);
    CHECK(blocks_of_columns(columns_file) > 1);
    CHECK(columns_file.size() < rows_file.size());
    Trace rows = parse_trace(rows_file, "rows").value();
    Trace columns = parse_trace(columns_file, "columns").value();
    CHECK(rows.file.raw_data_bytes == columns.file.raw_data_bytes);
    CHECK(rows.file.blocks_good == columns.file.blocks_good);
    CHECK(rows.recording.findings.count() == columns.recording.findings.count());
    CHECK(segments_of(rows) == segments_of(columns));
}
