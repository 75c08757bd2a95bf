// SPDX-License-Identifier: Apache-2.0
#include "recorder/symbols.hpp"

#include "tests/unit/recorder/fake_device.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::recorder;

TEST_CASE("symbols of the kernel and of modules are read", "[recorder][symbols]") {
    formats::SymbolTable table;
    KallsymsFacts facts = parse_kallsyms("0000000000000000 A fixed_percpu_data\n"
                                         "ffffffff81000000 T _text\n"
                                         "ffffffffc0100040 t ext4_thing\t[ext4]\n"
                                         "ffffffff82000000 D data",
                                         table);
    CHECK(facts.symbols == 3);
    CHECK(facts.lines_refused == 0);
    CHECK_FALSE(facts.hidden);
    CHECK(table.find(0xffffffffc0100041)->module == "ext4");
    CHECK(table.find(0xffffffff81000000)->module == "vmlinux");
    CHECK(table.find(0xffffffff82000001)->name == "data");
}

TEST_CASE("hidden addresses are noticed", "[recorder][symbols]") {
    formats::SymbolTable table;
    KallsymsFacts facts =
        parse_kallsyms("0000000000000000 T _text\n0000000000000000 t f\t[m]\n", table);
    CHECK(facts.hidden);
    CHECK(facts.symbols == 0);
    CHECK(table.empty());
    CHECK_FALSE(parse_kallsyms("", table).hidden);
}

TEST_CASE("more symbols than a file takes are counted, not taken", "[recorder][symbols]") {
    const char* text = "ffffffff81000000 T a\nffffffff81000010 T b\nffffffff81000020 T c\n";
    for (size_t symbols_max : {3, 2}) {
        formats::SymbolTable table;
        KallsymsFacts facts = parse_kallsyms(text, table, symbols_max);
        CHECK(facts.symbols == symbols_max);
        CHECK(facts.left_out == 3 - symbols_max);
        CHECK(table.symbols().size() == symbols_max);
    }
}

TEST_CASE("lines of another form are left out", "[recorder][symbols]") {
    formats::SymbolTable table;
    KallsymsFacts facts = parse_kallsyms("hello\n"
                                         "\n"
                                         "xyz T name\n"
                                         "ffffffff81000000 TT name\n"
                                         "ffffffff81000000 T\n"
                                         "ffffffff81000000 T name module\n"
                                         "ffffffff81000000111111111 T name\n"
                                         "ffffffff81000010 T good\n",
                                         table);
    CHECK(facts.symbols == 1);
    CHECK(facts.lines_refused == 6);
}

TEST_CASE("modules are read with their addresses", "[recorder][symbols]") {
    auto modules = parse_modules("ext4 1130496 1 - Live 0xffffffffc0500000\n"
                                 "jbd2 200704 1 ext4, Live 0xffffffffc04b0000 (E)\n"
                                 "hidden 8192 0 - Live 0x0000000000000000\n"
                                 "broken\n"
                                 "odd x 1 - Live 0x10\n");
    REQUIRE(modules.size() == 3);
    CHECK(modules[0].name == "ext4");
    CHECK(modules[0].size_bytes == 1130496);
    CHECK(modules[1].base_address == 0xffffffffc04b0000);
    CHECK(modules[2].base_address == 0);
}

TEST_CASE("the kernel and modules have their build ids", "[recorder][symbols]") {
    test::FakeSymbols source;
    source.modules_text = "ext4 1000 1 - Live 0xffffffffc0100000\njbd2 8 1 - Live 0x10\n";
    source.build_ids = {{"vmlinux", "0123456789"}, {"jbd2", "abc"}};
    std::vector<formats::ModuleInfo> modules;
    REQUIRE(read_modules(source, modules).ok());
    REQUIRE(modules.size() == 3);
    CHECK(modules[0].name == "vmlinux");
    CHECK(modules[0].base_address == 0);
    CHECK(modules[0].build_id.size() == 10);
    CHECK(modules[1].build_id.empty());
    CHECK(modules[2].build_id.size() == 3);
    SECTION("a kernel without a build id is not listed") {
        source.build_ids.erase("vmlinux");
        REQUIRE(read_modules(source, modules).ok());
        CHECK(modules.size() == 2);
    }
    SECTION("a kernel that loads no modules has its own") {
        source.modules_text.clear();
        CHECK(!read_modules(source, modules).ok());
        CHECK(modules.size() == 1);
    }
}

TEST_CASE("a name that no module can have leads nowhere", "[recorder][symbols]") {
    ProcSymbolSource source;
    for (const char* name : {"", ".", "..", "a/../b", "../kernel"})
        CHECK(source.notes(name).error().code() == base::ErrorCode::invalid);
}
