// SPDX-License-Identifier: Apache-2.0
//
// The trace store: what stays packed, what the index saves, and what it may not make a reader
// believe.
#include "formats/trace/block_store.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/reader.hpp"
#include "tests/unit/formats/trace/sample.hpp"
#include "tests/unit/formats/trace/version_2.hpp"

#include <catch2/catch.hpp>
#include <array>
#include <functional>

using namespace daybreak;
using namespace daybreak::formats;
using test::walk;

namespace {

constexpr uint32_t kSegments = 1024;

/// Blocks of a file, whole.
std::vector<std::pair<dbk_trace_block, Bytes>> blocks_of(ByteView file) {
    Findings findings;
    BlockScanner scanner(file, findings);
    std::vector<std::pair<dbk_trace_block, Bytes>> blocks;
    for (BlockView block; scanner.next(block);)
        blocks.emplace_back(block.header, unpack_block(block).value());
    return blocks;
}

/// A file whose pieces lie in blocks of rows: it can be taken apart and put together again.
Bytes in_rows(test::RingBuilder& ring, size_t block_raw_bytes = 8192) {
    return test::sample_file(ring, block_raw_bytes, /*columns=*/false);
}

/// The same file up to its index, which change(index) has changed; without an index when `change`
/// is null.
Bytes with_index(ByteView file, const std::function<void(TraceIndex&)>& change) {
    Bytes changed;
    uint32_t number = 0;
    for (auto& [header, raw] : blocks_of(file)) {
        bool after_index = header.type > DBK_TRACE_INDEX && header.type < DBK_TRACE_COLUMNS;
        if (after_index || (header.type == DBK_TRACE_INDEX && !change))
            continue;
        if (header.type == DBK_TRACE_INDEX) {
            TraceIndex index = decode_index(raw).value();
            change(index);
            raw = encode_index(index);
        }
        // At the level of the writer, so that each block stays where it was.
        int level = header.type == DBK_TRACE_DATA ? 1 : 3;
        Bytes block =
            make_block(static_cast<enum dbk_trace_type>(header.type), number++, raw, level);
        changed.insert(changed.end(), block.begin(), block.end());
    }
    return changed;
}

const BlockStore& store_of(const Trace& trace) {
    return dynamic_cast<const BlockStore&>(*trace.recording.stores.at(0));
}

PieceHead& piece(TraceIndex& index, size_t number) {
    for (IndexBlock& block : index.blocks)
        for (PieceHead& one : block.pieces)
            if (number-- == 0)
                return one;
    DBK_ASSERT(false);
}

} // namespace

TEST_CASE("an indexed file is known without unpacking its segments", "[trace][store]") {
    test::RingBuilder ring = test::sample_ring(20000, kSegments);
    bool columns = GENERATE(false, true);
    Bytes file = test::sample_file(ring, 8192, columns);
    Trace trace = parse_trace(file, "x").value();
    CHECK(store_of(trace).blocks_unpacked() <= 2); // what lies beside metadata is walked
    CHECK(trace.recording.findings.count() == 0);
    Trace plain = parse_trace(with_index(in_rows(ring), nullptr), "x").value();
    REQUIRE(trace.recording.rings.size() == 1);
    const auto &a = trace.recording.rings[0].cpus, &b = plain.recording.rings.at(0).cpus;
    REQUIRE(a.size() == b.size());
    for (size_t cpu = 0; cpu < a.size(); cpu++) {
        CHECK(a[cpu].completeness.present == 20000);
        CHECK(b[cpu].completeness.present == 20000);
        REQUIRE(a[cpu].segments.size() == b[cpu].segments.size());
        for (size_t i = 0; i < a[cpu].segments.size(); i++) {
            const SegmentInfo &one = a[cpu].segments[i], &other = b[cpu].segments[i];
            REQUIRE(one.record_count == other.record_count);
            REQUIRE(one.min_ticks == other.min_ticks);
            REQUIRE(one.last_ticks == other.last_ticks);
            REQUIRE(one.bytes.size() == other.bytes.size());
        }
    }
    CHECK(walk(trace) == 40000);
    CHECK(walk(plain) == 40000);
    CHECK(trace.recording.all_findings().count() == 0);
}

