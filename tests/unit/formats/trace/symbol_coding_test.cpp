// SPDX-License-Identifier: Apache-2.0
//
// Sorted and front-coded symbols: there and back, and what a damaged stretch may not do.
#include "formats/trace/column_coding.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/reader.hpp"
#include "formats/trace/symbol_coding.hpp"
#include "tests/support/spec_example.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

SymbolTable random_table(std::mt19937_64& random, size_t count) {
    SymbolTable table;
    for (size_t i = 0; i < count; i++) {
        std::string name = random() % 3 ? "some_long_prefix_" : "";
        for (size_t length = random() % 12; length > 0; length--)
            name += static_cast<char>('a' + random() % 3);
        if (random() % 50 == 0)
            name.append(300, 'x'); // shares more than a stretch says
        table.add(random() % 8 ? 0xffffffff81000000 + random() % 100000 : random(),
                  "TtDdWB"[random() % 6], name, random() % 4 ? "vmlinux" : "ext4");
    }
    table.finish();
    return table;
}

void check_same(const SymbolTable& a, const SymbolTable& b) {
    REQUIRE(a.symbols().size() == b.symbols().size());
    for (size_t i = 0; i < a.symbols().size(); i++) {
        const Symbol &one = a.symbols()[i], &other = b.symbols()[i];
        REQUIRE(one.address == other.address);
        REQUIRE(one.type == other.type);
        REQUIRE(one.name == other.name);
        REQUIRE(a.modules()[one.module] == b.modules()[other.module]);
    }
}

Bytes encoded(const SymbolTable& table) {
    return encode_sorted_symbols(table, table.symbols()).value();
}

/// As the first stretch of a file.
Result<void> decode_first(ByteView stretch, SymbolTable& table) {
    size_t left = kSymbolNameBytesMax;
    return decode_sorted_symbols(stretch, table, left);
}

} // namespace

TEST_CASE("sorted symbols are read back as they were", "[trace][symbols]") {
    std::mt19937_64 random(1);
    for (size_t count : {1, 2, 17, 3000}) {
        SymbolTable table = random_table(random, count), back;
        REQUIRE(decode_first(encoded(table), back).ok());
        back.finish();
        check_same(table, back);
    }
}

TEST_CASE("a stretch of symbols that ends early is an error", "[trace][symbols]") {
    std::mt19937_64 random(2);
    Bytes whole = encoded(random_table(random, 60));
    for (size_t size = 0; size < whole.size(); size++) {
        SymbolTable table;
        INFO(size);
        REQUIRE_FALSE(decode_first(ByteView(whole).first(size), table).ok());
        REQUIRE(table.symbols().empty());
    }
    whole.push_back(std::byte{0});
    SymbolTable table;
    CHECK(decode_first(whole, table).error().message() == "1 bytes after the last column");
}

TEST_CASE("changed bytes in a stretch of symbols are refused or harmless", "[trace][symbols]") {
    std::mt19937_64 random(3);
    Bytes whole = encoded(random_table(random, 40));
    size_t refused = 0;
    for (int i = 0; i < 20000; i++) {
        Bytes changed = whole;
        for (uint64_t n = 1 + random() % 3; n > 0; n--)
            changed[random() % changed.size()] = static_cast<std::byte>(random());
        SymbolTable table;
        if (!decode_first(changed, table).ok()) {
            refused++;
            REQUIRE(table.symbols().empty());
        }
        table.finish();
        (void)table.find(random());
    }
    CHECK(refused > 5000);
}

TEST_CASE("names that grow and grow are refused", "[trace][symbols]") {
    constexpr size_t kCount = kSortedSymbolsMax;
    Bytes payload, rests(kCount, std::byte{'\n'});
    rests.insert(rests.begin(), kSharedBytesMax, std::byte{'x'});
    std::vector<uint64_t> shared(kCount, kSharedBytesMax), places(kCount), zeros(kCount);
    shared[0] = 0;
    for (size_t i = 0; i < kCount; i++)
        places[i] = i;
    put_varint(payload, 1);
    put_varint(payload, 0);
    put_varint(payload, kCount);
    auto put = [&payload](std::span<const uint64_t> values) {
        ColumnMemory memory;
        ColumnEncoder().put(values, memory, payload);
    };
    put(shared);
    put_raw_column(rests, payload);
    put(places);
    for (int i = 0; i < 3; i++)
        put(zeros);
    CHECK(payload.size() < 400'000);
    SymbolTable table;
    size_t left = kSymbolNameBytesMax;
    for (int i = 0; i < 4; i++)
        REQUIRE(decode_sorted_symbols(payload, table, left).ok());
    CHECK(decode_sorted_symbols(payload, table, left).error().message() ==
          "more than 67108864 bytes of names");
    CHECK(table.symbols().size() == 4 * kCount);
}

TEST_CASE("a stretch of too many symbols is refused", "[trace][symbols]") {
    for (size_t more : {0, 1}) {
        SymbolTable table, back;
        for (size_t i = 0; i < kSortedSymbolsMax + more; i++)
            table.add(i, 'T', "x", "m");
        CHECK(decode_first(encoded(table), back).ok() == (more == 0));
    }
}

TEST_CASE("symbols of the coding before are still read", "[trace][symbols]") {
    SymbolTable table = test::sample_symbols();
    Bytes file;
    for (const Bytes& block :
         {make_block(DBK_TRACE_HEADER, 0, encode_header(test::sample_header()), 3),
          make_block(DBK_TRACE_SYMBOLS, 1, encode_symbols(table, table.symbols()), 3)})
        file.insert(file.end(), block.begin(), block.end());
    check_same(parse_trace(file, "x").value().symbols, table);
}

TEST_CASE("a name with a newline is written in the coding before", "[trace][symbols]") {
    SymbolTable table;
    table.add(0x1000, 'T', "two\nlines", "vmlinux");
    table.finish();
    CHECK_FALSE(encode_sorted_symbols(table, table.symbols()));
}

TEST_CASE("the worked example of symbols.md says what its text says", "[trace][spec]") {
    SymbolTable table;
    table.add(0xffffffff81000000, 'T', "_text", "vmlinux");
    table.add(0xffffffff81001000, 't', "do_thing", "vmlinux");
    table.add(0xffffffff81001040, 't', "do_things", "vmlinux");
    table.add(0xffffffffc0100040, 't', "ext4_thing", "ext4");
    table.finish();
    Bytes example = test::spec_example("formats/trace/symbols.md", "## Worked example");
    SymbolTable back;
    REQUIRE(decode_first(example, back).ok());
    check_same(table, back);
    CHECK(encoded(table) == example);
}
