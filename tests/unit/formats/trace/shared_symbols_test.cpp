// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/shared_symbols.hpp"

#include "formats/trace/message.hpp"
#include "formats/trace/symbol_coding.hpp"
#include "tests/support/file_row.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using test::RingBuilder;
using test::TemporaryFolder;

namespace {

const std::vector<ModuleInfo> kModules = {{"ext4", 0, 0, {}}, {"jbd2", 0, 0, {}}};

/// What the sample has, and a module that was loaded since.
SymbolTable later_symbols() {
    SymbolTable table = test::sample_symbols();
    table.add(0xffffffffc0200000, 't', "jbd2_thing", "jbd2");
    table.add(0xffffffffc0300000, 't', "bpf_prog_1", "bpf");
    table.finish();
    return table;
}

std::vector<std::string> lines_of(const SymbolTable& table) {
    std::vector<std::string> lines;
    for (const Symbol& symbol : table.symbols())
        lines.push_back(base::strprintf("%lx %c %s %s", symbol.address, symbol.type,
                                        symbol.name.c_str(),
                                        table.modules()[symbol.module].c_str()));
    return lines;
}

/// A file that refers to the symbols file of its folder.
struct Shared {
    TemporaryFolder folder;
    RingBuilder ring{{.cpu_count = 1, .boot_id = 0x1122334455667788}};
    std::string path = folder.path + "/slow.dbrk", symbols = folder.path + "/88776655-symbols.dbrk";

    Shared() {
        put_symbols(test::sample_symbols());
        Bytes file;
        auto sink = [&](ByteView bytes) {
            file.insert(file.end(), bytes.begin(), bytes.end());
            return base::Result<void>();
        };
        Bytes metadata = ring.metadata_memory();
        std::vector<ByteView> pieces;
        RecordingBuilder().add_bytes(metadata, {"metadata"}, &pieces);
        auto writer = TraceWriter::create(sink, test::row_header(ring, 0)).value();
        auto shared = share_symbols(later_symbols(), test::sample_symbols(), kModules).value();
        DBK_ASSERT(writer.add_shared_symbols(shared).ok());
        for (ByteView piece : pieces)
            DBK_ASSERT(writer.add_piece(piece).ok());
        DBK_ASSERT(writer.finish({}).ok());
        test::write_bytes(path, file);
    }
    void put_symbols(const SymbolTable& table, uint8_t boot = 0) const {
        TraceHeader header = test::row_header(ring, 0);
        header.boot_uuid[7] ^= boot;
        test::write_bytes(symbols, test::file_of(header, {}, table));
    }
    Trace read() const { return read_traces(std::span(&path, 1)).value(); }
};

bool has_finding(const Trace& trace, const std::string& where, const std::string& text) {
    Findings findings = trace.recording.all_findings();
    for (const Finding& finding : findings.list())
        if (finding.kind == FindingKind::no_symbols && finding.where == where &&
            finding.text.find(text) != std::string::npos)
            return true;
    return false;
}

} // namespace

TEST_CASE("a file has the symbols of the file beside it and its own", "[trace][symbols]") {
    Shared f;
    Trace trace = f.read();
    CHECK(lines_of(trace.symbols) == lines_of(later_symbols()));
    CHECK(trace.recording.all_findings().count() == 0);
    // In a folder as alone; and the symbols named, from elsewhere.
    CHECK(lines_of(read_traces(std::vector{f.folder.path}).value().symbols) ==
          lines_of(later_symbols()));
    TemporaryFolder other;
    std::string moved = other.path + "/slow.dbrk";
    std::filesystem::rename(f.path, moved);
    CHECK(lines_of(read_traces(std::vector{moved, f.symbols}).value().symbols) ==
          lines_of(later_symbols()));
}