TEST_CASE("unpacked bytes at once do not grow with the file", "[trace][store]") {
    test::RingBuilder ring({.cpu_count = 2, .segment_bytes = 1u << 20, .segments_per_cpu = 40});
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                 {test::RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 40u << 16; i++)
        ring.record(i & 1, epid, 1000 + i, test::RingBuilder::words({i}));
    Bytes file = in_rows(ring, 256u << 10);
    bool indexed = GENERATE(true, false);
    Trace trace = parse_trace(indexed ? file : with_index(file, nullptr), "x").value();
    CHECK(trace.file.raw_data_bytes > 30u << 20);
    CHECK(walk(trace) == 40u << 16);
    CHECK(store_of(trace).resident_bytes_peak() <= BlockStore::kKeptBytes + (4u << 20));
    CHECK(trace.recording.findings.count() == (indexed ? 0 : 1)); // no end block
}

TEST_CASE("an index that lies about a segment is found out", "[trace][store]") {
    test::RingBuilder ring = test::sample_ring(2000, kSegments);
    Bytes file = in_rows(ring);
    SECTION("its losses") {
        file = with_index(file, [](TraceIndex& index) {
            piece(index, 5).head[offsetof(dbk_segment_losses, drops) + 64] = std::byte{9};
        });
        Trace trace = parse_trace(file, "x").value();
        CHECK(walk(trace) < 4000);
        REQUIRE(trace.recording.all_findings().count() > trace.recording.findings.count());
        CHECK(trace.recording.all_findings().list().back().text == "the index has another header");
        CHECK(trace.has_losses());
    }
    SECTION("its place") {
        file = with_index(file, [](TraceIndex& index) { piece(index, 5).offset_bytes += 8; });
        Trace trace = parse_trace(file, "x").value(); // does not fill its block: not used
        CHECK(walk(trace) == 4000);
    }
    SECTION("its number of bytes") {
        file = with_index(file, [](TraceIndex& index) {
            uint32_t bytes = 4096;
            std::memcpy(piece(index, 5).head.data() + 12, &bytes, sizeof(bytes));
        });
        CHECK(walk(parse_trace(file, "x").value()) == 4000);
    }
    SECTION("which ECBs its records are of") {
        using Epids = std::vector<uint32_t>;
        Epids epids = GENERATE(Epids{3, 2}, Epids{});
        file = with_index(file, [&](TraceIndex& index) { index.blocks.at(1).epids = epids; });
        Trace trace = parse_trace(file, "x").value(); // an order that cannot be: not used
        CHECK(walk(trace) == 4000);
        size_t unsaid = 0, all = 0;
        for (const CpuInfo& cpu : trace.recording.rings.at(0).cpus)
            for (const SegmentInfo& segment : cpu.segments) {
                unsaid += formats::may_have(segment, std::array<uint32_t, 1>{77});
                all++;
            }
        CHECK(unsaid > 0);
        CHECK((unsaid == all) == !epids.empty());
    }
    SECTION("nothing") {
        Trace trace = parse_trace(with_index(file, [](TraceIndex&) {}), "x").value();
        CHECK(walk(trace) == 4000);
        CHECK(trace.recording.all_findings().count() == 1); // no end block
    }
}

