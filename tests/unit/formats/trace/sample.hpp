// SPDX-License-Identifier: Apache-2.0
//
// A small recording and its trace file, for the tests of this folder and the fuzz seeds.
#pragma once

#include "base/padded.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"
#include "tests/support/segment_builder.hpp"

namespace daybreak::test {

inline formats::TraceHeader sample_header() {
    formats::TraceHeader header;
    header.tool_version = "0.1";
    header.origin = formats::TraceOrigin::simulator;
    header.clocks = {1, 2, 3};
    header.boot_uuid[0] = 0x88;
    header.hostname = "box";
    header.release = "6.1.0-test";
    header.version = "#1 SMP";
    header.machine = "x86_64";
    header.command_line = "quiet rdinit=/daybreak-init";
    header.cpus_online = 2;
    header.memory_bytes = 1u << 30;
    header.d_files = {"boot.d", "more.d"};
    header.modules = {{"ext4", 0xffffffffc0100000, 0x40000, base::Bytes(20, std::byte{5})},
                      {"jbd2", 0, 0x8000, {}}};
    header.boot_units.default_target = "graphical.target";
    header.boot_units.units = {{"multi-user.target", 9'000'000, 9'000'000, {1, 2}},
                               {"ssh@1.service", 4'000'000, 8'000'000, {2}},
                               {"system-a\\x2db.slice", 1'000'000, 0, {}}};
    return header;
}

inline formats::SymbolTable sample_symbols() {
    formats::SymbolTable symbols;
    symbols.add(0xffffffff81000000, 'T', "_text", "vmlinux");
    symbols.add(0xffffffff81000000, 'T', "_stext", "vmlinux");
    symbols.add(0xffffffff81001000, 't', "do_thing", "vmlinux");
    symbols.add(0xffffffffc0100040, 't', "ext4_thing", "ext4");
    symbols.add(0, 'A', "fixed_percpu_data", "vmlinux");
    symbols.finish();
    return symbols;
}

/// A ring of two CPUs with `count` records on each.
inline RingBuilder sample_ring(uint64_t count, uint32_t segments_per_cpu = 16) {
    RingBuilder ring({.cpu_count = 2, .segments_per_cpu = segments_per_cpu, .name = "sample"});
    uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
    uint32_t fixed = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    uint32_t text = ring.add_ecb(probe, {RingBuilder::tail_field(12, DBK_FIELD_STRING)}, 16,
                                 DBK_ECB_F_VARIABLE);
    ring.add_dof(base::Bytes(300, std::byte{0x7f}));
    for (uint64_t i = 0; i < count; i++) {
        ring.record(0, fixed, 1000 + 10 * i, RingBuilder::words({i * 2654435761u}));
        ring.record(1, text, 1005 + 10 * i, RingBuilder::tail_body(base::as_bytes("some text")));
    }
    return ring;
}

/// The trace file of a ring.
inline base::Bytes sample_file(RingBuilder& ring, const formats::TraceWriterOptions& options) {
    base::Bytes file;
    auto sink = [&](base::ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return base::Result<void>();
    };
    formats::RecordingBuilder builder;
    std::vector<base::ByteView> pieces;
    base::Bytes metadata = ring.metadata_memory();
    builder.add_bytes(metadata, {"metadata"}, &pieces);
    for (uint16_t cpu = 0; cpu < ring.options().cpu_count; cpu++)
        builder.add_bytes(ring.segment_memory(cpu), {"ring"}, &pieces);
    auto writer = formats::TraceWriter::create(sink, sample_header(), options).value();
    for (base::ByteView piece : pieces)
        DBK_ASSERT(writer.add_piece(piece).ok());
    DBK_ASSERT(writer.add_symbols(sample_symbols()).ok());
    DBK_ASSERT(writer.finish(formats::summary_of(builder.build())).ok());
    DBK_ASSERT(writer.bytes_written() == file.size());
    return file;
}

/// The same in blocks of at most `block_raw_bytes`.
inline base::Bytes sample_file(RingBuilder& ring, size_t block_raw_bytes = 8192,
                               bool columns = true) {
    return sample_file(ring, {.block_raw_bytes = block_raw_bytes, .columns = columns});
}

/// A table of contents with numbers near their limits.
inline formats::TraceContents sample_contents() {
    formats::TraceContents contents{7, 1u << 20, {{4096, 3, 2}, {8192, 1, 0}}, {}, {0, 512}, {}};
    formats::SegmentRun run;
    run.count = 2;
    run.first_sequence = UINT64_MAX - 3;
    run.records_before = UINT64_MAX - 20;
    run.record_count = 10;
    run.opened = {100, 200};
    run.last_mono_ns = 300;
    run.min_ticks = 90;
    run.max_ticks = run.last_ticks = 400;
    contents.runs = {{1, 0, run}, {1, 1, run}};
    contents.pairs = {{1, {{100, 200}, {150, 300}}}, {2, {{5, 6}}}};
    return contents;
}

/// Walks all records; returns how many there were: what cannot be read is not counted.
inline uint64_t walk(const formats::Trace& trace) {
    uint64_t records = 0;
    for (const formats::RingRecording& ring : trace.recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            for (const formats::SegmentInfo& segment : cpu.segments) {
                formats::RecordCursor cursor = formats::records_of(segment, ring);
                for (formats::RecordView record; cursor.next(record);)
                    records++;
            }
    return records;
}

/// What the file's index blocks say of its data blocks.
inline std::vector<formats::IndexBlock> index_of(base::ByteView file) {
    std::vector<formats::IndexBlock> blocks;
    formats::Findings findings;
    formats::BlockScanner scanner(file, findings);
    for (formats::BlockView block; scanner.next(block);)
        if (block.header.type == DBK_TRACE_INDEX) {
            auto index = formats::decode_index(formats::unpack_block(block).value()).value();
            blocks.insert(blocks.end(), index.blocks.begin(), index.blocks.end());
        }
    return blocks;
}

/// The pieces of a block of rows, each from where it is to the end of the block.
inline std::vector<base::ByteView> pieces_of(base::ByteView rows) {
    std::vector<base::ByteView> pieces;
    while (!rows.empty()) {
        pieces.push_back(rows);
        size_t bytes = formats::parse_piece(rows).value().committed_bytes;
        rows = rows.subspan(base::padded_to_8(bytes));
    }
    return pieces;
}

} // namespace daybreak::test
