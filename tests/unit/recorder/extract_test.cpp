// SPDX-License-Identifier: Apache-2.0
#include "recorder/extract.hpp"

#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"
#include "tests/support/dump_writer.hpp"
#include "tests/support/piece_order.hpp"
#include "tests/support/secret_file.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
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

/// The kernel's own symbols in a machine's memory, as its kallsyms has them, at kTablesAt.
struct KernelTables {
    static constexpr size_t kTablesAt = 0x90000, kUtsAt = 0x8f000;
    static constexpr uint64_t kText = 0xffffffff81000000;
    std::string version;
    std::string token = "do_", name = "t\1it"; // token 1, and a name that has it
    uint32_t aliases = 1;                      // symbols of that name
    bool absolute_percpu = true;
    uint64_t relative_base = kText;

    static std::string symbol(const char* name, size_t phys_addr) {
        return base::strprintf("SYMBOL(%s)=%llx\n", name,
                               static_cast<unsigned long long>(kText + phys_addr));
    }
    /// Puts the tables into memory.  Returns what VMCOREINFO says of them.
    std::string put(Machine& machine) const {
        // Tokens are the letters themselves, but for one.
        Bytes table, index;
        for (unsigned number = 0; number < 256; number++) {
            append_struct(index, static_cast<uint16_t>(table.size()));
            std::string text = number == 1 ? token : std::string(1, static_cast<char>(number));
            RingBuilder::append(table, text.data(), text.size());
            table.push_back(std::byte{0});
        }
        Bytes names, offsets;
        auto add = [&](const std::string& text, uint64_t address) {
            names.push_back(static_cast<std::byte>(text.size()));
            RingBuilder::append(names, text.data(), text.size());
            auto distance = static_cast<int32_t>(address - relative_base);
            append_struct(offsets, absolute_percpu ? -1 - distance : distance);
        };
        add("T_stext", kText);
        for (uint32_t i = 0; i < aliases; i++)
            add(name, kText + 0x100);
        add("T_end", kText + 0x1000);
        uint32_t count = aliases + 2;
        size_t at = kTablesAt;
        std::string facts = "NUMBER(phys_base)=-16777216\n" + symbol("_stext", 0);
        auto place = [&](const char* table_name, ByteView bytes) {
            machine.write(at, bytes);
            facts += symbol(table_name, at);
            at += (bytes.size() + 7) & ~size_t{7};
        };
        place("kallsyms_num_syms", std::as_bytes(std::span(&count, 1)));
        place("kallsyms_names", names);
        place("kallsyms_token_table", table);
        place("kallsyms_token_index", index);
        place("kallsyms_offsets", offsets);
        place("kallsyms_relative_base", std::as_bytes(std::span(&relative_base, 1)));
        char uts[6][65] = {};
        std::strcpy(uts[2], "6.1.0-test");
        std::strcpy(uts[3], version.c_str());
        machine.write(kUtsAt + 4, std::as_bytes(std::span(uts)));
        return facts + symbol("init_uts_ns", kUtsAt) + "OFFSET(uts_namespace.name)=4\n";
    }
};

} // namespace

TEST_CASE("a dump names its own kernel's addresses", "[extract]") {
    Folder folder;
    Machine machine = two_boots();
    KernelTables tables;
    tables.absolute_percpu = GENERATE(true, false); // both ways that kernels count
    std::string facts = tables.put(machine);
    auto [build, bytes] = GENERATE(table<const char*, size_t>(
        {{"BUILD-ID=00ffa1\n", 3}, {"BUILD-ID=00ffa\n", 0}, {"BUILD-ID=00 fa1\n", 0}, {"", 0}}));
    auto summary = run(elf_dump(machine, facts + build), {.output_path = folder.file("k.dbrk")});
    REQUIRE(summary.ok());
    CHECK(summary->findings.empty());
    formats::Trace trace = read(folder.file("k.dbrk"));
    auto match = trace.symbols.find(KernelTables::kText + 0x104);
    REQUIRE(match);
    CHECK(match->name == "do_it");
    CHECK(match->offset_bytes == 4);
    CHECK(!trace.symbols.find(KernelTables::kText + 0x2000));
    REQUIRE(trace.header.modules.size() == (bytes != 0 ? 1 : 0));
    if (bytes != 0)
        CHECK(trace.header.modules[0].build_id ==
              Bytes{std::byte{0}, std::byte{0xff}, std::byte{0xa1}});
}

