// SPDX-License-Identifier: Apache-2.0
//
// One recording in every form that it can have reads the same: report, info, completeness.
//
//     simulated machine --> memory | rows | columns | packed, at two levels, and back in rows
//                                 | known by runs of segments, whole, in windows, skimmed
//                       --> a crash dump --> extracted
//                       --> read live, look by look: what was read, put together
//
// DAYBREAK_ROUNDS recordings (40) of the seeds from DAYBREAK_SEED (1) on; tests/nightly has more.
#include "analyze/decode/time_span.hpp"
#include "analyze/info.hpp"
#include "analyze/live_report.hpp"
#include "analyze/report.hpp"
#include "engine/sim/sim_host.hpp"
#include "engine/sim/simulation.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/block_store.hpp"
#include "formats/trace/reader.hpp"
#include "recorder/extract.hpp"
#include "recorder/pack.hpp"
#include "tests/support/dump_writer.hpp"
#include "tests/support/sim_programs.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <random>

using namespace daybreak;
using namespace daybreak::test;

namespace {

constexpr size_t kDumpBytes = 16u << 20;

uint64_t of_environment(const char* name, uint64_t otherwise) {
    const char* given = std::getenv(name);
    return given ? std::strtoull(given, nullptr, 0) : otherwise;
}

/// What prints, what only aggregates, what faults; small buffers, so that records are overwritten
/// or dropped.
Bytes random_program(std::mt19937_64& random, bool in_engine) {
    test::ProgramBuilder b;
    uint64_t policies[] = {DBK_POLICY_SWITCH, DBK_POLICY_RING, DBK_POLICY_FILL};
    uint64_t policy = policies[random() % 3];
    b.option(DTRACEOPT_BUFPOLICY, policy);
    if (policy != DBK_POLICY_SWITCH)
        b.option(DTRACEOPT_BUFSIZE, uint64_t{4096} << (random() % 8));
    b.option(DBK_OPT_AGGREGATE, in_engine ? DBK_AGGREGATE_ENGINE : DBK_AGGREGATE_RECORD);
    b.clause("BEGIN", {b.trace(b.text("begin"))});
    b.clause("profile:::profile-997",
             {b.trace(b.variable(DIF_VAR_ID)), b.trace(b.string_variable(DIF_VAR_EXECNAME))});
    const uint32_t kinds[] = {DTRACEAGG_COUNT, DTRACEAGG_SUM, DTRACEAGG_QUANTIZE};
    for (uint64_t id = 1; id <= 1 + random() % 3; id++) {
        uint32_t kind = kinds[random() % 3];
        std::vector<size_t> keys;
        if (random() % 2)
            keys.push_back(b.string_variable(DIF_VAR_PROBENAME));
        auto value =
            kind == DTRACEAGG_COUNT ? std::nullopt : std::optional(b.constant(random() % 9));
        b.clause(random() % 2 ? "profile:::profile-211" : "profile:::tick-3ms",
                 b.aggregate(kind, id, keys, value));
    }
    if (random() % 2)
        b.clause("profile:::tick-50ms", {b.trace(b.division_by_zero())});
    b.clause("END", {b.trace(b.text("end"))});
    return b.dof();
}

/// Enough records for a table of contents: most aggregate, some print.
Bytes busy_program(std::mt19937_64& random) {
    test::ProgramBuilder b;
    b.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH);
    b.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_RECORD);
    for (uint64_t id = 1; id <= 8; id++)
        b.clause("profile:::profile-" + std::to_string(190 + 10 * id) + "us",
                 b.aggregate(DTRACEAGG_SUM, id, {b.string_variable(DIF_VAR_EXECNAME)},
                             b.constant(random() % 9)));
    if (random() % 2)
        b.clause("profile:::profile-997", {b.trace(b.variable(DIF_VAR_ID))});
    b.clause("profile:::tick-50ms", {b.trace(b.text("tick"))});
    return b.dof();
}

struct Machines {
    std::unique_ptr<sim::SimHost> host;
    std::unique_ptr<sim::Simulation> simulation;

    Machines(ByteView dof, uint64_t seed) {
        sim::BareHostConfig config;
        sim::SimFaults faults;
        config.cpu_count = 1 + seed % 3;
        config.seed = seed;
        if (seed % 4 == 0)
            faults.nest_every = 50;
        auto made = sim::SimHost::create(config, faults);
        REQUIRE(made.ok());
        host = std::move(*made);
        sim::SimulationOptions options;
        options.time_limit_ns = sim::kNsPerSecond / 2;
        auto loaded = sim::Simulation::load(*host, dof, options);
        INFO((loaded.ok() ? "" : loaded.error().message()));
        REQUIRE(loaded.ok());
        simulation = std::move(*loaded);
    }
};

