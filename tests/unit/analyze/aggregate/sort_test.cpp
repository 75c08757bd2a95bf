// SPDX-License-Identifier: Apache-2.0
//
// The table of aggregations: keys meet, entries sort, trunc() keeps the right ones.
#include "analyze/aggregate/sort.hpp"
#include "analyze/print/aggregation_print.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

const ValueType kString{ValueKind::string, 256, DTRACEACT_DIFEXPR};
const ValueType kInt{ValueKind::integer, 4, DTRACEACT_DIFEXPR};

/// A table with string and int keys.
struct Fixture {
    AggregationTable table;
    AddressNames names{nullptr};
    OutputOptions options;

    void add(uint32_t variable, const std::string& text, int32_t number, int64_t value) {
        auto layout = *table.intern({variable, {DTRACEAGG_SUM, 0}, {kString, kInt}});
        AggregationKey key;
        key.append(kString, base::as_bytes(text));
        key.append(kInt, std::as_bytes(std::span(&number, 1)));
        REQUIRE(table.update(layout, variable, key.bytes(), value, 1));
    }
    std::string order(std::optional<uint32_t> variable = std::nullopt) {
        std::string text;
        for (const AggregationEntry* entry : sorted_entries(table, variable, options)) {
            auto members = table.members_of(*entry);
            text +=
                std::string(members[0].text()) + std::to_string(members[1].signed_integer()) + " ";
        }
        return text;
    }
};

} // namespace

TEST_CASE("entries sort by variable, value, key", "[analyze][aggregate]") {
    Fixture fixture;
    fixture.add(2, "z", 1, -5);
    fixture.add(1, "b", 1, 3);
    fixture.add(1, "a", 2, 3);
    fixture.add(1, "c", -1, -3);
    fixture.add(1, "a", 1, 3);
    CHECK(fixture.order() == "c-1 a1 a2 b1 z1 ");
    fixture.options.aggsortrev = true;
    CHECK(fixture.order() == "z1 b1 a2 a1 c-1 ");
    fixture.options.aggsortkey = true;
    CHECK(fixture.order(1) == "c-1 b1 a2 a1 ");
    fixture.options.aggsortrev = false;
    CHECK(fixture.order(1) == "a1 a2 b1 c-1 ");
    fixture.options.aggsortkeypos = 1; // numbers compare unsigned
    CHECK(fixture.order(1) == "a1 b1 a2 c-1 ");
    for (uint64_t beyond : {2, 3, 1000}) {
        fixture.options.aggsortkeypos = beyond;
        CHECK(fixture.order(1) == "a1 a2 b1 c-1 ");
    }
}

TEST_CASE("trunc keeps the largest, or the smallest", "[analyze][aggregate]") {
    for (int64_t count : {3, -3, 0, 100}) {
        Fixture fixture;
        for (int i = 0; i < 10; i++)
            fixture.add(1, "k", i, i * 10);
        fixture.add(2, "other", 0, 1);
        truncate_aggregation(fixture.table, 1, count);
        std::string expected = count == 3    ? "k7 k8 k9 "
                               : count == -3 ? "k0 k1 k2 "
                               : count == 0  ? ""
                                             : "k0 k1 k2 k3 k4 k5 k6 k7 k8 k9 ";
        CHECK(fixture.order(1) == expected);
        CHECK(fixture.order(2) == "other0 ");
        fixture.add(1, "k", 9, 1); // the table works on
        CHECK(fixture.order(1).find("k9 ") != std::string::npos);
    }
}

TEST_CASE("normalize holds for the keys that are there", "[analyze][aggregate]") {
    Fixture fixture;
    fixture.add(1, "a", 0, 100);
    fixture.table.normalize(1, 10);
    fixture.add(1, "b", 0, 100);
    std::string out;
    print_unprinted(out, fixture.table, {fixture.options, fixture.names});
    CHECK(out ==
          "  a                                                         0               10\n"
          "  b                                                         0              100\n");
    fixture.table.clear(1);
    out.clear();
    print_unprinted(out, fixture.table, {fixture.options, fixture.names});
    CHECK(out ==
          "  a                                                         0                0\n"
          "  b                                                         0                0\n");
}

