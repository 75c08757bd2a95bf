// SPDX-License-Identifier: Apache-2.0
//
// What a large file is known by: runs of segments, and the table of contents for who wants a part.
#include "formats/trace/contents.hpp"
#include "formats/trace/message.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <random>

using namespace daybreak;
using namespace daybreak::formats;
using test::RingBuilder;
using test::walk;

namespace {

constexpr uint32_t kSegments = 1024;
constexpr size_t kIndexPieces = 16;

Bytes large_file(RingBuilder& ring, bool columns) {
    return test::sample_file(
        ring, {.block_raw_bytes = 8192, .columns = columns, .index_pieces = kIndexPieces});
}

Trace read(const Bytes& file, const ReadOptions& options) {
    auto trace = parse_trace(base::memory_source(file), "x", options);
    INFO((trace.ok() ? "" : trace.error().message()));
    REQUIRE(trace.ok());
    return std::move(*trace);
}

size_t runs_in(const Trace& trace) {
    size_t runs = 0;
    for (const RingRecording& ring : trace.recording.rings)
        for (const CpuInfo& cpu : ring.cpus)
            for (const SegmentList::Part& part : cpu.segments.parts())
                runs += part.is_run();
    return runs;
}

void check_same(const Completeness& a, const Completeness& b) {
    CHECK(a.committed == b.committed);
    CHECK(a.present == b.present);
    CHECK(a.overwritten == b.overwritten);
    CHECK(a.rotated == b.rotated);
    CHECK(a.lost == b.lost);
    CHECK(a.not_copied == b.not_copied);
    CHECK(a.lost_known == b.lost_known);
    CHECK(a.segments_present == b.segments_present);
    CHECK(a.segments_missing == b.segments_missing);
    CHECK(a.segments_damaged == b.segments_damaged);
    CHECK(a.drops == b.drops);
    CHECK(a.drops_unseen == b.drops_unseen);
    REQUIRE(a.intervals.size() == b.intervals.size());
    for (size_t i = 0; i < a.intervals.size(); i++) {
        CHECK(a.intervals[i].count == b.intervals[i].count);
        CHECK(a.intervals[i].sequence == b.intervals[i].sequence);
        CHECK(a.intervals[i].from_mono_ns == b.intervals[i].from_mono_ns);
        CHECK(a.intervals[i].to_mono_ns == b.intervals[i].to_mono_ns);
    }
}

void check_same(const Recording& a, const Recording& b) {
    CHECK(a.findings.list() == b.findings.list());
    CHECK(a.last_wall_ns() == b.last_wall_ns());
    REQUIRE(a.rings.size() == b.rings.size());
    for (size_t r = 0; r < a.rings.size(); r++) {
        const RingRecording &ring = a.rings[r], &other = b.rings[r];
        for (uint64_t ticks = 0; ticks < 5'000'000; ticks += 9999)
            REQUIRE(ring.clock.mono_ns(ticks) == other.clock.mono_ns(ticks));
        REQUIRE(ring.cpus.size() == other.cpus.size());
        for (size_t c = 0; c < ring.cpus.size(); c++) {
            const CpuInfo &one = ring.cpus[c], &two = other.cpus[c];
            check_same(one.completeness, two.completeness);
            CHECK(one.gaps.size() == two.gaps.size());
            REQUIRE(one.segments.size() == two.segments.size());
            for (size_t i = 0; i < one.segments.size(); i++) {
                SegmentInfo x = one.segments[i], y = two.segments[i];
                REQUIRE(x.sequence == y.sequence);
                REQUIRE(x.recorded_ticks == y.recorded_ticks);
                REQUIRE(x.base_mono_ns == y.base_mono_ns);
                REQUIRE(x.records_before == y.records_before);
                REQUIRE(x.record_count == y.record_count);
                REQUIRE(x.min_ticks == y.min_ticks);
                REQUIRE(x.last_ticks == y.last_ticks);
                REQUIRE(x.epoch == y.epoch);
                REQUIRE(x.last_epoch == y.last_epoch);
                REQUIRE(x.damaged == y.damaged);
                REQUIRE(x.says_tsc == y.says_tsc);
                REQUIRE(x.bytes.size() == y.bytes.size());
                REQUIRE(x.bytes.offset() == y.bytes.offset());
                const SegmentDrops *x_drops = one.drops_of(x), *y_drops = two.drops_of(y);
                REQUIRE((x_drops == nullptr) == (y_drops == nullptr));
                REQUIRE((!x_drops || *x_drops == *y_drops));
            }
        }
    }
}

/// The file with its table of contents changed.
Bytes with_contents(const Bytes& file, const std::function<void(TraceContents&)>& change) {
    Findings findings;
    BlockScanner scanner{ByteView(file), findings};
    Bytes changed;
    uint64_t offset = 0;
    for (BlockView block; scanner.next(block);) {
        Bytes raw = unpack_block(block).value();
        auto type = static_cast<enum dbk_trace_type>(block.header.type);
        if (type == DBK_TRACE_CONTENTS) {
            TraceContents contents = decode_contents(raw).value();
            change(contents);
            raw = encode_contents(contents);
            offset = changed.size();
        }
        if (type == DBK_TRACE_END)
            raw = encode_end({block.header.number, changed.size(), offset});
        if (type != DBK_TRACE_CONTENTS && type != DBK_TRACE_END) {
            auto at = file.begin() + static_cast<ptrdiff_t>(block.offset_bytes);
            changed.insert(changed.end(), at,
                           at + static_cast<ptrdiff_t>(block_bytes(block.header)));
            continue;
        }
        Bytes made = make_block(type, block.header.number, raw, 3);
        changed.insert(changed.end(), made.begin(), made.end());
    }
    return changed;
}

RingBuilder tsc_ring(bool with_drops) {
    RingBuilder ring({.cpu_count = 2,
                      .segments_per_cpu = kSegments,
                      .clock = DBK_CLOCK_TSC,
                      .ticks_per_second = 1'000'000'000});
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                 {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 40000; i++) {
        ring.record(i & 1, epid, 1000 + 100 * i, RingBuilder::words({i}));
        if (with_drops && i % 7000 == 2000)
            ring.drop(0, DBK_DROP_PRINCIPAL, 3);
    }
    return ring;
}

} // namespace

TEST_CASE("a file known by runs reads as one in memory", "[trace][runs]") {
    bool columns = GENERATE(false, true), tsc = GENERATE(false, true), drops = GENERATE(false, true);
    CAPTURE(columns, tsc, drops);
    RingBuilder ring = tsc ? tsc_ring(drops) : test::sample_ring(20000, kSegments);
    Bytes file = large_file(ring, columns);
    Trace plain = read(file, {});
    CHECK(runs_in(plain) == 0);
    for (bool skim : {false, true}) {
        CAPTURE(skim);
        Trace runs = read(file, {.skim = skim, .segments_in_memory = 0});
        CHECK(runs_in(runs) > 4);
        check_same(runs.recording, plain.recording);
        CHECK(walk(runs) == 40000);
        CHECK(runs.recording.all_findings().count() == 0);
        CHECK(runs.file.blocks_good == plain.file.blocks_good);
        CHECK(runs.file.raw_data_bytes == plain.file.raw_data_bytes);
        CHECK(runs.file.has_end);
        CHECK(runs.symbols.find(0xffffffff81001001)->name == "do_thing");
    }
    Trace some = read(file, {.segments_in_memory = 100});
    CHECK(runs_in(some) > 1);
    check_same(some.recording, plain.recording);
}

TEST_CASE("who wants a part of a file reads neither its blocks nor their headers",
          "[trace][runs]") {
    /// Counts what is read.
    class Counting : public base::ByteSource {
    public:
        explicit Counting(const Bytes& bytes) : ByteSource(bytes.size()), bytes_(bytes) {}
        uint64_t reads = 0, bytes_read = 0;

    private:
        Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) override {
            size_t size = std::min<uint64_t>(out.size(), bytes_.size() - offset);
            std::memcpy(out.data(), bytes_.data() + offset, size);
            reads++;
            bytes_read += size;
            return size;
        }
        const Bytes& bytes_;
    };
    RingBuilder ring = test::sample_ring(200000, 4 * kSegments);
    Bytes file = test::sample_file(ring, {.block_raw_bytes = 8192, .index_pieces = 256});
    auto source = std::make_shared<Counting>(file);
    Trace trace = parse_trace(source, "x", {.skim = true}).value();
    size_t runs = runs_in(trace);
    CHECK(runs >= 10);
    CHECK(source->reads < 2 * runs + 30);
    CHECK(source->bytes_read < file.size() / 5);
    uint64_t before = source->bytes_read;
    const RingRecording& first = trace.recording.rings.at(0);
    const SegmentList& segments = first.cpus.at(0).segments;
    RecordView record;
    CHECK(records_of(segments[segments.size() / 2], first).next(record));
    CHECK(source->bytes_read - before < file.size() / runs * 4);
}

TEST_CASE("damage to a file known by runs is found as in one in memory", "[trace][runs]") {
    RingBuilder ring = test::sample_ring(20000, kSegments);
    Bytes good = large_file(ring, false);
    for (uint32_t seed = 1; seed <= 40; seed++) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        Bytes file = good;
        for (uint32_t i = 0; i <= seed % 3; i++)
            file[random() % file.size()] ^= std::byte{1};
        if (seed % 5 == 0)
            file.resize(file.size() / 4 + random() % (file.size() / 2));
        Trace plain = read(file, {}), runs = read(file, {.segments_in_memory = 0});
        check_same(runs.recording, plain.recording);
        CHECK(walk(runs) == walk(plain));
        CHECK(runs.recording.all_findings().list() == plain.recording.all_findings().list());
        Trace part = read(file, {.skim = true});
        if (walk(part) < 40000)
            CHECK(part.recording.all_findings().count() > 0);
    }
}

