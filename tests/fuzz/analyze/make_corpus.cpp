// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds of report_fuzz: records.ring and engine.ring, pieces without checksums so that
// mutations get past the first look, and records.dbrk, a whole trace file.
#include "base/file.hpp"
#include "formats/trace/writer.hpp"
#include "tests/unit/analyze/program_builder.hpp"

#include <cstdio>

using namespace daybreak;
using namespace daybreak::test;

namespace {

/// Every statement the analyzers know.
ProgramBuilder make_program() {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t all = program.clause("syscall", "vmlinux", "read", "entry");
    program.printf(all, "%5.3d %-*s %c\n",
                   {Member::integer(4), Member::integer(4), Member::text(), Member::integer(1)});
    program.trace(all, Member::integer(2));
    program.trace(all, Member::stack());
    program.trace(all, Member{DBK_FIELD_FIXED, 12});
    program.act(all, DTRACEACT_TRACEMEM, Member{DBK_FIELD_FIXED, 16}, 2);
    program.act(all, DTRACEACT_TRACEMEM, Member::integer(8), 4);
    program.act(all, DTRACEACT_SYM, Member::integer(8));
    program.aggregate(all, 1, {DTRACEAGG_QUANTIZE, 0}, {Member::text(), Member::stack()}, true);
    size_t more = program.clause("syscall", "vmlinux", "read", "return");
    program.aggregate(more, 2, {DTRACEAGG_LLQUANTIZE, 20ull << 48 | 3ull << 32 | 10}, {}, true);
    program.aggregate(more, 3, {DTRACEAGG_AVG, 0}, {Member::integer(4)});
    program.aggregate(more, 4, {DTRACEAGG_LQUANTIZE, 5ull << 48 | 9ull << 32},
                      {Member::integer(4)});
    size_t show = program.clause("profile", "", "", "tick-1");
    program.printa(show, {1, 2});
    program.printa(show, {3, 4}, "%d %@8d %@d\n");
    program.library(show, DT_ACT_NORMALIZE, {Member::integer(8), Member::integer(8)});
    program.library(show, DT_ACT_TRUNC, {Member::integer(8), Member::integer(4)});
    program.library(show, DT_ACT_CLEAR, {Member::integer(8)});
    program.library(show, DT_ACT_SETOPT, {Member::text(), Member::text()});
    program.act(show, DTRACEACT_EXIT, Member::integer(4));
    return program;
}

void fire_all(RecordingOf& recording) {
    for (uint64_t i = 0; i < 4; i++) {
        auto cpu = static_cast<uint16_t>(i % 2);
        recording.fire(cpu, 1000 + i * 100, 0,
                       {i, i + 5, "name", uint64_t{65}, i, Frames{0x1000 + i, 0x2000}, i, i,
                        uint64_t{9}, uint64_t{0x1008}, "key", Frames{0x1000}, i, uint64_t{3}});
        recording.fire(cpu, 1050 + i * 100, 1, {i * 10, uint64_t{2}, i, i * 7, i, i * 3});
        recording.fire(cpu, 1080 + i * 100, 2,
                       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{4}, uint64_t{3},
                        uint64_t{2}, uint64_t{3}, uint64_t{5}, uint64_t{4}, "aggsortkey", "yes",
                        uint64_t{0}});
    }
    recording.ring().drop(0, DBK_DROP_PRINCIPAL, 3);
    recording.ring().open_segment(0, 3000);
}

/// Returns the pieces that begin on pages of `memory`, cut to what is committed.
Bytes packed(const Bytes& memory) {
    Bytes result;
    for (size_t at = 0; at + 4096 <= memory.size(); at += 4096) {
        uint32_t magic, committed;
        std::memcpy(&magic, &memory[at], sizeof(magic));
        if (magic != DBK_SEGMENT_MAGIC && magic != DBK_META_MAGIC && magic != DBK_AGGBUF_MAGIC)
            continue;
        std::memcpy(&committed, &memory[at + 12], sizeof(committed));
        RingBuilder::append(result, &memory[at], (committed + 7) & ~7u);
    }
    return result;
}

bool write(const std::string& path, const Bytes& bytes) {
    auto file = base::OutputFile::create(path);
    return file.ok() && file->write(bytes).ok() && file->commit().ok();
}

Bytes packed(RecordingOf& recording) {
    Bytes all;
    for (const Bytes& memory : recording.pieces()) {
        Bytes pieces = packed(memory);
        all.insert(all.end(), pieces.begin(), pieces.end());
    }
    return all;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    std::string folder = std::string(argv[1]) + "/";
    ProgramBuilder program = make_program();
    RecordingOf records(program, {.cpu_count = 2, .segments_per_cpu = 2});
    fire_all(records);
    RecordingOf engine(program,
                       {.cpu_count = 2, .segments_per_cpu = 2, .aggregate = DBK_AGGREGATE_ENGINE});
    fire_all(engine);
    std::vector<uint64_t> cells(*program.aggregations[1].function.cell_count());
    program.aggregations[1].function.init(cells);
    engine.snapshot(0, 1, engine.entry(1, {uint64_t{7}, uint64_t{7}}, cells));

    std::vector<Bytes> memory = records.pieces();
    std::vector<formats::TraceRegion> regions;
    for (const Bytes& piece : memory)
        regions.push_back({piece, "memory"});
    auto file = formats::create_trace_file(folder + "records.dbrk", true);
    bool ok = file.ok() && formats::write_trace(*file, {}, regions, {}, {}).ok() && write(folder + "records.ring", packed(records)) &&
              write(folder + "engine.ring", packed(engine));
    if (!ok)
        std::fprintf(stderr, "make_corpus: cannot write to %s\n", folder.c_str());
    return ok ? 0 : 1;
}
