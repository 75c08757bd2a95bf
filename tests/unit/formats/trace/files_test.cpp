// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "tests/support/file_row.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using test::FileRow;
using test::RingBuilder;
using test::TemporaryFolder;

namespace {

/// A running ring of two CPUs, 4 segments each.
struct Running {
    TemporaryFolder folder;
    RingBuilder ring;
    uint32_t epid;
    FileRow row;
    uint64_t ticks = 1000;

    explicit Running(uint64_t boot_id = 0x1122334455667788, uint32_t aggregate = 0)
        : ring({.cpu_count = 2,
                .aggregate = aggregate,
                .activity = DBK_ACTIVITY_ACTIVE,
                .boot_id = boot_id}),
          epid(ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)},
                            16)),
          row(folder.path, ring) {}

    /// About 248 records fill a segment.
    void records(int count) {
        for (int i = 0; i < count; i++, ticks += 10)
            for (uint16_t cpu = 0; cpu < 2; cpu++)
                ring.record(cpu, epid, ticks + cpu, RingBuilder::words({ticks}));
    }
    /// Eight files, each with two whole segments and parts of two.
    void eight_files() {
        for (int i = 0; i < 8; i++) {
            records(600);
            row.write();
        }
    }
    Trace read(const std::vector<std::string>& paths) const { return read_traces(paths).value(); }
    Trace read() const { return read({folder.path}); }
    void remove(uint32_t number) const { std::filesystem::remove(row.path(number)); }
};

Completeness sum_of(const Trace& trace) {
    return trace.recording.rings.at(0).completeness();
}

bool has_finding(const Trace& trace, FindingKind kind, const std::string& where) {
    for (const Finding& finding : trace.recording.findings.list())
        if (finding.kind == kind && finding.where.find(where) != std::string::npos)
            return true;
    return false;
}

} // namespace

TEST_CASE("a series of files is one recording, each record once", "[trace][files]") {
    Running r;
    r.eight_files();
    Trace trace = r.read();
    CHECK(trace.files.size() == 8);
    CHECK(trace.files[3].header.file_number == 4);
    CHECK(trace.boots.size() == 1);
    CHECK(trace.boots[0].name == "88776655-4433-2211");
    Completeness sum = sum_of(trace);
    CHECK(sum.present == 9600);
    CHECK(sum.committed == 9600);
    CHECK(sum.overwritten == 0);
    CHECK_FALSE(trace.has_losses());
    CHECK(trace.recording.findings.count() == 0);
    // The order of the paths does not matter, nor does a file named twice.
    std::vector<std::string> paths = {r.row.path(8), r.folder.path, r.row.path(8)};
    for (uint32_t number = 7; number > 0; number--)
        paths.push_back(r.row.path(number));
    CHECK(sum_of(r.read(paths)).present == 9600);
    CHECK(r.read(paths).files.size() == 8);
}

TEST_CASE("what lies in files that are not here was rotated away", "[trace][files]") {
    Running r;
    r.eight_files();
    SECTION("the oldest") {
        r.remove(1);
        r.remove(2);
        Completeness sum = sum_of(r.read());
        CHECK(sum.rotated > 1500);
        CHECK(sum.present + sum.rotated == 9600);
        CHECK_FALSE(r.read().has_losses());
        CHECK(r.read().recording.has_rotated());
    }
    SECTION("some in the middle, around one that was kept") {
        r.remove(3);
        r.remove(5);
        r.remove(6);
        std::filesystem::rename(r.row.path(4), r.folder.path + "/88776655-000004+oops.dbrk");
        Completeness sum = sum_of(r.read());
        CHECK(sum.rotated > 2000);
        CHECK(sum.present + sum.rotated == 9600);
        CHECK_FALSE(r.read().has_losses());
    }
    SECTION("all but one") {
        Trace trace = r.read({r.row.path(5)});
        Completeness sum = sum_of(trace);
        CHECK(sum.present >= 1200);
        CHECK(sum.present + sum.rotated == 6000);
        CHECK_FALSE(trace.has_losses());
    }
    SECTION("the newest are not distinguished from what was not copied") {
        r.remove(8);
        Completeness sum = sum_of(r.read());
        CHECK(sum.present == 8400);
        CHECK_FALSE(r.read().has_losses());
    }
}