TEST_CASE("a damaged index block loses none of a part's segments", "[trace][runs]") {
    RingBuilder ring = test::sample_ring(20000, kSegments);
    for (bool columns : {false, true}) {
        const Bytes good = large_file(ring, columns);
        Findings findings;
        BlockScanner scanner(good, findings);
        size_t damaged = 0;
        for (BlockView block; scanner.next(block);) {
            if (block.header.type != DBK_TRACE_INDEX)
                continue;
            Bytes file = good;
            file[block.offset_bytes + sizeof(dbk_trace_block) + 5] ^= std::byte{1};
            Trace part = read(file, {.skim = true});
            CHECK(walk(part) == 40000);
            CHECK_FALSE(part.has_losses());
            Findings said = part.recording.all_findings();
            for (const Finding& finding : said.list())
                CHECK(finding.text ==
                      "its checksum does not hold; its segments were found without it");
            damaged += said.count() != 0;
        }
        CHECK(damaged >= 8);
    }
}

TEST_CASE("of two damaged blocks, one of the index, what is left is found", "[trace][runs]") {
    RingBuilder ring = test::sample_ring(20000, kSegments);
    const Bytes good = large_file(ring, false);
    Findings findings;
    BlockScanner scanner(good, findings);
    std::vector<uint64_t> indexes, blocks; // of data: all of the last index but one
    for (BlockView block; scanner.next(block);) {
        if (block.header.type == DBK_TRACE_INDEX)
            indexes.push_back(block.offset_bytes);
        if (has_pieces(block.header))
            blocks.push_back(block.offset_bytes);
    }
    const uint64_t last = indexes[indexes.size() - 2];
    Bytes file = good;
    file[last + sizeof(dbk_trace_block) + 5] ^= std::byte{1};
    SECTION("and a data block before it") {
        auto data = std::lower_bound(blocks.begin(), blocks.end(), last) - 1;
        file[*data + sizeof(dbk_trace_block) + 5] ^= std::byte{1};
        Trace part = read(file, {.skim = true}), whole = read(file, {});
        uint64_t in_part = walk(part), in_whole = walk(whole);
        CHECK(in_part == in_whole);
        CHECK(in_whole < 40000);
        CHECK(part.has_losses());
        Findings said = part.recording.all_findings();
        REQUIRE(said.count() == 2);
        CHECK_FALSE(finding_is_loss(said.list()[0].kind));
        CHECK(said.list()[1].text == "it cannot be read");
    }
    SECTION("and the header of a data block before it") {
        auto data = std::lower_bound(blocks.begin(), blocks.end(), last) - 1;
        file[*data + 4] ^= std::byte{1};
        Trace part = read(file, {.skim = true});
        CHECK(walk(part) < 40000);
        CHECK(part.has_losses());
    }
    SECTION("and the next one") {
        file[indexes.back() + sizeof(dbk_trace_block) + 5] ^= std::byte{1};
        Trace part = read(file, {.skim = true});
        CHECK(walk(part) == 40000);
    }
}