TEST_CASE("symbols that a file refers to and that are not there are a finding",
          "[trace][symbols]") {
    Shared f;
    const char* why = "";
    SECTION("no file") {
        std::filesystem::remove(f.symbols);
        why = "it is not there, and has the symbols of ";
    }
    SECTION("of another boot") {
        f.put_symbols(test::sample_symbols(), 1);
        why = "it is not known to be of this boot";
    }
    SECTION("the kernel's are others") {
        SymbolTable table = later_symbols();
        table.add(0xffffffff81001800, 't', "other_thing", "vmlinux");
        table.finish();
        f.put_symbols(table);
        why = "the symbols of vmlinux are not those of ";
    }
    Trace trace = f.read();
    CHECK_FALSE(trace.symbols.find(0xffffffff81001001));
    CHECK(has_finding(trace, f.symbols, why));
    CHECK_FALSE(trace.has_losses());
}

TEST_CASE("without all modules as they were only the kernel has names", "[trace][symbols]") {
    Shared f;
    SymbolTable table, sample = test::sample_symbols();
    for (const Symbol& symbol : sample.symbols())
        if (symbol.name != "ext4_thing")
            table.add(symbol.address, symbol.type, symbol.name, "vmlinux");
    SECTION("one has gone") {}
    SECTION("one lies elsewhere") {
        table.add(0xffffffffc0500040, 't', "ext4_thing", "ext4");
    }
    table.finish();
    f.put_symbols(table);
    Trace trace = f.read();
    CHECK(trace.symbols.find(0xffffffff81001001)->name == "do_thing");
    CHECK_FALSE(trace.symbols.find(0xffffffffc0100040));
    CHECK_FALSE(trace.symbols.find(0xffffffffc0200000)); // it may lie in what ext4 was
    CHECK(has_finding(trace, f.symbols, "the symbols of ext4 are not those of "));
}

TEST_CASE("modules loaded since change nothing", "[trace][symbols]") {
    Shared f;
    f.put_symbols(later_symbols());
    Trace trace = f.read();
    CHECK(lines_of(trace.symbols) == lines_of(later_symbols()));
    CHECK(trace.recording.all_findings().count() == 0);
}

TEST_CASE("symbols are shared module by module", "[trace][symbols]") {
    SymbolTable all = later_symbols();
    auto names = [](const std::optional<SharedSymbols>& shared) {
        std::vector<std::string> list;
        for (const SharedSymbols::Module& module : shared->modules)
            list.push_back(module.name);
        return list;
    };
    // What is of no loaded module comes and goes.
    CHECK(names(share_symbols(all, all, kModules)) ==
          std::vector<std::string>{"ext4", "jbd2", "vmlinux"});
    CHECK(names(share_symbols(all, test::sample_symbols(), kModules)) ==
          std::vector<std::string>{"ext4", "vmlinux"});
    CHECK(share_symbols(test::sample_symbols(), all, kModules).value().additions.empty());
    CHECK_FALSE(share_symbols(all, SymbolTable(), kModules));
    SymbolTable many = later_symbols();
    for (uint64_t i = 0; i + 2 < kSortedSymbolsMax; i++) // with jbd2's and bpf's as many as fit
        many.add(0xffffffffd0000000 + i, 't', "f", "many");
    many.finish();
    CHECK(share_symbols(many, test::sample_symbols(), kModules));
    many.add(0xffffffffe0000000, 't', "f", "many");
    many.finish();
    CHECK_FALSE(share_symbols(many, test::sample_symbols(), kModules));
}

TEST_CASE("shared symbols come back, or are an error", "[trace][symbols]") {
    auto shared = share_symbols(later_symbols(), test::sample_symbols(), kModules).value();
    Bytes message = encode_shared_symbols(shared);
    SharedSymbols back = decode_shared_symbols(message).value();
    REQUIRE(back.modules.size() == shared.modules.size());
    CHECK(back.modules[0].name == shared.modules[0].name);
    CHECK(back.modules[0].hash == shared.modules[0].hash);
    CHECK(back.additions == shared.additions);
    for (size_t bytes = 0; bytes < message.size(); bytes += 8)
        CHECK_FALSE(decode_shared_symbols(ByteView(message).first(bytes)).ok());
    CHECK_FALSE(decode_shared_symbols(encode_end({1, 2})).ok());
    back.additions[0] = std::byte{0xff};
    SymbolTable table;
    CHECK(join_symbols(back, test::sample_symbols(), table) == "its own modules");
    CHECK_FALSE(table.find(0xffffffffc0100040));
    CHECK(table.find(0xffffffff81001000));
}
