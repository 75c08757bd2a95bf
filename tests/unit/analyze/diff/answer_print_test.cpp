// SPDX-License-Identifier: Apache-2.0
//
// An aggregation in a few lines: order, what is left out, distributions.
#include "analyze/diff/answer_print.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::analyze;

namespace {

Answer answer(uint32_t kind, std::vector<std::pair<std::string, uint64_t>> rows) {
    Answer made{"@a", {kind, 0}, {}};
    for (const auto& [key, value] : rows)
        made.rows.push_back({{key}, "[\"" + key + "\"]", {value}, 1});
    return made;
}

std::string printed(const Answer& answer, size_t rows_max) {
    std::string text;
    print_answer(text, answer, rows_max);
    return text;
}

} // namespace

TEST_CASE("the largest come first, of min() the smallest", "[analyze][diff]") {
    CHECK(printed(answer(DTRACEAGG_COUNT, {{"a", 1}, {"b", 3}, {"c", 2}, {"d", 0}}), 2) ==
          "          3  b\n          2  c\n  and 2 more\n");
    // One more has room in the line that would say so.
    CHECK(printed(answer(DTRACEAGG_COUNT, {{"a", 1}, {"b", 3}, {"c", 2}}), 2) ==
          "          3  b\n          2  c\n          1  a\n");
    CHECK(printed(answer(DTRACEAGG_MIN, {{"a", 5}, {"b", 3}}), 2) ==
          "          3  b\n          5  a\n");
}

TEST_CASE("a sum of 0 is left out, and a long key is cut between characters", "[analyze][diff]") {
    CHECK(printed(answer(DTRACEAGG_SUM, {{"a", 0}, {"b", 3}}), 9) == "          3  b\n");
    CHECK(printed(answer(DTRACEAGG_SUM, {{"a", 0}}), 9).empty());
    CHECK(printed(answer(DTRACEAGG_COUNT, {{"a", 0}}), 9) == "          0  a\n");
    std::string key = std::string(99, 'x') + "\u00e9" + std::string(50, 'y');
    CHECK(printed(answer(DTRACEAGG_COUNT, {{key, 1}}), 9) ==
          "          1  " + std::string(99, 'x') + "...\n");
}

TEST_CASE("a key that is an empty string is not no key", "[analyze][diff]") {
    CHECK(printed(answer(DTRACEAGG_COUNT, {{"", 1}}), 9) == "          1  \n");
    Answer made{"@a", {DTRACEAGG_COUNT, 0}, {}};
    made.rows.push_back({{}, "[]", {1}, 1});
    CHECK(printed(made, 9) == "          1  (all)\n");
}

TEST_CASE("a distribution is a line with its middle and its end", "[analyze][diff]") {
    Answer made{"@q", {DTRACEAGG_QUANTIZE, 0}, {}};
    std::vector<uint64_t> cells(DTRACE_QUANTIZE_CELLS);
    for (auto [value, count] : {std::pair(4, 60), std::pair(64, 39), std::pair(1024, 1)})
        made.function.update(cells, value, count);
    made.rows.push_back({{"d"}, "[\"d\"]", cells, 1});
    CHECK(printed(made, 9) == "        100  d: half up to bucket 4, 99 % up to bucket 64\n");
    std::string json;
    append_json_answer(json, made);
    CHECK(json == R"({"name":"@q","function":"quantize","rows":[{"key":["d"],"value":[)"
                  R"({"value":"4","count":60},{"value":"64","count":39},)"
                  R"({"value":"1024","count":1}]}]})");
}