TEST_CASE("what is missing between files that are here is lost", "[trace][files]") {
    Running r;
    SECTION("the recorder came too late") {
        r.records(600);
        r.row.write();
        r.records(5000);
        r.row.write();
        r.records(100);
        r.row.write();
        Trace trace = r.read();
        CHECK(trace.has_losses());
        CHECK(has_finding(trace, FindingKind::missing_segment, "ring 1 cpu 1"));
        Completeness sum = sum_of(trace);
        CHECK(sum.lost > 5000);
        CHECK(sum.present + sum.lost == sum.committed);
    }
    SECTION("before the first file lies what the ring had overwritten") {
        r.records(5000);
        r.row.write();
        r.records(600);
        r.row.write();
        Completeness sum = sum_of(r.read());
        CHECK(sum.overwritten > 5000);
        CHECK(sum.lost == 0);
        CHECK_FALSE(r.read().has_losses());
    }
    SECTION("a file among them is damaged") {
        r.eight_files();
        Bytes bytes = base::read_file(r.row.path(4)).value();
        Findings ignored;
        BlockScanner scanner{ByteView(bytes), ignored};
        uint64_t pieces_at = 0;
        for (BlockView block; scanner.next(block);)
            if (has_pieces(block.header))
                pieces_at = block.offset_bytes;
        bytes[pieces_at + sizeof(dbk_trace_block) + 8] ^= std::byte{1};
        test::write_bytes(r.row.path(4), bytes);
        Trace trace = r.read();
        CHECK(trace.has_losses());
        CHECK(has_finding(trace, FindingKind::bad_block, "88776655-000004.dbrk: block"));
        CHECK(trace.file.blocks_lost == 1);
        Completeness sum = sum_of(trace);
        CHECK(sum.lost > 0);
        CHECK(sum.present + sum.lost == 9600);
    }
}

TEST_CASE("a file of a row that has no end is not a loss by itself", "[trace][files]") {
    Running r;
    r.records(600);
    r.row.write();
    r.records(300);
    r.row.write({}, false);
    Trace trace = r.read();
    CHECK(has_finding(trace, FindingKind::unfinished, "000002.dbrk"));
    CHECK_FALSE(trace.has_losses());
    CHECK_FALSE(trace.file.has_end);
    // Cut anywhere, nothing that another file has is missing.
    Bytes whole = base::read_file(r.row.path(2)).value();
    for (size_t length = 0; length < whole.size(); length += 97) {
        test::write_bytes(r.row.path(2), ByteView(whole).first(length));
        Trace cut = r.read();
        REQUIRE(sum_of(cut).present >= 1200);
        REQUIRE_FALSE(cut.has_losses());
    }
}

TEST_CASE("facts of several files are those of all", "[trace][files]") {
    Running r;
    for (bool finished : {true, false, true}) {
        r.records(600);
        r.row.write({}, finished);
    }
    TraceHeader later = test::row_header(r.ring, 4);
    later.clocks.wall_ns = 5; // the clock was set back
    test::write_bytes(r.row.path(4), test::file_of(later, {}));
    Trace trace = r.read();
    REQUIRE(trace.files.size() == 4);
    CHECK(trace.files[3].facts.has_end);
    CHECK_FALSE(trace.file.has_end);
    uint64_t bytes = 0;
    for (uint32_t number = 1; number <= 4; number++)
        bytes += std::filesystem::file_size(r.row.path(number));
    CHECK(trace.file.file_bytes == bytes);
    CHECK(trace.boots.at(0).file_bytes == bytes);
    CHECK(trace.boots[0].files == 4);
    CHECK(trace.boots[0].last_wall_ns == 1'000'003);
}

