// SPDX-License-Identifier: Apache-2.0
#include "formats/aggstate/cells.hpp"
#include "tests/unit/formats/aggstate/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

StateBlock block_of(uint32_t function, const std::vector<uint64_t>& cells, uint64_t argument = 0) {
    StateBlock block;
    block.aggregation = test::by_string(function, argument);
    append_state(block, test::string_key("k"), cells);
    return block;
}

StateView only(const StateBlock& block) {
    StateCursor cursor(block);
    StateView view;
    REQUIRE(cursor.next(view));
    StateView other;
    REQUIRE(!cursor.next(other));
    return view;
}

std::vector<uint64_t> back(const StateBlock& block, size_t cells) {
    std::vector<uint64_t> filled(cells, 99);
    REQUIRE(fill_cells(block.aggregation, only(block), filled).ok());
    return filled;
}

} // namespace

TEST_CASE("cells that are 0 are absent, and come back as 0", "[aggstate]") {
    std::vector<uint64_t> cells(DTRACE_QUANTIZE_CELLS);
    cells[0] = 7;
    cells[64] = UINT64_MAX;
    cells[126] = 1;
    StateBlock block = block_of(DTRACEAGG_QUANTIZE, cells);
    CHECK(block.indexes == std::vector<uint32_t>{0, 64, 126});
    CHECK(back(block, cells.size()) == cells);
}

TEST_CASE("a sum of 0 is a state without cells, not no state", "[aggstate]") {
    StateBlock block = block_of(DTRACEAGG_SUM, {0});
    CHECK(block.size() == 1);
    CHECK(block.indexes.empty());
    CHECK(back(block, 1) == std::vector<uint64_t>{0});
}

TEST_CASE("minima and maxima lie apart from sums", "[aggstate]") {
    auto least = static_cast<uint64_t>(INT64_MIN);
    for (uint64_t value : {uint64_t{0}, uint64_t{5}, least, uint64_t{INT64_MAX}}) {
        StateBlock block = block_of(DTRACEAGG_MIN, {value});
        CHECK(block.values.empty());
        CHECK(block.extremes == std::vector<int64_t>{static_cast<int64_t>(value)});
        CHECK(back(block, 1) == std::vector<uint64_t>{value});
    }
}

TEST_CASE("a distribution's argument is said once, not in each state", "[aggstate]") {
    uint64_t argument = uint64_t{10} << 32 | uint64_t{1} << 48;
    StateBlock block = block_of(DTRACEAGG_LQUANTIZE, {argument, 0, 3, 0}, argument);
    CHECK(block.indexes == std::vector<uint32_t>{2});
    CHECK(back(block, 4) == std::vector<uint64_t>{argument, 0, 3, 0});
}

TEST_CASE("a square is four limbs, and added limbs carry", "[aggstate]") {
    std::vector<uint64_t> cells{2, 3, 0xffffffff00000001, 0x0000000200000003};
    StateBlock block = block_of(DTRACEAGG_STDDEV, cells);
    CHECK(block.indexes == std::vector<uint32_t>{0, 1, 2, 3, 4, 5});
    CHECK(block.values == std::vector<uint64_t>{2, 3, 1, 0xffffffff, 3, 2});
    CHECK(back(block, 4) == cells);

    // Two states added elsewhere, limb by limb: as the engine's sum of 128 bits.
    StateBlock sum = block;
    for (uint64_t& value : sum.values)
        value *= 2;
    unsigned __int128 square = ((static_cast<unsigned __int128>(cells[3]) << 64) | cells[2]) * 2;
    CHECK(back(sum, 4) == std::vector<uint64_t>{4, 6, static_cast<uint64_t>(square),
                                                static_cast<uint64_t>(square >> 64)});
    // Through all limbs, and out at the top.
    sum.values = {1, 1, 0x100000000, 0xffffffff, 0xffffffff, 0xffffffff};
    CHECK(back(sum, 4) == std::vector<uint64_t>{1, 1, 0, 0});
}

TEST_CASE("a cell that the function has not is refused", "[aggstate]") {
    std::vector<uint64_t> cells(2);
    StateBlock block = block_of(DTRACEAGG_AVG, {1, 1});
    block.indexes[1] = 2;
    CHECK(fill_cells(block.aggregation, only(block), cells).error().code() == ErrorCode::corrupt);
    block = block_of(DTRACEAGG_LQUANTIZE, {5, 1}, 5);
    block.indexes[0] = 0; // the argument's
    CHECK(!fill_cells(block.aggregation, only(block), cells).ok());
}
