// SPDX-License-Identifier: Apache-2.0
#include "recorder/extract.hpp"

#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"
#include "tests/support/dump_writer.hpp"
#include "tests/support/secret_file.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::recorder;
using namespace daybreak::test;

namespace {

constexpr uint64_t kOld = 0x8877665544332211, kNew = 0x1020304050607080;

RingBuilder make_ring(uint64_t boot_id, uint64_t records, uint64_t wall_ns) {
    RingBuilder ring({.segments_per_cpu = 8, .start_wall_ns = wall_ns, .boot_id = boot_id});
    uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
    uint32_t epid = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < records; i++)
        ring.record(0, epid, 1000 + i, RingBuilder::words({i}));
    return ring;
}

/// The boot before has more in memory than the one that died.
Machine two_boots() {
    Machine machine(1 << 20);
    RingBuilder old = make_ring(kOld, 1500, 1'000'000'000),
                now = make_ring(kNew, 300, 9'000'000'000);
    machine.place(0x10000, old.segment_memory(0));
    machine.place(0x30000, old.metadata_memory());
    machine.place(0x50000, now.segment_memory(0));
    machine.place(0x70000, now.metadata_memory());
    return machine;
}

struct Folder {
    std::string path = [] {
        char name[] = "/tmp/daybreak-extract.XXXXXX";
        return std::string(::mkdtemp(name));
    }();
    std::string file(const char* name) const { return path + "/" + name; }
    ~Folder() { (void)std::system(("rm -rf " + path).c_str()); }
};

base::Result<ExtractSummary> run(const Bytes& dump, ExtractOptions options) {
    return extract(*formats::memory_input(dump), options);
}

formats::Trace read(const std::string& path) {
    auto trace = formats::read_trace(path);
    REQUIRE(trace.ok());
    return std::move(*trace);
}

} // namespace

TEST_CASE("the boot that died is extracted, not the one with most in memory", "[extract]") {
    Folder folder;
    Bytes dump = elf_dump(two_boots());
    auto summary = run(dump, {.output_path = folder.file("new.dbrk")});
    CHECK(test::is_secret(folder.file("new.dbrk")));
    REQUIRE(summary.ok());
    REQUIRE(summary->boots.size() == 2);
    CHECK(summary->boots[0].boot_id == kNew);
    CHECK(summary->boots[0].records == 300);
    CHECK(summary->boots[0].release == "6.1.0-test");
    CHECK(summary->boots[0].rings == std::vector<std::string>{"test"});
    CHECK(!summary->has_losses);
    formats::Trace trace = read(folder.file("new.dbrk"));
    CHECK(trace.header.origin == formats::TraceOrigin::dump);
    CHECK(trace.header.release == "6.1.0-test");
    CHECK(trace.header.boot_uuid[0] == 0x80);
    CHECK(trace.header.clocks.wall_ns >= 9'000'000'000);
    CHECK(trace.recording.boot_id == kNew);
    CHECK(trace.recording.find_ring(1)->completeness().present == 300);
    CHECK(!trace.has_losses());
}

TEST_CASE("another boot is taken by how its UUID begins", "[extract]") {
    Folder folder;
    Bytes dump = elf_dump(two_boots());
    CHECK(formats::boot_name(kNew) == "80706050-4030-2010");
    for (const char* name : {"11", "11223344-5566-7788", "1122334455667788"}) {
        auto summary = run(dump, {.output_path = folder.file("old.dbrk"), .boot = name});
        REQUIRE(summary.ok());
        CHECK(summary->boots[0].boot_id == kOld);
        CHECK(read(folder.file("old.dbrk")).recording.find_ring(1)->completeness().present == 1500);
    }
    CHECK(run(dump, {.boot = "12"}).error().code() == base::ErrorCode::not_found);
}

TEST_CASE("a list writes nothing", "[extract]") {
    auto summary = run(elf_dump(two_boots()), {});
    REQUIRE(summary.ok());
    CHECK(summary->boots.size() == 2);
    CHECK(summary->file_bytes == 0);
}

TEST_CASE("a dump without a recording is an error, and no file appears", "[extract]") {
    Folder folder;
    auto summary = run(elf_dump(Machine(1 << 20)), {.output_path = folder.file("none.dbrk")});
    REQUIRE(!summary.ok());
    CHECK(summary.error().code() == base::ErrorCode::not_found);
    CHECK(::access(folder.file("none.dbrk").c_str(), F_OK) != 0);
}

TEST_CASE("what the dump does not have is counted in the file, with its bytes", "[extract]") {
    Folder folder;
    RingBuilder ring({.segment_bytes = 16384, .segments_per_cpu = 2});
    uint32_t probe = ring.add_probe("p", "m", "f", "n");
    uint32_t epid = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 1000; i++)
        ring.record(0, epid, 1000 + i, RingBuilder::words({i}));
    Machine machine(1 << 20);
    machine.place(0x40000, ring.segment_memory(0));
    machine.place(0x80000, ring.metadata_memory());
    machine.exclude(0x42000);
    auto summary = run(kdump_dump(machine, 1, zlib_packed), {.output_path = folder.file("h.dbrk")});
    REQUIRE(summary.ok());
    CHECK(summary->has_losses);
    formats::Trace trace = read(folder.file("h.dbrk"));
    CHECK(trace.has_losses());
    formats::Completeness sum = trace.recording.find_ring(1)->completeness();
    CHECK(sum.present == 504);
    CHECK(sum.lost == 1000 - 504);
    bool told = false;
    for (const formats::Finding& finding : trace.recording.findings.list())
        told = told || (finding.kind == formats::FindingKind::missing_pages &&
                        finding.text.find("7936 bytes of 1 segments") == 0);
    CHECK(told);
}

TEST_CASE("symbols of the same kernel are moved to where it lay", "[extract]") {
    Folder folder;
    Bytes dump = elf_dump(two_boots()); // _stext at 0xffffffff81000000
    std::ofstream(folder.file("kallsyms")) << "ffffffff91000000 T _stext\n"
                                              "ffffffff91000100 T do_it\n"
                                              "ffffffffc0000000 t gone\t[module]\n";
    auto summary =
        run(dump, {.output_path = folder.file("s.dbrk"), .symbols_path = folder.file("kallsyms")});
    INFO((summary.ok() ? "" : summary.error().message()));
    REQUIRE(summary.ok());
    formats::Trace trace = read(folder.file("s.dbrk"));
    auto match = trace.symbols.find(0xffffffff81000104);
    REQUIRE(match);
    CHECK(match->name == "do_it");
    CHECK(match->offset_bytes == 4);
    CHECK(!trace.symbols.find(0xffffffffc0000000)); // nobody knows where the module lay
    // A trace of the same boot has them all, where they are.
    summary =
        run(dump, {.output_path = folder.file("t.dbrk"), .symbols_path = folder.file("s.dbrk")});
    REQUIRE(summary.ok());
    CHECK(read(folder.file("t.dbrk")).symbols.find(0xffffffff81000100));
}

TEST_CASE("symbols that cannot be of that kernel are refused before anything is written",
          "[extract]") {
    Folder folder;
    Bytes dump = elf_dump(two_boots());
    std::ofstream(folder.file("kallsyms")) << "0000000000000000 T _stext\n";
    std::ofstream(folder.file("nothing")) << "hello\n";
    for (const char* name : {"kallsyms", "nothing", "missing"}) {
        auto summary =
            run(dump, {.output_path = folder.file("x.dbrk"), .symbols_path = folder.file(name)});
        CHECK(!summary.ok());
        CHECK(::access(folder.file("x.dbrk").c_str(), F_OK) != 0);
    }
}
