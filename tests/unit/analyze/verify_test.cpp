// SPDX-License-Identifier: Apache-2.0
//
// Verification: holes add up to what is missing, records to what is here.
#include "analyze/verify.hpp"
#include "analyze/report.hpp"
#include "analyze/window_completeness.hpp"
#include "base/crc32c.hpp"
#include "base/padded.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/block_store.hpp"
#include "tests/unit/analyze/program_builder.hpp"
#include "tests/unit/formats/trace/sample.hpp"
#include "tests/unit/formats/trace/sample_rows.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;
using base::Bytes;
using base::ByteView;

namespace {

/// Pieces of random records; rings that came round, segments that are not there or damaged.
formats::Recording damaged_recording(std::mt19937_64& random) {
    test::RingBuilder ring =
        test::random_ring(random, 200 + random() % 3000, static_cast<uint32_t>(4 + random() % 60));
    Bytes rows = test::rows_of(ring);
    formats::RecordingBuilder builder;
    ByteView rest(rows);
    while (!rest.empty()) {
        formats::Piece piece = formats::parse_piece(rest).value();
        size_t bytes = std::min(base::padded_to_8(piece.committed_bytes), rest.size());
        Bytes copy(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(bytes));
        rest = rest.subspan(bytes);
        bool is_segment = piece.kind == formats::PieceKind::segment;
        if (is_segment && random() % 8 == 0)
            continue;
        if (is_segment && random() % 8 == 0 && bytes > DBK_SEGMENT_DATA_OFFSET)
            copy[DBK_SEGMENT_DATA_OFFSET + random() % (bytes - DBK_SEGMENT_DATA_OFFSET)] ^=
                std::byte{0x40};
        builder.add_owned(std::move(copy), {"rows", formats::Packing::packed, std::nullopt});
    }
    return builder.build();
}

/// A recording whose one record holds the number.
formats::Recording recording_of(uint64_t number) {
    test::ProgramBuilder program;
    size_t clause = program.clause("profile", "", "", "tick-1");
    program.trace(clause, test::Member::integer(8));
    test::RecordingOf recording(program);
    recording.fire(0, 1000, clause, {number});
    return recording.build();
}

} // namespace

TEST_CASE("holes add up to what a CPU does not have", "[analyze][verify]") {
    uint64_t holes = 0, lost = 0, overwritten = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        std::mt19937_64 random(seed);
        formats::Recording recording = damaged_recording(random);
        for (const formats::RingRecording& ring : recording.rings)
            for (const formats::CpuInfo& cpu : ring.cpus) {
                CAPTURE(seed, cpu.cpu);
                MissingRecords sum;
                uint64_t before_ns = 0;
                for_each_hole({}, ring, cpu, [&](const Hole& hole) {
                    CHECK(hole.from_mono_ns >= before_ns);
                    CHECK(hole.to_mono_ns >= hole.from_mono_ns);
                    CHECK_FALSE(hole.records.is_none());
                    before_ns = hole.from_mono_ns;
                    sum.add(hole.records);
                    holes++;
                });
                const formats::Completeness& facts = cpu.completeness;
                CHECK(sum.overwritten == facts.overwritten);
                CHECK(sum.elsewhere + sum.left_out == facts.rotated);
                CHECK(sum.lost == facts.lost);
                CHECK(sum.lost_known == facts.lost_known);
                CHECK(sum.later == facts.not_copied);
                lost += sum.lost;
                overwritten += sum.overwritten;
            }
    }
    CHECK(holes > 100);
    CHECK(lost > 1000);
    CHECK(overwritten > 500);
}

TEST_CASE("all records that are here are counted", "[analyze][verify]") {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        std::mt19937_64 random(seed);
        formats::Recording recording = damaged_recording(random);
        formats::Completeness facts = recording.rings.at(0).completeness();
        RecordCount count = count_records(recording);
        CAPTURE(seed);
        CHECK(count.records == facts.present);
        CHECK(count.segments == facts.segments_present);
        CHECK(count.miscounted == 0);
    }
}

