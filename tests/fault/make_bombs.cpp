// SPDX-License-Identifier: Apache-2.0
//
// make_bombs FOLDER: writes small hostile trace files, each with very many of one thing that a
// reader keeps in memory or unpacks.  tests/fault/bombs.py reads them.
#include "base/crc32c.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/symbol_coding.hpp"
#include "tests/support/file_row.hpp"
#include "tests/support/raw_message.hpp"
#include "tests/support/segment_builder.hpp"
#include "tests/unit/analyze/program_builder.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>

using namespace daybreak;
using namespace daybreak::formats;
using test::RingBuilder;

namespace {

constexpr uint32_t kMillion = 1'000'000;

std::string folder;

class BombFile {
public:
    explicit BombFile(const std::string& name, bool has_columns = false)
        : path_(folder + "/" + name + ".dbrk") {
        writer_ = TraceWriter::create(
                      [this](ByteView bytes) {
                          file_.insert(file_.end(), bytes.begin(), bytes.end());
                          return Result<void>();
                      },
                      test::row_header(RingBuilder(), 0), {.columns = has_columns})
                      .value();
        // After the blocks of the writer.
        Findings findings;
        BlockScanner scanner(file_, findings);
        for (BlockView block; scanner.next(block);)
            next_number_++;
    }
    ~BombFile() {
        DBK_ASSERT(writer_->flush().ok());
        test::write_bytes(path_, file_);
        std::printf("%s: %zu bytes\n", path_.c_str(), file_.size());
    }

    void add_memory(ByteView memory) {
        RecordingBuilder builder;
        std::vector<ByteView> pieces;
        builder.add_bytes(memory, {"memory"}, &pieces);
        for (ByteView piece : pieces)
            DBK_ASSERT(writer_->add_piece(piece).ok());
    }
    void add_ring(RingBuilder& ring) {
        add_memory(ring.metadata_memory());
        for (uint16_t cpu = 0; cpu < ring.options().cpu_count; cpu++)
            add_memory(ring.segment_memory(cpu));
    }
    void add_piece(ByteView piece) { DBK_ASSERT(writer_->add_piece(piece).ok()); }
    /// Returns where the block is, as an index has it.
    IndexBlock add_block(enum dbk_trace_type type, ByteView raw) {
        IndexBlock place{file_.size(), next_number_, {}};
        Bytes block = make_block(type, next_number_++, raw, 3);
        file_.insert(file_.end(), block.begin(), block.end());
        return place;
    }
    /// The same block so many times: only the number, and with it the header's checksum, differ.
    void add_blocks(enum dbk_trace_type type, ByteView raw, uint32_t count) {
        Bytes block = make_block(type, next_number_, raw, 3);
        dbk_trace_block header;
        std::memcpy(&header, block.data(), sizeof(header));
        for (uint32_t i = 0; i < count; i++) {
            header.number = next_number_++;
            header.header_crc32c =
                base::crc32c(std::as_bytes(std::span(&header, 1))
                                 .first(offsetof(dbk_trace_block, header_crc32c)));
            std::memcpy(block.data(), &header, sizeof(header));
            file_.insert(file_.end(), block.begin(), block.end());
        }
    }

private:
    std::string path_;
    Bytes file_;
    std::optional<TraceWriter> writer_;
    uint32_t next_number_ = 0;
};

/// A record with a kernel address, for which a reader asks for the symbols.
void add_address(BombFile& file) {
    test::ProgramBuilder program;
    program.trace(program.clause("p", "m", "f", "n"), test::Member::stack());
    test::RecordingOf recording(program);
    recording.fire(0, 1000, 0, {test::Frames{0xffffffff81000100}});
    for (const Bytes& memory : recording.pieces())
        file.add_memory(memory);
}

/// Calls `add` with a ring for each 10,000 of so many probes or EPIDs: a metadata block has room
/// for them.
void add_numbered(BombFile& file, uint32_t count, const std::function<void(RingBuilder&)>& add) {
    constexpr uint32_t kPart = 10'000;
    for (uint32_t before = 0; before < count; before += kPart) {
        RingBuilder ring({.segments_per_cpu = 0, .numbers_before = before});
        for (uint32_t i = 0; i < kPart; i++)
            add(ring);
        file.add_memory(ring.metadata_memory());
    }
}

void make_epids() {
    BombFile file("epids");
    add_numbered(file, kMillion, [](RingBuilder& ring) {
        ring.add_ecb(1, {RingBuilder::integer_field(8, 8)}, 16);
    });
}

void make_probes() {
    BombFile file("probes");
    add_numbered(file, kMillion, [](RingBuilder& ring) {
        ring.add_probe("provider", "module", "function_of_some_length", "entry");
    });
}

void make_fields() {
    BombFile file("fields");
    std::vector<dbk_meta_field> fields(4096, RingBuilder::integer_field(8, 8));
    for (uint32_t before = 0; before < 4000; before += 8) {
        RingBuilder ring({.segments_per_cpu = 0, .numbers_before = before});
        for (int i = 0; i < 8; i++)
            ring.add_ecb(1, fields, 16);
        file.add_memory(ring.metadata_memory());
    }
}

void make_rings() {
    BombFile file("rings");
    for (uint32_t id = 1; id < 65536; id++) {
        RingBuilder ring({.ring_id = static_cast<uint16_t>(id), .segments_per_cpu = 0});
        file.add_memory(ring.metadata_memory());
    }
}

void make_cpus() {
    BombFile file("cpus");
    for (uint16_t id = 1; id <= 122; id++) { // a million together
        RingBuilder ring({.ring_id = id, .cpu_count = 8192, .segments_per_cpu = 0});
        file.add_memory(ring.metadata_memory());
    }
}

/// So many segments of one record each; CPU after CPU, or in `is_shuffled` order of time.
void make_segments(const char* name, uint32_t count, uint16_t cpus, uint16_t rings,
                   bool is_shuffled) {
    BombFile file(name, cpus == 2);
    for (uint16_t id = 1; id <= rings; id++) {
        RingBuilder ring({.ring_id = id, .segments_per_cpu = 0});
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {}, 8);
        file.add_memory(ring.metadata_memory());
    }
    RingBuilder ring({.segments_per_cpu = 1});
    ring.record(0, 1, 1000, {});
    Bytes piece(ring.segment_memory(0).begin(),
                ring.segment_memory(0).begin() + DBK_SEGMENT_DATA_OFFSET + 8);
    for (uint32_t i = 0; i < count; i++) {
        dbk_segment_header header;
        std::memcpy(&header, piece.data(), sizeof(header));
        header.cpu = static_cast<uint16_t>(i % cpus);
        header.ring_id = static_cast<uint16_t>(1 + i / cpus % rings);
        header.sequence = 1 + i / cpus / rings;
        uint64_t place = is_shuffled ? header.cpu * uint64_t{kMillion} + header.sequence : i;
        header.base_ticks = header.base_mono_ns = 1000 + place;
        std::memcpy(piece.data(), &header, sizeof(header));
        file.add_piece(piece);
    }
}