TEST_CASE("symbols in a dump that cannot be right are not used, and it is said", "[extract]") {
    Folder folder;
    Machine machine = two_boots();
    KernelTables tables;
    std::string why;
    std::string facts;
    SECTION("the dump does not say where they are") {
        why = "the dump does not say where its kernel has its symbols";
    }
    SECTION("they are of another build") {
        tables.version = "#2 other";
        facts = tables.put(machine);
        why = "the dump is of another kernel: 6.1.0-test #2 other";
    }
    SECTION("neither way of counting puts _stext where it is") {
        facts = tables.put(machine);
        uint64_t elsewhere = KernelTables::kText + 8;
        tables.relative_base = elsewhere;
        machine.write(std::stoull(facts.substr(facts.find("relative_base)=") + 15), nullptr, 16) -
                          KernelTables::kText,
                      std::as_bytes(std::span(&elsewhere, 1)));
        why = "the symbols in the dump are not where its kernel lay";
    }
    SECTION("a name has a newline, which ends it in a trace") {
        tables.name = "t\nit";
        facts = tables.put(machine);
        why = "the symbols in the dump contradict themselves";
    }
    SECTION("the names would be more than any kernel has: 67 MB") {
        tables.token = std::string(1023, 'x');
        tables.name = "\1";
        tables.aliases = 66'000;
        facts = tables.put(machine);
        why = "the symbols in the dump contradict themselves";
    }
    SECTION("a page of them is not in the dump") {
        facts = tables.put(machine);
        machine.exclude(KernelTables::kTablesAt);
        why = "the dump has not all of its kernel's symbols";
    }
    auto summary = run(elf_dump(machine, facts), {.output_path = folder.file("k.dbrk")});
    REQUIRE(summary.ok());
    REQUIRE(summary->findings.size() == 1);
    CHECK(summary->findings[0].text ==
          why + ": kernel stacks stay numbers; --symbols takes another trace of that kernel");
    CHECK(!summary->has_losses);
    CHECK(read(folder.file("k.dbrk")).symbols.empty());
}

TEST_CASE("damaged symbols in a dump cost the names and nothing else", "[extract]") {
    Folder folder;
    Machine machine = two_boots();
    std::string facts = KernelTables().put(machine);
    for (size_t at = 0; at < 0x600; at += 72) {
        Machine damaged = machine;
        uint64_t rubbish = 0xfedcba9876543210u * (at + 1);
        damaged.write(KernelTables::kTablesAt + at, std::as_bytes(std::span(&rubbish, 1)));
        auto summary = run(elf_dump(damaged, facts), {.output_path = folder.file("k.dbrk"), .replace = true});
        REQUIRE(summary.ok());
        CHECK(!summary->has_losses);
    }
}

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
    std::string order = test::piece_order(folder.file("new.dbrk"));
    CHECK(order.find_last_of("my") < order.find('s')); // a file that is cut has them
}

TEST_CASE("another boot is taken by how its UUID begins", "[extract]") {
    Folder folder;
    Bytes dump = elf_dump(two_boots());
    CHECK(formats::boot_name(kNew) == "80706050-4030-2010");
    for (const char* name : {"11", "11223344-5566-7788", "1122334455667788"}) {
        auto summary = run(dump, {.output_path = folder.file("old.dbrk"), .boot = name, .replace = true});
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
    bool reported = false;
    for (const formats::Finding& finding : trace.recording.findings.list())
        reported = reported || (finding.kind == formats::FindingKind::missing_pages &&
                        finding.text.find("7936 bytes of 1 segment and") == 0);
    CHECK(reported);
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
    CHECK(!trace.symbols.find(0xffffffffc0000000)); // it is not known where the module lay
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