TEST_CASE("a block says which ECBs its records are of", "[trace][store]") {
    test::RingBuilder ring({.segments_per_cpu = 64});
    std::vector<uint32_t> epids;
    for (int probe = 0; probe < 257; probe++)
        epids.push_back(ring.add_ecb(ring.add_probe("p", "m", "f", std::to_string(probe)),
                                     {test::RingBuilder::integer_field(8, 8)}, 16));
    auto many = static_cast<uint64_t>(GENERATE(3, 256, 257));
    uint64_t now = 1000;
    for (uint64_t i = 0; i < 4000; i++)
        ring.record(0, epids[i / 2000 * 3 % many], now++, test::RingBuilder::words({i}));
    for (uint64_t i = 0; i < 4000; i++)
        ring.record(0, epids[i % many], now++, test::RingBuilder::words({i}));
    Bytes file = test::sample_file(ring);
    Trace trace = parse_trace(file, "x").value();
    const SegmentList& segments = trace.recording.rings.at(0).cpus.at(0).segments;
    auto may_have = [&](size_t segment, size_t probe) {
        return formats::may_have(segments[segment], std::span(&epids[probe], 1));
    };
    CHECK(may_have(8, 0));
    CHECK_FALSE(may_have(8, 1));
    CHECK_FALSE(may_have(8, 256));
    CHECK(may_have(segments.size() - 1, 1));
    CHECK(may_have(segments.size() - 1, 256) == (many == 257)); // too many to say
    CHECK(may_have(segments.size() - 1, 255) == (many != 3));
    CHECK_FALSE(formats::may_have(segments[8], {}));
    CHECK(walk(trace) == 8000);
}

TEST_CASE("a block with a segment that was not counted says nothing", "[trace][store]") {
    test::RingBuilder ring = test::sample_ring(100);
    PieceCounter counter;
    Bytes segments = ring.segment_memory(0);
    CHECK_FALSE(counter.take(segments)); // its ECBs were not seen
    Bytes metadata = ring.metadata_memory();
    RecordingBuilder builder;
    std::vector<ByteView> pieces;
    builder.add_bytes(metadata, {"metadata"}, &pieces);
    for (ByteView piece : pieces)
        CHECK_FALSE(counter.take(piece));
    CHECK(counter.take(segments));
    CHECK(counter.take_epids().empty());
    CHECK(counter.take(segments));
    CHECK(counter.take_epids().size() == 1);
}

TEST_CASE("a store keeps a bounded number of sets of EPIDs", "[trace][store]") {
    BlockStore store;
    auto source = base::memory_source(Bytes(64));
    auto set_of = [](uint32_t number) { return std::vector<uint32_t>{number + 1, number + 2}; };
    auto said = [&](uint32_t block) { return !store.may_have(block, {}); };
    auto sets = static_cast<uint32_t>(BlockStore::kEpidSets);
    for (uint32_t block = 0; block <= sets + 1; block++)
        store.tell_epids(store.add(source, "", {}, 0), set_of(block));
    CHECK(said(sets - 1));
    CHECK_FALSE(said(sets + 1));
    store.tell_epids(sets + 1, set_of(0)); // a set that is known
    CHECK(said(sets + 1));
}

TEST_CASE("a file that gets shorter while it is read is a finding", "[trace][store]") {
    class Shrinking : public base::ByteSource {
    public:
        explicit Shrinking(Bytes bytes) : ByteSource(bytes.size()), bytes_(std::move(bytes)) {}
        void shrink(size_t bytes) { bytes_.resize(bytes); }

    private:
        Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) override {
            size_t left = offset < bytes_.size() ? bytes_.size() - offset : 0;
            std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), std::min(left, out.size()),
                        out.begin());
            return std::min(left, out.size());
        }
        Bytes bytes_;
    };
    test::RingBuilder ring = test::sample_ring(20000, kSegments);
    Bytes file = in_rows(ring);
    auto source = std::make_shared<Shrinking>(file);
    Trace trace = parse_trace(source, "x").value();
    source->shrink(file.size() / 2);
    CHECK(walk(trace) < 40000);
    CHECK(trace.has_losses());
    CHECK(trace.recording.all_findings().count() > 0);
}

TEST_CASE("a file that is skimmed shows its damage where it is read", "[trace][store]") {
    test::RingBuilder ring = test::sample_ring(20000, kSegments);
    Bytes file = in_rows(ring);
    file[file.size() / 2] ^= std::byte{1};
    CHECK(parse_trace(base::memory_source(file), "x").value().file.blocks_lost == 1);
    Trace skimmed = parse_trace(base::memory_source(file), "x", {.skim = true}).value();
    CHECK(skimmed.file.blocks_lost == 0);
    CHECK(walk(skimmed) < 40000);
    CHECK(skimmed.recording.all_findings().list().at(0).text == "its checksum does not hold");
}