TEST_CASE("a table of contents that lies is found out", "[trace][runs]") {
    RingBuilder ring = test::sample_ring(20000, kSegments);
    Bytes file = large_file(ring, false);
    auto lost = [&](const std::function<void(TraceContents&)>& change) {
        Trace trace = read(with_contents(file, change), {.skim = true});
        uint64_t records = walk(trace);
        CHECK((records == 40000 || trace.has_losses()));
        return records;
    };
    CHECK(lost([](TraceContents&) {}) == 40000);
    SECTION("of what a run has") {
        CHECK(lost([](auto& all) { all.runs[5].run.first_sequence += 1000; }) < 40000);
        CHECK(lost([](auto& all) { all.runs[5].run.record_count++; }) < 40000);
        CHECK(lost([](auto& all) { all.runs[5].run.from++; }) < 40000);
        CHECK(lost([](auto& all) { all.runs[5].run.max_ticks++; }) < 40000);
        CHECK(lost([](auto& all) { all.runs[5].cpu ^= 1; }) < 40000);
        CHECK(lost([](auto& all) { all.runs[5].run.count = 1000; }) == 40000); // not used
    }
    SECTION("of where an index block is") {
        CHECK(lost([](auto& all) { all.groups[3].file_offset += 8; }) == 40000); // not used
        CHECK(lost([](auto& all) { all.groups[3].blocks = 0; }) < 40000);
    }
    SECTION("of what is not possible: it is not used") {
        CHECK(lost([](auto& all) { all.runs[5].run.count = 1u << 31; }) == 40000);
        CHECK(lost([](auto& all) { all.runs[5].run.first_sequence = UINT64_MAX; }) == 40000);
        CHECK(lost([](auto& all) { all.groups[3].runs++; }) == 40000);
        CHECK(lost([](auto& all) { all.groups[3].blocks = UINT32_MAX; }) == 40000);
        CHECK(lost([](auto& all) { std::swap(all.groups[3], all.groups[4]); }) == 40000);
    }
    SECTION("of the clock") {
        CHECK(lost([](auto& all) { all.pairs.push_back({1, {{5, UINT64_MAX}}}); }) == 40000);
    }
    SECTION("anything") {
        std::mt19937_64 random(7);
        for (int i = 0; i < 300; i++) {
            Bytes changed = with_contents(file, [&](TraceContents& all) {
                SegmentRun& run = all.runs[random() % all.runs.size()].run;
                uint64_t* fields[] = {&run.first_sequence, &run.records_before, &run.record_count,
                                      &run.min_ticks,      &run.max_ticks,      &run.last_ticks,
                                      &run.opened.ticks,   &run.last_mono_ns};
                *fields[random() % 8] = random() >> (random() % 64);
                if (random() % 4 == 0)
                    all.groups[random() % all.groups.size()].file_offset = random() % file.size();
                if (random() % 4 == 0)
                    all.other_offsets[random() % all.other_offsets.size()] = random() % file.size();
            });
            Trace trace = read(changed, {.skim = true});
            walk(trace);
        }
    }
}
