// SPDX-License-Identifier: Apache-2.0
//
// Aggregations of two sides joined by key, and the order of what changed.
#include "analyze/diff/comparison.hpp"
#include "analyze/diff/diff_print.hpp"
#include "analyze/diff/questions.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace daybreak::analyze;

namespace {

AnswerRow row(const std::string& key, std::vector<uint64_t> cells, uint64_t normal = 1) {
    return {{key}, "[\"" + key + "\"]", std::move(cells), normal};
}

Answer answer_of(uint32_t kind, std::vector<AnswerRow> rows) {
    return {"@a", {kind, 0}, std::move(rows)};
}

std::vector<std::string> keys(const ComparedAnswer& compared) {
    std::vector<std::string> names;
    for (const ComparedRow& one : compared.rows)
        names.push_back(one.key[0]);
    return names;
}

} // namespace

TEST_CASE("rows are joined by key, the biggest change first", "[analyze][diff]") {
    DiffSide before{
        {answer_of(DTRACEAGG_COUNT, {row("same", {7}), row("less", {9}), row("gone", {4})})}};
    DiffSide after{
        {answer_of(DTRACEAGG_COUNT, {row("new", {100}), row("less", {1}), row("same", {7})})}};
    auto compared = compare(before, after);
    REQUIRE(compared.size() == 1);
    CHECK(keys(compared[0]) == std::vector<std::string>{"new", "less", "gone", "same"});
    CHECK(compared[0].rows[0].is_new);
    CHECK(compared[0].rows[0].before == std::vector<std::optional<int64_t>>{0});
    CHECK(compared[0].rows[2].is_gone);
    CHECK_FALSE(compared[0].rows[1].is_new);
    std::string text;
    print_comparison(text, compared[0], {1, 1, 2});
    CHECK(text == "        BEFORE        AFTER       CHANGE             @a, count\n"
                  "             0          100         +100        new  new\n"
                  "             9            1           -8    -88.9 %  less\n"
                  "  and 1 key that changed less\n");
}

TEST_CASE("what was not counted is 0, what has no least value has none", "[analyze][diff]") {
    DiffSide before{{answer_of(DTRACEAGG_MIN, {row("a", {5})})}};
    DiffSide after{{answer_of(DTRACEAGG_MIN, {row("b", {6})})}, {answer_of(DTRACEAGG_MIN, {})}};
    auto compared = compare(before, after);
    CHECK_FALSE(median(compared[0].rows[0].after));
    CHECK(median(compared[0].rows[1].after) == 6);
    CHECK_FALSE(size_of_change(compared[0], compared[0].rows[0], 1, 2));
    CHECK_FALSE(test_of(compared[0].rows[0]));
    CHECK(compare({{}}, {{}}).empty());
}

TEST_CASE("sets are compared by their medians, and tested", "[analyze][diff]") {
    auto side = [](std::vector<uint64_t> values) {
        DiffSide boots;
        for (uint64_t value : values)
            boots.push_back({answer_of(DTRACEAGG_SUM, {row("k", {value * 10}, 10)})});
        return boots;
    };
    auto compared = compare(side({3, 1, 2}), side({40, 60}));
    const ComparedRow& one = compared[0].rows[0];
    CHECK(median(one.before) == 2);
    CHECK(median(one.after) == 50);
    CHECK(test_of(one)->p == Approx(0.2));
    std::string json;
    append_json_comparison(json, compared[0], {3, 2, 0});
    CHECK(json == R"({"name":"@a","function":"sum","rows":[{"key":["k"],"values_before":[3,1,2],)"
                  R"("values_after":[40,60],"before":2,"after":50,"change":48,"p":0.2,)"
                  R"("p_is_exact":true}]})");
    compared = compare(side({1, 2}), side({5}));
    CHECK(median(compared[0].rows[0].before) == 1.5L);
}

TEST_CASE("distributions stand side by side, cells of a side together", "[analyze][diff]") {
    auto of = [](size_t bucket, uint64_t count) {
        std::vector<uint64_t> cells(DTRACE_QUANTIZE_CELLS);
        cells[bucket] = count;
        return cells;
    };
    size_t four = DTRACE_QUANTIZE_ZERO + 3, eight = four + 1; // by powers of two
    DiffSide before{{answer_of(DTRACEAGG_QUANTIZE, {row("d", of(four, 2))})},
                    {answer_of(DTRACEAGG_QUANTIZE, {row("d", of(eight, 2))})}};
    DiffSide after{{answer_of(DTRACEAGG_QUANTIZE, {row("d", of(eight, 3))})}};
    auto compared = compare(before, after);
    CHECK(size_of_change(compared[0], compared[0].rows[0], 2, 1) == 3.0L);
    std::string text;
    print_comparison(text, compared[0], {2, 1, 0});
    CHECK(text ==
          "  @a, quantize\n"
          "  d\n"
          "             value  before                   count  after                    count\n"
          "                 4 |@@@@@@@@@@                   2 |                             0\n"
          "                 8 |@@@@@@@@@@                   2 |@@@@@@@@@@@@@@@@@@@@         3\n");
}

TEST_CASE("an aggregation of another function is another", "[analyze][diff]") {
    auto compared = compare({{answer_of(DTRACEAGG_COUNT, {row("k", {1})})}},
                            {{answer_of(DTRACEAGG_SUM, {row("k", {1})})}});
    CHECK(compared.size() == 2);
}

TEST_CASE("each question for boots says what it asks", "[analyze][diff]") {
    std::set<std::string_view> names;
    for (const Question& question : boot_questions()) {
        CHECK(question.title() != question.name);
        CHECK(question.text.find(" * " + std::string(question.name) + ".d - ") !=
              std::string::npos);
        names.insert(question.name);
    }
    CHECK(names.size() == boot_questions().size());
    CHECK(names.size() >= 5);
}
