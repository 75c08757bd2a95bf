// SPDX-License-Identifier: Apache-2.0
//
// Distributions, byte for byte.
#include "analyze/print/distribution.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace daybreak::analyze;

namespace {

struct Counted {
    int64_t value, increment = 1;
};

std::string printed(const AggregationFunction& function, std::vector<Counted> values,
                    uint64_t normal = 1) {
    std::vector<uint64_t> cells(*function.cell_count());
    function.init(cells);
    for (const Counted& counted : values)
        function.update(cells, counted.value, counted.increment);
    std::string out;
    print_distribution(out, function, cells, normal);
    return out;
}

constexpr const char* kHeading =
    "\n           value  ------------- Distribution ------------- count    \n";

const AggregationFunction kQuantize{DTRACEAGG_QUANTIZE, 0};
const AggregationFunction kLinear{DTRACEAGG_LQUANTIZE, 10ull << 48 | 3ull << 32 | 100};

AggregationFunction log_linear(uint64_t factor, uint64_t low, uint64_t high, uint64_t steps) {
    return {DTRACEAGG_LLQUANTIZE, steps << 48 | high << 32 | low << 16 | factor};
}

} // namespace

TEST_CASE("quantize shows one empty row on either side", "[analyze][print]") {
    CHECK(printed(kQuantize, {{3}, {5}, {6}, {7}}) ==
          std::string(kHeading) +
              "               1 |                                         0        \n"
              "               2 |@@@@@@@@@@                               1        \n"
              "               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n"
              "               8 |                                         0        \n");
}

TEST_CASE("a distribution without counts shows three rows around zero", "[analyze][print]") {
    CHECK(printed(kQuantize, {{5, 7}, {5, -7}}) ==
          std::string(kHeading) +
              "              -1 |                                         0        \n"
              "               0 |                                         0        \n"
              "               1 |                                         0        \n");
}

TEST_CASE("negative counts grow to the left, both signs share the width", "[analyze][print]") {
    CHECK(printed(kQuantize, {{1, -4}}) ==
          std::string(kHeading) +
              "               0                                         | 0        \n"
              "               1 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -4       \n"
              "               2                                         | 0        \n");
    CHECK(printed(kQuantize, {{1, -1}, {2, 3}}) ==
          std::string(kHeading) +
              "               0                     |                     0        \n"
              "               1                @@@@@|                     -1       \n"
              "               2                     |@@@@@@@@@@@@@@@      3        \n"
              "               4                     |                     0        \n");
}

TEST_CASE("the outermost buckets have no row beyond them", "[analyze][print]") {
    std::string text = printed(kQuantize, {{INT64_MAX}, {INT64_MIN}});
    CHECK(
        text.find("\n-4611686018427387904 |@@@@@@@@@@@@@@@@@@@@                     1        \n") !=
        std::string::npos);
    CHECK(text.ends_with(
        "\n4611686018427387904 |@@@@@@@@@@@@@@@@@@@@                     1        \n"));
}

TEST_CASE("normalization divides the counts, not the bars", "[analyze][print]") {
    CHECK(printed(kQuantize, {{1, 10}, {2, 30}}, 10) ==
          std::string(kHeading) +
              "               0 |                                         0        \n"
              "               1 |@@@@@@@@@@                               1        \n"
              "               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n"
              "               4 |                                         0        \n");
}

TEST_CASE("lquantize labels what is below and above", "[analyze][print]") {
    CHECK(printed(kLinear, {{5}, {100}, {129}, {130}}) ==
          std::string(kHeading) +
              "           < 100 |@@@@@@@@@@                               1        \n"
              "             100 |@@@@@@@@@@                               1        \n"
              "             110 |                                         0        \n"
              "             120 |@@@@@@@@@@                               1        \n"
              "          >= 130 |@@@@@@@@@@                               1        \n");
}

TEST_CASE("llquantize labels ranges by the bound nearest to zero", "[analyze][print]") {
    CHECK(printed(log_linear(10, 1, 2, 5), {{0}, {10}, {25}, {999}, {1000}}) ==
          std::string(kHeading) +
              "             -10 |                                         0        \n"
              "      abs() < 10 |@@@@@@@@                                 1        \n"
              "              10 |@@@@@@@@                                 1        \n"
              "              20 |@@@@@@@@                                 1        \n"
              "              40 |                                         0        \n"
              "              60 |                                         0        \n"
              "              80 |                                         0        \n"
              "             100 |                                         0        \n"
              "             200 |                                         0        \n"
              "             400 |                                         0        \n"
              "             600 |                                         0        \n"
              "             800 |@@@@@@@@                                 1        \n"
              "         >= 1000 |@@@@@@@@                                 1        \n");
    CHECK(printed(log_linear(10, 1, 2, 5), {{10}}) ==
          std::string(kHeading) +
              "            < 10 |                                         0        \n"
              "              10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
              "              20 |                                         0        \n");
    CHECK(printed(log_linear(10, 1, 2, 5), {{-5000}}) ==
          std::string(kHeading) +
              "        <= -1000 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
              "            -800 |                                         0        \n");
}

TEST_CASE("llquantize has no rows that no integer can fall into", "[analyze][print]") {
    CHECK(printed(log_linear(10, 0, 1, 20), {{2}, {4}}) ==
          std::string(kHeading) +
              "               1 |                                         0        \n"
              "               2 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
              "               3 |                                         0        \n"
              "               4 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
              "               5 |                                         0        \n");
}