TEST_CASE("the window of a snapshot is the recording's when it is alone", "[trace][files]") {
    Running r;
    r.records(300);
    Bytes metadata = r.ring.metadata_memory();
    std::vector<ByteView> pieces;
    RecordingBuilder finder;
    finder.add_bytes(metadata, {"metadata"}, &pieces);
    finder.add_bytes(r.ring.segment_memory(0), {"ring"}, &pieces);
    auto write = [&](const char* name, uint64_t to_ns, const std::vector<ByteView>& content) {
        TraceHeader header = test::row_header(r.ring, 0);
        header.window_from_ns = 1000;
        header.window_to_ns = to_ns;
        test::write_bytes(r.folder.path + name, test::file_of(header, content));
    };
    write("/first.dbrk", 2000, pieces);
    write("/symbols.dbrk", 0, {}); // no data: none of its own
    CHECK(r.read().recording.window_from_ns == 1000);
    CHECK(r.read().recording.window_to_ns == 2000);
    write("/second.dbrk", 3000, pieces);
    CHECK(r.read().recording.window_to_ns == 0);
}

TEST_CASE("of several boots the newest is read, or the wanted", "[trace][files]") {
    Running a(0x0101010101010101), b(0x0202020202020201);
    a.records(10);
    b.records(20);
    b.row.write(); // the second file of A is newer than B's only one
    a.row.write();
    a.row.write();
    std::vector<std::string> paths = {a.folder.path, b.folder.path};
    Trace newest = read_traces(paths).value();
    CHECK(newest.recording.boot_id == 0x0101010101010101);
    CHECK(newest.boots.size() == 2);
    CHECK(newest.boots[1].files == 2);
    CHECK(newest.recording.findings.count() == 0);
    Trace wanted = read_traces(paths, {"01020202-02"}).value();
    CHECK(sum_of(wanted).present == 40);
    CHECK(read_traces(paths, {"01"}).error().code() == ErrorCode::invalid);
    // A machine without a clock: the boot that runs is the older one by its date.
    CHECK(read_traces(paths, {.running_boot = "01020202-0202-0202-0000-000000000000"})
              .value()
              .recording.boot_id == 0x0202020202020201);
    CHECK(read_traces(paths, {.boot = "0101", .running_boot = "01020202-0202-0202-0000-000000000000"})
              .value()
              .recording.boot_id == 0x0101010101010101);
    CHECK(read_traces(paths, {.running_boot = "0f"}).value().recording.boot_id ==
          0x0101010101010101);
    Result<Trace> none = read_traces(paths, {"ff"});
    CHECK(none.error().code() == ErrorCode::not_found);
    CHECK(none.error().message() ==
          "no boot begins with ff; there are: 01020202-0202-0202, 01010101-0101-0101");
}

TEST_CASE("rings of two files with one id are one ring only if they began at once", "[trace][files]") {
    TemporaryFolder folder;
    std::vector<std::string> paths;
    // Two of one boot with ring 1, which a module that was loaded twice has made; and the first again, copied earlier.
    auto add = [&](const std::string& name, uint64_t start, uint64_t probe_bytes, uint64_t count) {
        RingBuilder ring({.start_ticks = start, .start_mono_ns = start, .name = name});
        uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", name),
                                     {RingBuilder::integer_field(8, 8)}, probe_bytes);
        for (uint64_t i = 0; i < count; i++)
            ring.record(0, epid, 1000 + 10 * i, Bytes(probe_bytes - 8, std::byte{1}));
        Bytes metadata = ring.metadata_memory();
        RecordingBuilder ignored;
        std::vector<ByteView> pieces;
        ignored.add_bytes(metadata, {"metadata"}, &pieces);
        ignored.add_bytes(ring.segment_memory(0), {"ring"}, &pieces);
        paths.push_back(folder.path + "/" + std::to_string(paths.size()) + name + ".dbrk");
        test::write_bytes(paths.back(), test::file_of(test::row_header(ring, 0), pieces));
    };
    add("first", 500, 16, 30);
    add("other", 700, 24, 50);
    add("first", 500, 16, 20);
    Trace trace = read_traces(paths).value();
    REQUIRE(trace.recording.rings.size() == 2);
    const RingRecording &one = trace.recording.rings[0], &two = trace.recording.rings[1];
    CHECK(one.ring_id == 1);
    CHECK(one.info.name == "first");
    CHECK(one.completeness().present == 30);
    CHECK(two.ring_id == 2);
    CHECK(two.info.name == "other");
    CHECK(two.completeness().present == 50);
    CHECK(two.probes.begin()->second.name == "other");
    CHECK_FALSE(trace.has_losses());
}