TEST_CASE("records that the index does not have for their block are damage", "[analyze][verify]") {
    test::RingBuilder ring = test::sample_ring(20000, 1024);
    Bytes file = test::sample_file(ring, 8192);
    formats::Trace trace = formats::parse_trace(base::memory_source(file), "x").value();
    const formats::SegmentInfo segment = trace.recording.rings.at(0).cpus.at(0).segments[50];
    dynamic_cast<formats::BlockStore&>(*segment.bytes.store())
        .tell_epids(segment.bytes.block(), {77});
    CHECK(count_records(trace.recording).miscounted > 0);
    CHECK(trace.recording.all_findings().list().back().text ==
          "1 EPID that its index does not have");
    CHECK(trace.has_losses());
}

TEST_CASE("segments whose block does not unpack are holes of their CPU", "[analyze][verify]") {
    test::RingBuilder ring = test::sample_ring(20000, 1024);
    Bytes file = test::sample_file(ring, 8192);
    formats::Findings findings;
    formats::BlockScanner scanner(file, findings);
    formats::BlockView block;
    for (int columns = 0; columns < 3;) {
        REQUIRE(scanner.next(block));
        columns += block.header.type == DBK_TRACE_COLUMNS;
    }
    // What zstd cannot read, under checksums that hold: an index describes it, so it is not read
    // before.
    std::byte* header = file.data() + block.offset_bytes;
    std::byte* payload = header + sizeof(dbk_trace_block);
    std::fill_n(payload + 12, block.header.stored_bytes / 2, std::byte{0xff});
    uint32_t crc32c = base::crc32c({payload, block.header.stored_bytes});
    std::memcpy(header + offsetof(dbk_trace_block, payload_crc32c), &crc32c, sizeof(crc32c));
    crc32c = base::crc32c({header, offsetof(dbk_trace_block, header_crc32c)});
    std::memcpy(header + offsetof(dbk_trace_block, header_crc32c), &crc32c, sizeof(crc32c));

    formats::Trace trace = formats::parse_trace(base::memory_source(file), "x").value();
    RecordCount count = count_records(trace.recording);
    REQUIRE(count.unreadable.size() == 1);
    CHECK(count.miscounted == 0);
    CHECK(count.unreadable[0].segments > 0);
    CHECK(count.unreadable[0].from_mono_ns < count.unreadable[0].to_mono_ns);
    uint64_t unreadable = count.unreadable[0].records;
    CHECK(unreadable > 0);
    CHECK(count.records + unreadable == 40000);
    StringSink sink;
    CHECK(print_holes(trace.recording, count, sink) == 1);
    CHECK(sink.text.find(" cannot be read, between ") != std::string::npos);
}

TEST_CASE("a line says where a hole is", "[analyze][verify]") {
    std::mt19937_64 random(3);
    formats::Recording recording = damaged_recording(random);
    StringSink sink;
    uint64_t lines = print_holes(recording, count_records(recording), sink);
    CHECK(lines > 1);
    CHECK(static_cast<uint64_t>(std::ranges::count(sink.text, '\n')) == lines);
    CHECK(sink.text.starts_with("hole       CPU 0: "));
    CHECK(sink.text.find(" lost between ") != std::string::npos);
}

TEST_CASE("the digest of a report is that of what it prints", "[analyze][verify]") {
    ReportOptions options;
    formats::Recording one = recording_of(7), same = recording_of(7), other = recording_of(8);
    auto digest_of_report = [](const formats::Recording& recording, const ReportOptions& how) {
        DigestSink sink;
        render_report(recording, how, sink);
        return sink.all();
    };
    OutputDigest digest = digest_of_report(one, options);
    CHECK(digest == digest_of_report(one, options));
    CHECK(digest == digest_of_report(same, options));
    CHECK_FALSE(digest == digest_of_report(other, options));
    CHECK(digest.bytes > 0);
}
