// SPDX-License-Identifier: Apache-2.0
//
// Aggregating functions against their definitions.
#include "analyze/aggregate/function.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace daybreak::analyze;

namespace {

std::vector<uint64_t> counted(const AggregationFunction& function, std::vector<int64_t> values,
                              int64_t increment = 1) {
    std::vector<uint64_t> cells(*function.cell_count());
    function.init(cells);
    for (int64_t value : values)
        function.update(cells, value, increment);
    return cells;
}

uint64_t log_linear(uint64_t factor, uint64_t low, uint64_t high, uint64_t steps) {
    return steps << 48 | high << 32 | low << 16 | factor;
}

} // namespace

TEST_CASE("quantize puts a value into the bucket its definition names", "[analyze][aggregate]") {
    std::vector<int64_t> values = {0,  1, -1, 2,         -2,        3,
                                   -3, 4, -4, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000; i++)
        values.push_back(static_cast<int64_t>(random()) >> (random() % 64));
    for (int64_t value : values) {
        // A positive value: the last bucket that is not above it.  A negative: the first not below.
        size_t expected = DTRACE_QUANTIZE_ZERO;
        if (value > 0)
            for (size_t i = DTRACE_QUANTIZE_ZERO; i < DTRACE_QUANTIZE_CELLS; i++)
                expected = quantize_bucket_value(i) <= value ? i : expected;
        if (value < 0)
            for (size_t i = DTRACE_QUANTIZE_ZERO; i-- > 0;)
                expected = value <= quantize_bucket_value(i) ? i : expected;
        INFO(value);
        CHECK(counted({DTRACEAGG_QUANTIZE, 0}, {value})[expected] == 1);
    }
}

TEST_CASE("avg truncates towards zero and is 0 without values", "[analyze][aggregate]") {
    AggregationFunction avg{DTRACEAGG_AVG, 0};
    CHECK(average_of(counted(avg, {}), 1) == 0);
    CHECK(average_of(counted(avg, {-7, 0}), 1) == -3);
    CHECK(average_of(counted(avg, {INT64_MIN, 0}), UINT64_MAX) == int64_t{1} << 62); // by -1
    CHECK(average_of(counted(avg, {1000, 2000, 3001}), 10) == 200);
}

TEST_CASE("stddev is exact beyond 64 bits", "[analyze][aggregate]") {
    AggregationFunction stddev{DTRACEAGG_STDDEV, 0};
    CHECK(stddev_of(counted(stddev, {}), 1) == 0);
    CHECK(stddev_of(counted(stddev, {5}), 1) == 0);
    CHECK(stddev_of(counted(stddev, {-3, 3}), 1) == 3);
    // Squares of 2e18 and their sum need more than 64 bits.
    int64_t big = 2'000'000'000'000'000'000;
    CHECK(stddev_of(counted(stddev, {big, big - 10, big, big - 10}), 1) == 5);
    CHECK(stddev_of(counted(stddev, {INT64_MIN, INT64_MAX}), 1) == INT64_MAX);
}

TEST_CASE("min and max start where every value beats them", "[analyze][aggregate]") {
    CHECK(counted({DTRACEAGG_MIN, 0}, {})[0] == INT64_MAX);
    CHECK(counted({DTRACEAGG_MAX, 0}, {})[0] == static_cast<uint64_t>(INT64_MIN));
    CHECK(static_cast<int64_t>(counted({DTRACEAGG_MIN, 0}, {4, -9, 3})[0]) == -9);
    CHECK(static_cast<int64_t>(counted({DTRACEAGG_MAX, 0}, {-4, -9})[0]) == -4);
}

TEST_CASE("lquantize counts below, within and above", "[analyze][aggregate]") {
    // base -10, step 5, 4 levels: -10 -5 0 5, limit 10
    AggregationFunction function{DTRACEAGG_LQUANTIZE, 5ull << 48 | 4ull << 32 | 0xfffffff6};
    auto cells = counted(function, {-11, -10, -6, -5, 0, 9, 10, 1000});
    CHECK(cells == std::vector<uint64_t>{function.argument, 1, 2, 1, 1, 1, 2});
    CHECK(!AggregationFunction{DTRACEAGG_LQUANTIZE, 0}.cell_count());
}

TEST_CASE("llquantize finds the bin whose bounds hold the value", "[analyze][aggregate]") {
    for (uint64_t argument :
         {log_linear(10, 0, 6, 20), log_linear(2, 0, 10, 2), log_linear(4, 1, 5, 2),
          log_linear(10, 2, 18, 10), log_linear(3, 0, 0, 1), log_linear(10, 3, 6, 1000)}) {
        auto shape = *LogLinear::parse(argument);
        std::mt19937_64 random(argument);
        for (int i = 0; i < 2000; i++) {
            int64_t value = static_cast<int64_t>(random()) >> (random() % 64);
            auto cells = counted({DTRACEAGG_LLQUANTIZE, argument}, {value});
            auto bin = std::find(cells.begin() + 1, cells.end(), 1u) - cells.begin() - 1;
            auto size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
            int64_t from_centre = bin - static_cast<int64_t>(shape.centre());
            INFO("argument " << argument << " value " << value << " bin " << from_centre);
            auto distance = static_cast<size_t>(std::abs(from_centre));
            if (distance == 0) {
                CHECK(size < shape.bound(1));
                continue;
            }
            CHECK((from_centre < 0) == (value < 0));
            CHECK(size >= shape.bound(distance));
            CHECK(!shape.is_ghost(distance));
            size_t next = distance + 1;
            while (next <= shape.bins_per_side() && shape.is_ghost(next))
                next++;
            if (next <= shape.bins_per_side() + 1)
                CHECK(size < shape.bound(next));
        }
        auto ends = counted({DTRACEAGG_LLQUANTIZE, argument}, {INT64_MIN, INT64_MAX});
        CHECK(std::count(ends.begin() + 1, ends.end(), 1u) == 2);
    }
    CHECK(!LogLinear::parse(log_linear(1, 0, 3, 5)));
    CHECK(!LogLinear::parse(log_linear(10, 4, 3, 5)));
    CHECK(!LogLinear::parse(log_linear(10, 0, 0xffff, 0xffff)));
}

TEST_CASE("counting on several CPUs and merging is counting on one", "[analyze][aggregate]") {
    std::vector<AggregationFunction> functions = {{DTRACEAGG_COUNT, 0},
                                                  {DTRACEAGG_SUM, 0},
                                                  {DTRACEAGG_MIN, 0},
                                                  {DTRACEAGG_MAX, 0},
                                                  {DTRACEAGG_AVG, 0},
                                                  {DTRACEAGG_STDDEV, 0},
                                                  {DTRACEAGG_QUANTIZE, 0},
                                                  {DTRACEAGG_LQUANTIZE, 10ull << 48 | 10ull << 32},
                                                  {DTRACEAGG_LLQUANTIZE, log_linear(10, 0, 6, 20)}};
    std::mt19937_64 random(7);
    for (const AggregationFunction& function : functions) {
        std::vector<int64_t> all, halves[2];
        for (int i = 0; i < 500; i++) {
            all.push_back(static_cast<int64_t>(random()) >> (random() % 64));
            halves[random() % 2].push_back(all.back());
        }
        auto whole = counted(function, all), first = counted(function, halves[0]);
        function.merge(first, counted(function, halves[1]));
        INFO("kind " << std::hex << function.kind);
        CHECK(first == whole);
    }
}