/// The smallest records.
void make_records() {
    BombFile file("records");
    RingBuilder ring({.segment_bytes = 1u << 20, .segments_per_cpu = 64});
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {}, 8);
    for (uint32_t i = 0; i < 2 * kMillion; i++)
        ring.record(0, epid, 1000 + i, {});
    file.add_ring(ring);
}

/// Blocks that unpack to zeros: 6 GB.
void make_zeros(const char* name, enum dbk_trace_type type) {
    BombFile file(name);
    add_address(file);
    file.add_blocks(type, Bytes(DBK_TRACE_RAW_BYTES_MAX), 100);
}

void make_findings() {
    BombFile file("findings");
    std::vector<SkippedSegments> skipped;
    for (uint32_t i = 0; i < 50'000; i++)
        skipped.push_back({1, static_cast<uint16_t>(i % 8192), 1 + 2 * uint64_t{i},
                           1 + 2 * uint64_t{i}, SkipCause::overrun, 1});
    file.add_blocks(DBK_TRACE_SKIPPED, encode_skipped(skipped), 20);
}

/// Tables of symbols, each as large as a block takes.
void make_symbols() {
    BombFile file("symbols");
    add_address(file);
    for (uint64_t block = 0; block < 60; block++) {
        SymbolTable table;
        for (uint64_t i = 0; i < 40'000; i++)
            table.add(0xffffffff81000000 + (block * 40'000 + i) * 16, 'T',
                      "a_symbol_with_a_long_name_" + std::to_string(i), "vmlinux");
        table.finish();
        file.add_block(DBK_TRACE_SYMBOLS, encode_symbols(table, table.symbols()));
    }
}

/// A table of names, then stretches of one symbol each.
void make_small_symbols() {
    BombFile file("small-symbols");
    add_address(file);
    for (uint64_t block = 0; block < 30'030; block++) {
        SymbolTable table;
        for (uint64_t i = 0; i < (block < 30 ? kSortedSymbolsMax : 1); i++)
            table.add(0xffffffff81000000 + (block << 16 | i) * 16, 'T', "name_" + std::to_string(i),
                      "m");
        table.finish();
        file.add_block(DBK_TRACE_SORTED_SYMBOLS, *encode_sorted_symbols(table, table.symbols()));
    }
}

/// A table of shared symbols without end: names of modules, and additions.
void make_shared_symbols() {
    BombFile file("shared-symbols");
    SymbolTable table;
    for (uint64_t i = 0; i < kSortedSymbolsMax; i++)
        table.add(0xffffffff81000000 + i * 16, 'T', "name_" + std::to_string(i), "m");
    table.finish();
    SharedSymbols shared{{}, *encode_sorted_symbols(table, table.symbols())};
    for (uint64_t i = 0; i < kMillion / 2; i++)
        shared.modules.push_back({"module_" + std::to_string(i), i});
    file.add_blocks(DBK_TRACE_SHARED_SYMBOLS, encode_shared_symbols(shared), 20);
}

/// Stretches that a window left out, each with a hole before it; of files that are alone, and many
/// such blocks.
void make_windows() {
    BombFile file("windows");
    RingBuilder ring({.cpu_count = 2, .segments_per_cpu = 8});
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {}, 8);
    for (uint64_t i = 0; i < 1000; i++)
        ring.record(0, epid, 1000 + i, {});
    TraceWindow window{ring.options().boot_id, {1, UINT64_MAX - 1}, {}};
    for (uint64_t i = 0; i < kLeftOutMax; i++) {
        window.left_out.push_back({1, 0, 1000 + 2 * i, 1000 + 2 * i, UINT64_MAX / 2, UINT64_MAX});
        window.left_out.back().drops.assign(DBK_DROP_SLOTS, UINT64_MAX);
    }
    file.add_block(DBK_TRACE_WINDOW, encode_window(window));
    for (uint64_t i = 0; i < kMillion / 2; i++) // more than a file may have
        window.left_out.push_back({2, 0, 1 + 2 * i, 1 + 2 * i});
    file.add_blocks(DBK_TRACE_WINDOW, encode_window(window), 4);
    file.add_ring(ring);
}

/// Blocks of one segment, each with an index that says of it and of others that they have many: the
/// first as many blocks as it can, the rest many pieces.  A reader unpacks an index twice, when it
/// looks for the block and when it comes to the index: all of them together are not more than a
/// small file may unpack to.
void make_index() {
    BombFile file("index");
    RingBuilder ring({.segments_per_cpu = 1});
    ring.record(0, 1, 1000, {});
    Bytes segment = packed_piece(ring.segment_memory(0)).value();
    PieceHead piece{0, {}, SegmentCount{UINT64_MAX - 1, 1, 1, UINT64_MAX}};
    std::copy_n(segment.begin(), piece.head.size(), piece.head.begin());
    for (int i = 0; i < 50; i++) {
        TraceIndex index;
        index.blocks.push_back(file.add_block(DBK_TRACE_DATA, segment));
        if (i == 0)
            index.blocks.resize(27 * kMillion / 10, index.blocks[0]);
        else
            index.blocks[0].pieces.assign(6'000, piece);
        file.add_block(DBK_TRACE_INDEX, encode_index(index));
    }
}

/// Messages with lists of structs of no bytes, as many as a list can say that it has.
void make_empty_structs() {
    BombFile file("empty-structs");
    for (int i = 0; i < 1000; i++) {
        file.add_block(DBK_TRACE_SUMMARY, test::empty_structs({3, 3, 1}, (1u << 29) - 1, 4096));
        file.add_block(DBK_TRACE_SUMMARY, test::empty_structs({3, 3, 2}, (1u << 29) - 1, 4096));
        file.add_block(DBK_TRACE_INDEX, test::empty_structs({2, 8, 0}, (1u << 29) - 1, 4096));
        file.add_block(DBK_TRACE_INDEX, test::empty_structs({2, 8, 1}, (1u << 29) - 1, 4096));
    }
}

/// Messages with a million texts, which all are the same megabyte.
void make_far_pointers() {
    BombFile file("far-pointers");
    add_address(file);
    for (int i = 0; i < 5; i++) {
        file.add_block(DBK_TRACE_HEADER, test::far_pointers({0, 11, 8}, kMillion, 0, 1u << 20));
        file.add_block(DBK_TRACE_SYMBOLS, test::far_pointers({1, 5, 0}, kMillion, 0, 1u << 20));
        file.add_block(DBK_TRACE_SUMMARY, test::far_pointers({3, 3, 2}, kMillion / 3, 3, 1u << 20));
    }
}

/// Engine aggregation: as many keys as there is room for.
void make_aggregations() {
    BombFile file("aggregations");
    RingBuilder ring({.aggregate = DBK_AGGREGATE_ENGINE, .aggbuf_bytes = 1u << 20});
    ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    file.add_memory(ring.metadata_memory());
    Bytes entries;
    for (uint64_t i = 0; i < 1'600; i++) { // 64 KiB is what a buffer of RingBuilder has
        Bytes entry = RingBuilder::aggregation_entry(1, 0, RingBuilder::words({i}), {1});
        entries.insert(entries.end(), entry.begin(), entry.end());
    }
    for (uint16_t cpu = 0; cpu < 4096; cpu++)
        file.add_piece(ring.aggregation_buffer(cpu, 1, entries));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "make_bombs: usage: make_bombs FOLDER\n");
        return 2;
    }
    folder = argv[1];
    make_epids();
    make_probes();
    make_fields();
    make_rings();
    make_cpus();
    make_segments("segments", kMillion / 4, 2, 1, false);
    make_segments("segments-of-cpus", kMillion / 4, 8192, 1, false);
    make_segments("segments-shuffled", kMillion, 8192, 1, true);
    make_segments("segments-of-rings", kMillion / 4, 128, 1000, false);
    make_records();
    make_zeros("zeros", DBK_TRACE_DATA);
    make_zeros("zeros-of-columns", DBK_TRACE_COLUMNS);
    make_zeros("zeros-of-symbols", DBK_TRACE_SORTED_SYMBOLS);
    make_findings();
    make_symbols();
    make_small_symbols();
    make_shared_symbols();
    make_windows();
    make_index();
    make_empty_structs();
    make_far_pointers();
    make_aggregations();
}
