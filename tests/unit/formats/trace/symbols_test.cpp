// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/message.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

std::string name_at(const SymbolTable& table, uint64_t address) {
    auto match = table.find(address);
    return match ? base::strprintf("%.*s`%.*s+0x%llx", int(match->module.size()),
                                   match->module.data(), int(match->name.size()),
                                   match->name.data(), (unsigned long long)match->offset_bytes)
                 : "";
}

} // namespace

TEST_CASE("addresses find the nearest symbol below", "[trace][symbols]") {
    SymbolTable table = test::sample_symbols();
    CHECK(name_at(table, 0xffffffff81001000) == "vmlinux`do_thing+0x0");
    CHECK(name_at(table, 0xffffffff81001abc) == "vmlinux`do_thing+0xabc");
    CHECK(name_at(table, 0xffffffffc0100041) == "ext4`ext4_thing+0x1");
    CHECK(name_at(table, 0xffffffff81000001) == "vmlinux`_text+0x1");
    CHECK(name_at(table, 0xffffffff90000000).empty()); // too far after everything
    CHECK(name_at(SymbolTable(), 1).empty());
}

TEST_CASE("of several symbols at an address the one a person would name wins", "[trace][symbols]") {
    SymbolTable table;
    table.add(100, 'D', "data", "vmlinux");
    table.add(100, 't', "local", "vmlinux");
    table.add(100, 'T', "__x64_global", "vmlinux");
    table.add(100, 'T', "global", "vmlinux");
    table.finish();
    CHECK(name_at(table, 101) == "vmlinux`global+0x1");
}

TEST_CASE("nothing lies after the end of the kernel", "[trace][symbols]") {
    SymbolTable table;
    table.add(100, 'T', "f", "vmlinux");
    table.add(200, 'B', "_end", "vmlinux");
    table.finish();
    CHECK(name_at(table, 199) == "vmlinux`f+0x63");
    CHECK(name_at(table, 201).empty());
}

TEST_CASE("symbols come back through their blocks, in stretches", "[trace][symbols]") {
    SymbolTable table;
    for (uint64_t i = 0; i < kSymbolsPerBlock * 2 + 5; i++)
        table.add(0xffffffff81000000 + i * 16, i % 2 ? 't' : 'T',
                  base::strprintf("symbol_%llu", (unsigned long long)i),
                  i % 3 ? "vmlinux" : "module");
    table.finish();
    Bytes file;
    auto sink = [&](ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return Result<void>();
    };
    auto writer = TraceWriter::create(sink, {}).value();
    REQUIRE(writer.add_symbols(table).ok());
    REQUIRE(writer.finish({}).ok());
    Trace trace = parse_trace(file, "file").value();
    REQUIRE(trace.symbols.symbols().size() == table.symbols().size());
    for (size_t i = 0; i < table.symbols().size(); i += 777) {
        const Symbol &a = table.symbols()[i], &b = trace.symbols.symbols()[i];
        CHECK(a.address == b.address);
        CHECK(a.name == b.name);
        CHECK(a.type == b.type);
        CHECK(table.modules()[a.module] == trace.symbols.modules()[b.module]);
    }
}

TEST_CASE("symbols of a lost block are not given another's name", "[trace][symbols]") {
    SymbolTable table;
    for (uint64_t i = 0; i < kSymbolsPerBlock * 3; i++)
        table.add(0x1000 + i * 16, 'T', base::strprintf("f%llu", (unsigned long long)i), "vmlinux");
    table.finish();
    Bytes file;
    std::vector<size_t> starts;
    auto sink = [&](ByteView bytes) {
        starts.push_back(file.size());
        file.insert(file.end(), bytes.begin(), bytes.end());
        return Result<void>();
    };
    auto writer = TraceWriter::create(sink, {}).value();
    REQUIRE(writer.add_symbols(table).ok());
    REQUIRE(writer.finish({}).ok());
    auto address = [](uint64_t i) { return 0x1000 + i * 16; };
    constexpr uint64_t n = kSymbolsPerBlock;
    REQUIRE(starts.size() > 5); // schema, header, three of symbols, what ends the file

    auto names_without = [&](size_t block) {
        Bytes damaged = file;
        damaged[starts[block] + sizeof(dbk_trace_block) + 9] ^= std::byte{1};
        Trace trace = parse_trace(damaged, "x").value();
        REQUIRE(trace.file.blocks_lost == 1);
        return std::move(trace.symbols);
    };
    SymbolTable middle = names_without(3);
    CHECK(name_at(middle, address(n - 2) + 4) == "vmlinux`f16382+0x4");
    CHECK(name_at(middle, address(n - 1)) == "vmlinux`f16383+0x0");
    CHECK(name_at(middle, address(n - 1) + 1).empty());
    CHECK(name_at(middle, address(n + 7)).empty());
    CHECK(name_at(middle, address(2 * n) + 4) == "vmlinux`f32768+0x4");
    SymbolTable last = names_without(4);
    CHECK(name_at(last, address(2 * n - 1) + 1).empty());
    CHECK(name_at(last, address(2 * n - 2) + 1) == "vmlinux`f32766+0x1");
    // A file that was cut after a stretch, too; one that goes on with another block has no hole.
    CHECK(name_at(parse_trace(ByteView(file).first(starts[4]), "x").value().symbols,
                  address(2 * n - 1) + 1)
              .empty());
    CHECK(name_at(parse_trace(file, "x").value().symbols, address(3 * n - 1) + 1) ==
          "vmlinux`f49151+0x1");
}
