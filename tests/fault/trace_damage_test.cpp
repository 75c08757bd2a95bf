// SPDX-License-Identifier: Apache-2.0
//
// A recorder's file, cut at every byte and changed at 2000: it reads to the last good block, each
// damage is reported with its offset, and what is read is what was written.
#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

using namespace daybreak;
using namespace daybreak::formats;
using test::RingBuilder;

namespace {

/// Records by CPU and number; the value of record n is n * 3 + cpu.
struct Sample {
    RingBuilder ring{{.cpu_count = 2, .segments_per_cpu = 16}};
    Bytes file;
    std::map<std::pair<uint16_t, uint64_t>, uint64_t> records;
    std::vector<uint64_t> block_ends;

    Sample() {
        uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                     {RingBuilder::integer_field(8, 8)}, 16);
        TraceHeader header;
        header.file_number = 1;
        auto sink = [this](ByteView block) -> Result<void> {
            file.insert(file.end(), block.begin(), block.end());
            block_ends.push_back(file.size());
            return {};
        };
        TraceWriter writer = TraceWriter::create(sink, header).value();
        put_all(writer, ring.metadata_memory(), 8192);
        REQUIRE(writer.flush().ok());
        std::mt19937_64 random(7);
        for (uint64_t n = 0; n < 8 * 248; n++)
            for (uint16_t cpu = 0; cpu < 2; cpu++) {
                uint64_t value = n * 3 + cpu;
                ring.record(cpu, epid, 1000 + n * 3 + random() % 3, RingBuilder::words({value}));
                records[{cpu, n}] = value;
            }
        for (size_t segment = 0; segment < 8; segment++) {
            for (uint16_t cpu = 0; cpu < 2; cpu++)
                REQUIRE(writer.add_piece(ByteView(ring.segment_memory(cpu)).subspan(segment * 4096))
                            .ok());
            REQUIRE(writer.flush().ok());
        }
        SkippedSegments skipped{1, 0, 9, 12, SkipCause::disk_full, 5};
        REQUIRE(writer.add_skipped(std::span(&skipped, 1)).ok());
        REQUIRE(writer.finish({}).ok());
    }

    static void put_all(TraceWriter& writer, const Bytes& memory, size_t step) {
        for (size_t at = 0; at < memory.size(); at += step)
            REQUIRE(writer.add_piece(ByteView(memory).subspan(at)).ok());
    }

    /// Counts the readable records; -1 when one of them is not what was recorded.
    int64_t check(const Trace& trace) const {
        int64_t count = 0;
        for (const RingRecording& one : trace.recording.rings)
            for (const CpuInfo& cpu : one.cpus)
                for (const SegmentInfo& segment : cpu.segments) {
                    RecordCursor cursor = records_of(segment, one);
                    RecordView record;
                    for (uint64_t n = segment.records_before; cursor.next(record); n++, count++) {
                        auto known = records.find({cpu.cpu, n});
                        if (known == records.end() || record.integer(0) != known->second)
                            return -1;
                    }
                }
        return count;
    }
};

} // namespace

TEST_CASE("a recorder's file reads as far as it goes, cut at every byte", "[fault][trace]") {
    Sample sample;
    int64_t before = 0;
    bool good = true;
    for (size_t bytes = 0; bytes <= sample.file.size(); bytes++) {
        auto trace = parse_trace(ByteView(sample.file).first(bytes), "x");
        size_t blocks = 0;
        while (blocks < sample.block_ends.size() && sample.block_ends[blocks] <= bytes)
            blocks++;
        if (!trace.ok()) {
            good = good && bytes < sample.block_ends[0];
            continue;
        }
        int64_t count = sample.check(*trace);
        // A block whose padding alone is cut is whole.
        good = good && trace->file.blocks_good >= blocks && count >= before;
        good = good && (bytes == sample.file.size() || trace->recording.findings.count() > 0 ||
                        trace->file.has_end);
        before = std::max(before, count);
    }
    CHECK(good);
    CHECK(before == static_cast<int64_t>(sample.records.size()));
}

TEST_CASE("2000 changed bytes: each is reported with its offset, no record differs", "[fault][trace]") {
    const char* wanted = std::getenv("DAYBREAK_SEED");
    uint64_t seed = wanted ? std::strtoull(wanted, nullptr, 0) : std::random_device{}();
    INFO("DAYBREAK_SEED=" << seed);
    std::mt19937_64 random(seed);
    Sample sample;
    for (int i = 0; i < 2000; i++) {
        Bytes damaged = sample.file;
        size_t at = random() % damaged.size();
        damaged[at] ^= static_cast<std::byte>(1 + random() % 255);
        INFO("byte " << at);
        auto trace = parse_trace(damaged, "x");
        REQUIRE(trace.ok());
        REQUIRE(sample.check(*trace) >= 0);
        // The file itself names the segments that its recorder skipped.
        bool reported = false;
        for (const Finding& finding : trace->recording.findings.list())
            reported = reported || (finding.kind != FindingKind::skipped &&
                            finding.where.find("0x") != std::string::npos);
        REQUIRE(reported);
    }
}