TEST_CASE("files that do not say their boot are of the boot of their pieces", "[trace][files]") {
    Running a(0x0101010101010101), b(0x0202020202020201);
    a.records(10);
    a.row.write();
    b.records(20);
    Bytes memory = b.ring.segment_memory(0), metadata = b.ring.metadata_memory();
    RecordingBuilder finder;
    std::vector<ByteView> pieces;
    finder.add_bytes(metadata, {"metadata"}, &pieces);
    finder.add_bytes(memory, {"ring"}, &pieces);
    TraceHeader header;
    header.clocks.wall_ns = 1;
    test::write_bytes(a.folder.path + "/recovered.dbrk", test::file_of(header, pieces));
    Trace trace = a.read();
    CHECK(trace.boots.size() == 2);
    CHECK(trace.recording.boot_id == 0x0101010101010101);
    CHECK(sum_of(trace).present == 20);
    std::vector<std::string> paths = {a.folder.path};
    CHECK(sum_of(read_traces(paths, {"0102"}).value()).present == 20);
}

TEST_CASE("what is not a trace file is reported in a folder, and refused when named", "[trace][files]") {
    Running r;
    r.records(600);
    r.row.write();
    test::write_bytes(r.folder.path + "/noise.dbrk", Bytes(5000, std::byte{0x44}));
    test::write_bytes(r.folder.path + "/empty.dbrk", {});
    test::write_bytes(r.folder.path + "/.hidden.dbrk", Bytes(10, std::byte{1}));
    test::write_bytes(r.folder.path + "/status.json", Bytes(10, std::byte{1}));
    Trace trace = r.read();
    CHECK(sum_of(trace).present == 1200);
    CHECK(trace.has_losses());
    CHECK(has_finding(trace, FindingKind::bad_block, "noise.dbrk"));
    CHECK(has_finding(trace, FindingKind::unfinished, "empty.dbrk"));
    CHECK(trace.recording.findings.count() == 2);
    std::vector<std::string> named = {r.row.path(1), r.folder.path + "/noise.dbrk"};
    CHECK(read_traces(named).error().code() == ErrorCode::invalid);
    TemporaryFolder nothing;
    std::vector<std::string> empty = {nothing.path};
    CHECK(read_traces(empty).error().code() == ErrorCode::not_found);
    std::vector<std::string> absent = {"/nonexistent/x.dbrk"};
    CHECK(read_traces(absent).error().code() == ErrorCode::not_found);
}

TEST_CASE("symbols lie beside the files", "[trace][files]") {
    Running r;
    r.records(10);
    r.row.write();
    CHECK(r.read().symbols.empty());
    test::write_bytes(r.folder.path + "/88776655-symbols.dbrk",
                      test::file_of(test::row_header(r.ring, 0), {}, test::sample_symbols()));
    CHECK(r.read().symbols.find(0xffffffff81001001)->name == "do_thing");
    CHECK(r.read({r.row.path(1)}).symbols.find(0xffffffff81001001)->name == "do_thing");
    CHECK_FALSE(r.read().has_losses());
}

TEST_CASE("symbols beside a file that are not of its boot are not used", "[trace][files]") {
    Running r;
    r.records(10);
    r.row.write();
    std::string path = r.folder.path + "/88776655-symbols.dbrk";
    TraceHeader other = test::row_header(r.ring, 0);
    other.boot_uuid[7] ^= 1; // the name has the first four bytes
    Bytes whole = test::file_of(other, {}, test::sample_symbols());
    SECTION("of another boot") {
        test::write_bytes(path, whole);
    }
    SECTION("not a trace file") {
        test::write_bytes(path, Bytes(100, std::byte{1}));
    }
    SECTION("cut after the schema") {
        whole.resize(3000);
        test::write_bytes(path, whole);
    }
    SECTION("that cannot be opened") {
        std::filesystem::create_symlink(path, path);
    }
    // However it is named: one finding, and no loss.
    for (const std::vector<std::string>& paths :
         {std::vector{r.row.path(1)}, {r.folder.path}, {r.folder.path, r.row.path(1)}}) {
        Trace trace = r.read(paths);
        CHECK(trace.symbols.empty());
        REQUIRE(trace.recording.findings.count() == 1);
        CHECK(has_finding(trace, FindingKind::no_symbols, "88776655-symbols.dbrk"));
        CHECK_FALSE(trace.has_losses());
        CHECK(trace.files.size() == 1);
    }
}

