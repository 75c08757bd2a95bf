// SPDX-License-Identifier: Apache-2.0
//
// Answer: an aggregation as data, for what compares, joins or writes it instead of printing.
#pragma once

#include "analyze/aggregate/table.hpp"
#include "analyze/print/context.hpp"

#include <functional>
#include <string>
#include <vector>

namespace daybreak::analyze {

/// The value under one key.  The key is text, with the names of its own recording: the same
/// function has other addresses in the next boot.
struct AnswerRow {
    std::vector<std::string> key; ///< as it is shown, a member each; of a stack "a < b < c"
    std::string key_json;         ///< as an array of JSON: two keys are one if these are equal
    std::vector<uint64_t> cells;
    uint64_t normal = 1;
};

struct Answer {
    std::string name; ///< "@calls"
    AggregationFunction function;
    std::vector<AnswerRow> rows; ///< in the order of their first appearance

    AggregationView view_of(const AnswerRow& row) const { return {function, row.cells, row.normal}; }
};

/// Adds a table's aggregations; those of the same name and function, as of another ring, go on.
/// `name_of` returns a variable's name, "" when it is not known.
void add_answers(std::vector<Answer>& answers, const AggregationTable& table,
                 const PrintContext& context,
                 const std::function<std::string(uint32_t variable)>& name_of);

} // namespace daybreak::analyze