TEST_CASE("threads that unpack ahead change nothing of what is read", "[trace][store]") {
    test::RingBuilder ring = test::sample_ring(20000, kSegments);
    bool columns = GENERATE(false, true), damaged = GENERATE(false, true);
    Bytes file = test::sample_file(ring, 8192, columns);
    if (damaged)
        for (size_t at = file.size() / 8; at < file.size() / 2; at += file.size() / 8)
            file[at] ^= std::byte{1};
    Trace alone = parse_trace(base::memory_source(file), "x", {.skim = true}).value();
    uint64_t records = walk(alone);
    CHECK((records == 40000) == !damaged);
    for (unsigned jobs : {2u, 3u, 16u}) {
        CAPTURE(columns, damaged, jobs);
        Trace trace =
            parse_trace(base::memory_source(file), "x", {.skim = true, .jobs = jobs}).value();
        CHECK(walk(trace) == records);
        CHECK(walk(trace) == records); // from the beginning again
        CHECK(trace.recording.all_findings().list() == alone.recording.all_findings().list());
    }
    Trace unread = parse_trace(base::memory_source(file), "x", {.skim = true, .jobs = 4}).value();
    RecordView record;
    const RingRecording& first = unread.recording.rings.at(0);
    for (size_t i = 0; i < 9; i++) // and goes while blocks are under way
        records_of(first.cpus.at(0).segments.at(i), first).next(record);
}

TEST_CASE("blocks by columns and by rows in turn, unpacked ahead", "[trace][store]") {
    test::RingBuilder ring = test::sample_ring(20000, kSegments);
    Bytes file = test::sample_file(ring, 8192, true);
    std::vector<uint64_t> alone;
    for (unsigned jobs : {1u, 2u, 4u}) {
        Trace trace =
            parse_trace(base::memory_source(file), "x", {.skim = true, .jobs = jobs}).value();
        PieceStore& store = *trace.recording.stores.at(0);
        const RingRecording& first = trace.recording.rings.at(0);
        std::vector<uint64_t> found;
        size_t i = 0, by_columns = 0;
        for (const SegmentInfo& segment : first.cpus.at(0).segments) {
            RecordView record;
            if (i++ % 5 < 3) {
                auto columns = store.columns(segment.bytes.block()).value();
                by_columns += columns != nullptr;
                found.push_back(columns ? columns->record_count() : 0);
            } else if (records_of(segment, first).next(record)) {
                found.push_back(record.ticks);
            }
        }
        CHECK(by_columns > 10);
        if (jobs == 1)
            alone = found;
        CHECK(found == alone);
        CHECK(trace.recording.all_findings().list().empty());
    }
}

TEST_CASE("a file with blocks of version 2 is read", "[trace][store]") {
    test::RingBuilder ring = test::sample_ring(2000, kSegments);
    Bytes file = test::sample_file(ring, 8192, true), old;
    Findings findings;
    BlockScanner scanner(file, findings);
    BlockView block;
    size_t columns = 0;
    while (scanner.next(block)) {
        Bytes payload;
        if (block.header.type == DBK_TRACE_COLUMNS) {
            REQUIRE(PayloadUnpacker().unpack(block, PayloadPart::whole, payload).ok());
            payload =
                test::version_2_block(block.header.number, payload, block.header.rows_bytes);
            columns++;
        } else if (block.header.type != DBK_TRACE_INDEX && block.header.type != DBK_TRACE_SUMMARY &&
                   block.header.type != DBK_TRACE_END) {
            REQUIRE(PayloadUnpacker().unpack(block, PayloadPart::whole, payload).ok());
            payload = make_block(static_cast<enum dbk_trace_type>(block.header.type),
                                 block.header.number, payload, 3);
        }
        old.insert(old.end(), payload.begin(), payload.end());
    }
    REQUIRE(columns > 2);
    Trace today = parse_trace(base::memory_source(file), "x").value();
    Trace before = parse_trace(base::memory_source(old), "x").value();
    CHECK(before.file.blocks_lost == 0);
    CHECK(walk(before) == walk(today));
    auto by_columns = before.recording.stores.at(0)->columns(
        before.recording.rings.at(0).cpus.at(0).segments.at(0).bytes.block());
    REQUIRE(by_columns.ok());
    REQUIRE(*by_columns);
    CHECK((*by_columns)->record_count() > 0);
}