TEST_CASE("damaged symbols of a folder are one finding, and no loss", "[trace][files]") {
    Running r;
    r.records(10);
    r.row.write();
    Bytes file = test::file_of(test::row_header(r.ring, 0), {}, test::sample_symbols());
    file.resize(file.size() - 100); // its end and more
    std::string path = r.folder.path + "/88776655-symbols.dbrk";
    test::write_bytes(path, file);
    auto texts = [](const Trace& trace) {
        std::vector<std::string> list;
        for (const Finding& finding : trace.recording.findings.list())
            list.push_back(finding_name(finding.kind) + (": " + finding.where));
        return list;
    };
    Trace of_folder = r.read(), of_file = r.read({r.row.path(1)});
    CHECK(of_folder.symbols.find(0xffffffff81001001)->name == "do_thing");
    CHECK_FALSE(of_folder.has_losses());
    CHECK(of_folder.recording.findings.count() > 0);
    CHECK(texts(of_folder) == texts(of_file));
    // Alone it is the recording that was asked for.
    CHECK(r.read({path}).has_losses());
}

TEST_CASE("symbols of a file that does not say its boot are used for none", "[trace][files]") {
    Running r;
    r.records(10);
    r.row.write();
    TraceHeader unknown;
    test::write_bytes(r.folder.path + "/other.dbrk",
                      test::file_of(unknown, {}, test::sample_symbols()));
    Trace trace = r.read();
    CHECK(trace.symbols.empty());
    CHECK(has_finding(trace, FindingKind::no_symbols, "other.dbrk"));
    // Its records say it.
    Bytes metadata = r.ring.metadata_memory();
    std::vector<ByteView> pieces;
    RecordingBuilder().add_bytes(metadata, {"metadata"}, &pieces);
    RecordingBuilder().add_bytes(r.ring.segment_memory(0), {"ring"}, &pieces);
    test::write_bytes(r.folder.path + "/other.dbrk",
                      test::file_of(unknown, pieces, test::sample_symbols()));
    CHECK(r.read().symbols.find(0xffffffff81001001)->name == "do_thing");
}

TEST_CASE("aggregation snapshots in several files count once", "[trace][files]") {
    Running r(0x1122334455667788, DBK_AGGREGATE_ENGINE);
    Bytes key = RingBuilder::words({7});
    Bytes first =
        r.ring.aggregation_buffer(0, 1, RingBuilder::aggregation_entry(r.epid, 0, key, {5}));
    Bytes second =
        r.ring.aggregation_buffer(0, 2, RingBuilder::aggregation_entry(r.epid, 0, key, {6}));
    r.row.write({first});
    r.row.write({first, second});
    r.row.write({second});
    const Trace trace = r.read();
    const RingRecording& ring = trace.recording.rings.at(0);
    REQUIRE(ring.cpus.at(0).aggregations.size() == 2);
    AggregationCursor cursor = entries_of(ring.cpus[0].aggregations[1], ring);
    AggEntryView entry;
    REQUIRE(cursor.next(entry));
    CHECK(entry.cell(0) == 6);
}

TEST_CASE("memory that only lesser copies lay in is given back", "[trace][files]") {
    Running r;
    for (int i = 0; i < 40; i++) {
        r.records(6);
        r.row.write();
    }
    Trace trace = r.read();
    CHECK(sum_of(trace).present == 480);
    CHECK(trace.recording.storage.size() <= trace.recording.metadata.size());
}