/// A machine's memory with all that the recording has, each piece at an address
/// that it says is its own; metadata without a checksum.
Bytes dump_of(const formats::Recording& recording) {
    Machine machine(kDumpBytes);
    size_t at = 0;
    auto place = [&](ByteView piece) {
        Bytes room(piece.begin(), piece.end());
        room.resize((std::max(piece_room(piece), piece.size()) + kPage - 1) / kPage * kPage);
        auto parsed = formats::parse_piece(room);
        REQUIRE(parsed.ok());
        uint64_t address = at;
        auto put = [&](size_t offset, ByteView bytes) {
            std::copy(bytes.begin(), bytes.end(), room.begin() + static_cast<ptrdiff_t>(offset));
        };
        if (parsed->kind == formats::PieceKind::metadata) {
            put(offsetof(dbk_meta_header, phys_addr), std::as_bytes(std::span(&address, 1)));
            put(offsetof(dbk_meta_header, checksum), Bytes(sizeof(dbk_meta_header::checksum)));
        } else {
            put(offsetof(dbk_segment_header, phys_addr), std::as_bytes(std::span(&address, 1)));
            uint32_t crc = formats::segment_checksum(ByteView(room).first(parsed->committed_bytes));
            put(offsetof(dbk_segment_header, crc32c), std::as_bytes(std::span(&crc, 1)));
        }
        REQUIRE(at + room.size() <= kDumpBytes);
        machine.put(at, room);
        at += room.size();
    };
    for (ByteView block : recording.metadata)
        place(block);
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            for (const formats::SegmentInfo& segment : cpu.segments)
                place(segment.bytes.load()->bytes);
    return elf_dump(machine);
}

struct Read {
    std::string report, info, verdict;
    std::string file_info; // but for the line with its name and size
    std::vector<std::string> messages;
    int status = 0;
};

Read read(const formats::Recording& recording) {
    Read read;
    analyze::StringSink report, info;
    analyze::Report result = analyze::render_report(recording, {}, report);
    read.report = report.text;
    for (const analyze::Message& message : report.messages)
        read.messages.push_back(message.tag + message.text + message.detail);
    read.status = result.status();
    read.verdict = result.completeness.verdict();
    analyze::print_info(recording, info);
    read.info = info.text;
    return read;
}

formats::Result<formats::Trace> read_trace(const std::string& path,
                                           const formats::ReadOptions& options) {
    return formats::read_traces(std::span(&path, 1), options);
}

Read read_file(const std::string& path, const formats::ReadOptions& options = {}) {
    auto trace = read_trace(path, options);
    INFO(path << (trace.ok() ? "" : trace.error().message()));
    REQUIRE(trace.ok());
    Read found = read(trace->recording);
    analyze::StringSink info;
    analyze::print_info(*trace, info);
    REQUIRE(info.text.starts_with("trace "));
    found.file_info = info.text.substr(info.text.find('\n'));
    return found;
}

void check_same(const char* form, const Read& got, const Read& expected) {
    CAPTURE(form);
    CHECK(got.report == expected.report);
    CHECK(got.messages == expected.messages);
    CHECK(got.info == expected.info);
    CHECK(got.verdict == expected.verdict);
    CHECK(got.status == expected.status);
}

/// What a window of a file prints, and what it says is missing.
Read read_window(const std::string& path, const analyze::TimeWindow& window,
                 const formats::ReadOptions& options) {
    auto trace = read_trace(path, options);
    REQUIRE(trace.ok());
    Read read;
    analyze::StringSink report, info;
    analyze::ReportOptions asked;
    asked.window = window;
    analyze::Report result = analyze::render_report(trace->recording, asked, report);
    read.report = report.text;
    read.status = result.status();
    read.verdict = result.completeness.verdict();
    analyze::print_info(trace->recording, info, {.log_lines = {}, .window = window, .probes = {}});
    read.info = info.text;
    return read;
}

