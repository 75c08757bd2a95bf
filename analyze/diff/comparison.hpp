// SPDX-License-Identifier: Apache-2.0
//
// Comparison: the answers to one question of two boots, or of two sets of boots, joined by key.
//
//     before: boot 1 {@ms[udevd] 12}   boot 2 {@ms[udevd] 14, @ms[cron] 3}
//     after:  boot 3 {@ms[udevd] 90}                                   --> udevd  12 14 | 90
//                                                                          cron    0  3 |  0
#pragma once

#include "analyze/diff/rank_test.hpp"
#include "analyze/session/answer.hpp"

#include <optional>

namespace daybreak::analyze {

/// The answers of each boot of one side.
using DiffSide = std::vector<std::vector<Answer>>;

/// The value of one key.
struct ComparedRow {
    std::vector<std::string> key; ///< as in AnswerRow
    std::string key_json;
    /// Of each boot, what is printed there.  A boot without the key has 0 where absent is 0
    /// (count() and sum()), else nothing.  Not of distributions.
    std::vector<std::optional<int64_t>> before, after;
    /// Of distributions: the cells of all boots of a side together.
    std::vector<uint64_t> cells_before, cells_after;
    uint64_t normal = 1;
    bool is_new = false, is_gone = false; ///< no boot of the other side has the key
};

struct ComparedAnswer {
    std::string name;
    AggregationFunction function;
    std::vector<ComparedRow> rows; ///< biggest change first
};

/// Joins aggregations of the same name and function.  Empty: no boot of either side has a value.
std::vector<ComparedAnswer> compare(const DiffSide& before, const DiffSide& after);

/// Returns the median of the values that are there; empty when none is.  Of an even number it is
/// half way between the middle two.
std::optional<long double> median(const std::vector<std::optional<int64_t>>& values);

/// Returns the test of the row's two samples; empty when a side has no value, or neither has two.
std::optional<RankTest> test_of(const ComparedRow& row);

/// How much a row changed: of a number the distance of the medians, of a distribution how many
/// values lie in other buckets, per boot.  Empty when a side has no value.
std::optional<long double> size_of_change(const ComparedAnswer& answer, const ComparedRow& row,
                                          size_t boots_before, size_t boots_after);

} // namespace daybreak::analyze