TEST_CASE("printa of several aggregations joins on the key", "[analyze][aggregate]") {
    Fixture fixture;
    fixture.add(1, "a", 0, 5);
    fixture.add(1, "b", 0, 4);
    fixture.add(2, "b", 0, 1);
    fixture.add(2, "c", 0, 2);
    fixture.add(3, "d", 0, 2);
    AggregationFunctions functions{
        {1, {DTRACEAGG_SUM, 0}}, {2, {DTRACEAGG_SUM, 0}}, {9, {DTRACEAGG_COUNT, 0}}};
    PrintContext context{fixture.options, fixture.names};
    auto format = *parse_format("%s %d %@d %@d %@d\n");
    uint32_t variables[] = {1, 2, 9};
    std::string out;
    REQUIRE(print_printa(out, fixture.table, variables, functions, &format, context).ok());
    CHECK(out == "c 0 0 2 0\nb 0 4 1 0\na 0 5 0 0\n");
    fixture.options.aggsortpos = 1;
    out.clear();
    REQUIRE(print_printa(out, fixture.table, variables, functions, &format, context).ok());
    CHECK(out == "a 0 5 0 0\nb 0 4 1 0\nc 0 0 2 0\n");
    out.clear();
    print_unprinted(out, fixture.table, context);
    CHECK(out ==
          "  d                                                         0                2\n");
}

TEST_CASE("printa without a format starts with a newline even if there is nothing",
          "[analyze][aggregate]") {
    Fixture fixture;
    uint32_t variables[] = {1};
    std::string out;
    PrintContext context{fixture.options, fixture.names};
    REQUIRE(print_printa(out, fixture.table, variables, {}, nullptr, context).ok());
    CHECK(out == "\n");
}

TEST_CASE("the table agrees with std::map over random keys and removals", "[analyze][aggregate]") {
    std::mt19937_64 random(3);
    AggregationTable table;
    auto layout = *table.intern({1, {DTRACEAGG_SUM, 0}, {kString}});
    std::map<std::string, uint64_t> expected;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3000; i++) {
            std::string text(random() % 20, static_cast<char>('a' + random() % 3));
            text += std::to_string(random() % 500);
            AggregationKey key;
            key.append(kString, base::as_bytes(text));
            auto value = static_cast<int64_t>(random() % 1000);
            REQUIRE(table.update(layout, 0, key.bytes(), value, 1));
            expected[text] += static_cast<uint64_t>(value);
        }
        auto goes = [&](const AggregationEntry& entry) {
            return table.cells_of(entry)[0] % 3 == static_cast<uint64_t>(round % 3);
        };
        table.remove_if(goes);
        std::erase_if(expected, [&](auto& item) {
            return item.second % 3 == static_cast<uint64_t>(round % 3);
        });
        std::map<std::string, uint64_t> got;
        for (const AggregationEntry& entry : table.entries())
            got[std::string(table.members_of(entry)[0].text())] = table.cells_of(entry)[0];
        CHECK(got == expected);
    }
}

TEST_CASE("a full table refuses new keys and counts on in the old ones", "[analyze][aggregate]") {
    AggregationTable table(10'000);
    auto layout = *table.intern({1, {DTRACEAGG_QUANTIZE, 0}, {kInt}});
    int refused = 0;
    for (int32_t i = 0; i < 100; i++)
        refused += !table.update(layout, 0, std::as_bytes(std::span(&i, 1)), 1, 1);
    CHECK(refused > 0);
    CHECK(table.entries().size() + static_cast<size_t>(refused) == 100);
    int32_t first = 0;
    CHECK(table.update(layout, 0, std::as_bytes(std::span(&first, 1)), 1, 1));
}