/// Whether who skims the file knows any segment by a run.
bool has_runs(const std::string& path) {
    auto trace = read_trace(path, {.skim = true});
    for (const formats::RingRecording& ring : trace->recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            for (const formats::SegmentList::Part& part : cpu.segments.parts())
                if (part.is_run())
                    return true;
    return false;
}

/// As one of 10 GB is read: segments are known by runs, and who wants a part finds it by the table
/// of contents.
void check_runs(const std::string& plain, const std::string& path, const Read& expected,
                std::mt19937_64& random) {
    check_same("runs", read_file(path, {.segments_in_memory = 0}), expected);
    analyze::TimeSpan span = analyze::span_of(read_trace(plain, {})->recording);
    if (span.empty())
        return;
    uint64_t span_ns = span.last_mono_ns - span.first_mono_ns + 1;
    for (int i = 0; i < 4; i++) {
        uint64_t since = span.first_mono_ns + random() % span_ns;
        analyze::TimeWindow window{since, since + random() % span_ns / (1 + random() % 20)};
        CAPTURE(*window.since_mono_ns, *window.until_mono_ns);
        Read whole = read_window(plain, window, {});
        check_same("window", read_window(path, window, {.segments_in_memory = 0}), whole);
        check_same("window, skimmed", read_window(path, window, {.skim = true}), whole);
    }
}

/// Who skims a file of which an index block is damaged prints all that is there, or says that
/// something is missing.
void check_damaged_index(const std::string& path, const Read& expected) {
    Bytes good = base::read_file(path).value();
    formats::Findings findings;
    formats::BlockScanner scanner{ByteView(good), findings};
    std::vector<uint64_t> indexes;
    for (formats::BlockView block; scanner.next(block);)
        if (block.header.type == DBK_TRACE_INDEX)
            indexes.push_back(block.offset_bytes);
    REQUIRE(indexes.size() > 2);
    for (size_t in_block : {size_t{9}, sizeof(dbk_trace_block) + 9}) { // its header, its payload
        Bytes bytes = good;
        bytes[indexes[indexes.size() / 2] + in_block] ^= std::byte{1};
        std::string damaged = path + ".damaged";
        std::ofstream(damaged, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        Read found = read_window(damaged, {0, UINT64_MAX}, {.skim = true});
        CAPTURE(in_block, found.verdict);
        CHECK((found.report == expected.report || found.status == analyze::kStatusLosses));
        CHECK((in_block != 9 || found.report == expected.report));
    }
}

/// What a live report prints, and what its looks at the ring read in all.
struct Live {
    std::string report;
    formats::Recording all;
};

Live read_live(ByteView dof, uint64_t seed) {
    Machines machines(dof, seed);
    analyze::StringSink sink;
    analyze::LiveReport live({}, sink);
    formats::RecordingBuilder builder;
    auto look = [&] {
        formats::RingPieces pieces = machines.simulation->poll();
        for (const auto* group : {&pieces.metadata, &pieces.segments, &pieces.aggregations})
            for (const Bytes& piece : *group)
                builder.add_owned(Bytes(piece), {.origin = "live"});
        live.add(std::move(pieces), sim::Simulation::kAll);
    };
    REQUIRE(machines.simulation->start().ok());
    sim::SimEnd end;
    for (int firing = 0; machines.simulation->step(end); firing++)
        if (firing % 40 == 0)
            look();
    machines.simulation->finish();
    look();
    live.newline();
    live.end();
    return {sink.text, builder.build()};
}

/// A report of each probe alone unpacks what has records of it, and prints the same.  Returns how
/// many blocks fewer one unpacked than another.
uint64_t check_probes(const formats::Recording& memory, const std::string& path) {
    uint64_t unpacked_max = 0, unpacked_min = UINT64_MAX;
    auto report_of = [](const formats::Recording& recording, const analyze::WantedProbes& probes) {
        analyze::StringSink report, info;
        analyze::ReportOptions asked;
        asked.probes = probes;
        analyze::Report result = analyze::render_report(recording, asked, report);
        analyze::print_info(recording, info, {.log_lines = {}, .window = {}, .probes = probes});
        return Read{report.text, info.text, result.completeness.verdict(), {}, {}, result.status()};
    };
    auto blocks_unpacked = [](const formats::Recording& recording) {
        return dynamic_cast<const formats::BlockStore&>(*recording.stores.at(0)).blocks_unpacked();
    };
    for (const auto& [id, probe] : memory.rings.at(0).probes) {
        analyze::WantedProbes probes(probe.name);
        probes.add(memory.rings[0].ring_id, id);
        auto trace = read_trace(path, {.skim = true});
        CAPTURE(probe.name);
        check_same("one probe", report_of(trace->recording, probes), report_of(memory, probes));
        uint64_t unpacked = blocks_unpacked(trace->recording);
        unpacked_max = std::max(unpacked_max, unpacked);
        unpacked_min = std::min(unpacked_min, unpacked);
    }
    return unpacked_max - unpacked_min;
}

} // namespace

TEST_CASE("one recording reads the same in every form", "[prop][forms]") {
    const uint64_t first = of_environment("DAYBREAK_SEED", 1);
    const uint64_t rounds = of_environment("DAYBREAK_ROUNDS", 40);
    int with_drops = 0;
    for (uint64_t seed = first; seed < first + rounds; seed++) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        bool in_engine = seed % 3 == 0;
        Bytes dof = random_program(random, in_engine);
        Machines machines(dof, seed);
        REQUIRE(machines.simulation->run().ok());
        formats::Recording memory = machines.simulation->recording();
        Read expected = read(memory);
        with_drops += expected.verdict.starts_with("not complete");
        REQUIRE(expected.report.size() > 100);

        TempFolder folder;
        auto file = [&](const char* name) { return (folder.path / name).string(); };
        for (bool columns : {false, true}) {
            std::string path = file(columns ? "columns" : "rows");
            auto output = formats::create_trace_file(path, false);
            REQUIRE(output.ok());
            REQUIRE(machines.simulation->write_trace_file(*output, {}, {.columns = columns}).ok());
            check_same(columns ? "columns" : "rows", read_file(path), expected);
        }
        const std::string file_info = read_file(file("rows")).file_info;
        CHECK(read_file(file("columns")).file_info == file_info);
        auto pack = [&](const char* from, const char* to, bool columns, int level) {
            recorder::PackOptions options;
            options.output_path = file(to);
            options.writer.columns = columns;
            options.writer.zstd_level = options.writer.rows_level = level;
            REQUIRE(recorder::pack(file(from), options).ok());
            Read packed = read_file(file(to));
            check_same(to, packed, expected);
            CHECK(packed.file_info == file_info);
        };
        pack("rows", "packed", true, 3);
        pack("columns", "packed at level 19", true, 19);
        pack("packed", "rows again", false, 1);
        if (!in_engine) { // what the engine counted was taken from the machine's memory
            recorder::ExtractOptions options;
            options.output_path = file("extracted");
            auto extracted = recorder::extract(*formats::memory_input(dump_of(memory)), options);
            INFO((extracted.ok() ? "" : extracted.error().message()));
            REQUIRE(extracted.ok());
            check_same("dump", read_file(options.output_path), expected);
        }
        Live live = read_live(dof, seed);
        if (seed % 4 != 0) // where live says drops depends on when it looks
            CHECK(live.report == expected.report);
        Read found = read(live.all);
        if (in_engine) { // what was counted is one, in snapshots of the reader's looks
            CHECK(found.report == expected.report);
            CHECK(found.verdict == expected.verdict);
        } else {
            check_same("live", found, expected);
        }
    }
    CHECK((with_drops > 0 || rounds < 40));
}