TEST_CASE("a block that cannot be read ahead is not missed when nothing is wanted of it",
          "[trace][store]") {
    /// Of which a range cannot be read.
    class Scratched : public base::ByteSource {
    public:
        explicit Scratched(Bytes bytes) : ByteSource(bytes.size()), bytes_(std::move(bytes)) {}
        void scratch(uint64_t from, uint64_t to) { from_ = from, to_ = to; }

    private:
        Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) override {
            if (offset < to_ && offset + out.size() > from_)
                return base::errorf(ErrorCode::io, "scratched");
            std::memcpy(out.data(), bytes_.data() + offset, out.size());
            return out.size();
        }
        Bytes bytes_;
        uint64_t from_ = 0, to_ = 0;
    };
    test::RingBuilder ring = test::sample_ring(20000, kSegments);
    auto source = std::make_shared<Scratched>(in_rows(ring));
    Trace trace = parse_trace(source, "x", {.skim = true, .jobs = 4}).value();
    uint64_t from = source->size() / 4;
    source->scratch(from, from + 5000);
    const RingRecording& first = trace.recording.rings.at(0);
    const auto& segments = first.cpus.at(0).segments;
    uint32_t wanted = 0, left_out = 0;
    for (size_t i = 0; i < segments.size(); i++) {
        // A good many in the middle of the file, around the scratch, are not wanted.
        if (i > segments.size() / 4 - 4 && i < segments.size() / 4 + 8) {
            left_out++;
            continue;
        }
        RecordView record;
        RecordCursor cursor = records_of(segments[i], first);
        wanted += cursor.next(record);
    }
    CHECK(left_out > 8);
    CHECK(wanted == segments.size() - left_out);
    CHECK(trace.recording.all_findings().count() == 0);
    CHECK_FALSE(source->failure());
}

TEST_CASE("symbols are unpacked when the first is asked for", "[trace][store][symbols]") {
    test::RingBuilder ring = test::sample_ring(100);
    Trace trace = parse_trace(test::sample_file(ring), "x").value();
    auto& symbols = dynamic_cast<BlockStore&>(*trace.recording.stores.at(1));
    CHECK_FALSE(trace.symbols.is_absent());
    CHECK(walk(trace) == 200);
    CHECK(symbols.blocks_unpacked() == 0);
    SymbolTable copy = trace.symbols;
    CHECK(trace.symbols.find(0xffffffff81001001)->name == "do_thing");
    CHECK(copy.symbols().size() == trace.symbols.symbols().size());
    CHECK(symbols.blocks_unpacked() == 1);
}

TEST_CASE("symbols that contradict themselves are a late finding", "[trace][store][symbols]") {
    test::RingBuilder ring = test::sample_ring(100);
    Bytes file;
    for (auto& [header, raw] : blocks_of(in_rows(ring))) {
        bool symbols = header.type == DBK_TRACE_SORTED_SYMBOLS;
        auto type = symbols ? DBK_TRACE_SYMBOLS : static_cast<enum dbk_trace_type>(header.type);
        if (symbols)
            raw = encode_end({1, 2}); // whole, and no symbols
        Bytes block = make_block(type, header.number, raw, 3);
        file.insert(file.end(), block.begin(), block.end());
    }
    Trace trace = parse_trace(file, "x").value();
    size_t before = trace.recording.all_findings().count();
    CHECK_FALSE(trace.symbols.find(0xffffffff81001001));
    CHECK(trace.symbols.empty());
    REQUIRE(trace.recording.all_findings().count() == before + 1);
    CHECK(trace.recording.all_findings().list().back().kind == FindingKind::bad_block);
    CHECK(trace.recording.all_findings().list().back().text ==
          "the message in the block is not a stretch of symbols");
    CHECK(trace.has_losses());
}