TEST_CASE("a large recording reads the same by runs, in windows, skimmed", "[prop][forms]") {
    const uint64_t first = of_environment("DAYBREAK_SEED", 1);
    int with_runs = 0;
    for (uint64_t seed = first; seed < first + 6; seed++) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        Machines machines(busy_program(random), seed);
        REQUIRE(machines.simulation->run().ok());
        Read expected = read(machines.simulation->recording());
        TempFolder folder;
        auto file = [&](const char* name) { return (folder.path / name).string(); };
        auto write = [&](const char* name, const formats::TraceWriterOptions& options) {
            auto output = formats::create_trace_file(file(name), false);
            REQUIRE(output.ok());
            REQUIRE(machines.simulation->write_trace_file(*output, {}, options).ok());
        };
        write("plain", {});
        for (bool columns : {false, true}) {
            const char* name = columns ? "columns" : "rows";
            write(name, {.block_raw_bytes = 32u << 10, .columns = columns, .index_pieces = 4});
            if (!has_runs(file(name)))
                continue; // something was dropped in every stretch
            with_runs++;
            check_runs(file("plain"), file(name), expected, random);
            // Packed, the same blocks lie elsewhere: the table is made anew.
            recorder::PackOptions pack;
            pack.output_path = file(name) + ".packed";
            pack.writer = {.zstd_level = 9, .columns = !columns, .index_pieces = 4};
            auto packed = recorder::pack(file(name), pack);
            INFO((packed.ok() ? "" : packed.error().message()));
            REQUIRE(packed.ok());
            REQUIRE(has_runs(pack.output_path));
            check_runs(file("plain"), pack.output_path, expected, random);
            check_damaged_index(file(name), expected);
            CHECK(check_probes(machines.simulation->recording(), file(name)) > 0);
        }
    }
    CHECK(with_runs >= 8); // of 12
}
