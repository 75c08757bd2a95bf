// SPDX-License-Identifier: Apache-2.0
//
// Comparison: the answers of two sets of boots, joined by key.
#include "analyze/diff/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace daybreak::analyze {

namespace {

bool is_zero_when_absent(const AggregationFunction& function) {
    return function.kind == DTRACEAGG_COUNT || function.kind == DTRACEAGG_SUM;
}

/// The number that is printed.
int64_t number_of(const Answer& answer, const AnswerRow& row) {
    switch (answer.function.kind) {
    case DTRACEAGG_AVG:
        return average_of(row.cells, row.normal);
    case DTRACEAGG_STDDEV:
        return static_cast<int64_t>(stddev_of(row.cells, row.normal));
    default:
        return normalized(static_cast<int64_t>(row.cells[0]), row.normal);
    }
}

/// Joins the answers of one aggregation.
class Join {
public:
    Join(ComparedAnswer& answer, size_t boots_before, size_t boots_after)
        : answer_(answer), boots_before_(boots_before), boots_after_(boots_after) {}

    void add(const Answer& answer, size_t boot, bool is_after) {
        for (const AnswerRow& row : answer.rows) {
            ComparedRow& joined = row_for(row);
            (is_after ? joined.is_gone : joined.is_new) = false;
            joined.normal = row.normal;
            if (answer.function.is_distribution())
                answer.function.merge(is_after ? joined.cells_after : joined.cells_before,
                                      row.cells);
            else
                (is_after ? joined.after : joined.before)[boot] = number_of(answer, row);
        }
    }

private:
    ComparedRow& row_for(const AnswerRow& row) {
        auto [place, is_first] = rows_.try_emplace(row.key_json, answer_.rows.size());
        if (!is_first)
            return answer_.rows[place->second];
        ComparedRow& joined = answer_.rows.emplace_back();
        joined.key = row.key;
        joined.key_json = row.key_json;
        joined.is_new = joined.is_gone = true;
        std::optional<int64_t> absent;
        if (is_zero_when_absent(answer_.function))
            absent = 0;
        if (answer_.function.is_distribution()) {
            for (auto* cells : {&joined.cells_before, &joined.cells_after}) {
                cells->resize(row.cells.size());
                answer_.function.init(*cells);
            }
        } else {
            joined.before.resize(boots_before_, absent);
            joined.after.resize(boots_after_, absent);
        }
        return joined;
    }

    ComparedAnswer& answer_;
    const size_t boots_before_, boots_after_;
    std::map<std::string, size_t> rows_; // by key
};

std::vector<long double> present(const std::vector<std::optional<int64_t>>& values) {
    std::vector<long double> present;
    for (const std::optional<int64_t>& value : values)
        if (value)
            present.push_back(*value);
    return present;
}

/// Cells from which on there are buckets: what comes before is the function's argument.
size_t first_bucket(const AggregationFunction& function) {
    return function.kind == DTRACEAGG_QUANTIZE ? 0 : 1;
}

void sort_rows(ComparedAnswer& answer, size_t boots_before, size_t boots_after) {
    using Place = std::tuple<bool, long double, std::vector<std::string>>;
    std::vector<std::pair<Place, size_t>> places;
    for (size_t i = 0; i < answer.rows.size(); i++) {
        std::optional<long double> size =
            size_of_change(answer, answer.rows[i], boots_before, boots_after);
        places.push_back({{!size, -size.value_or(0), answer.rows[i].key}, i});
    }
    std::ranges::sort(places);
    std::vector<ComparedRow> sorted;
    for (const auto& [place, row] : places)
        sorted.push_back(std::move(answer.rows[row]));
    answer.rows = std::move(sorted);
}

} // namespace

std::optional<long double> median(const std::vector<std::optional<int64_t>>& values) {
    std::vector<long double> sorted = present(values);
    if (sorted.empty())
        return std::nullopt;
    std::ranges::sort(sorted);
    size_t middle = sorted.size() / 2;
    return sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::optional<RankTest> test_of(const ComparedRow& row) {
    std::vector<long double> before = present(row.before), after = present(row.after);
    if (before.size() + after.size() < 3)
        return std::nullopt;
    return rank_test(before, after);
}

std::optional<long double> size_of_change(const ComparedAnswer& answer, const ComparedRow& row,
                                          size_t boots_before, size_t boots_after) {
    if (!answer.function.is_distribution()) {
        std::optional<long double> before = median(row.before), after = median(row.after);
        if (!before || !after)
            return std::nullopt;
        return std::fabs(*after - *before);
    }
    long double size = 0;
    for (size_t i = first_bucket(answer.function); i < row.cells_before.size(); i++)
        size += std::fabs(static_cast<long double>(static_cast<int64_t>(row.cells_after[i])) /
                              static_cast<long double>(boots_after) -
                          static_cast<long double>(static_cast<int64_t>(row.cells_before[i])) /
                              static_cast<long double>(boots_before));
    return size;
}

std::vector<ComparedAnswer> compare(const DiffSide& before, const DiffSide& after) {
    std::vector<ComparedAnswer> compared;
    std::vector<Join> joins;
    for (const DiffSide* side : {&before, &after})
        for (const std::vector<Answer>& boot : *side)
            for (const Answer& answer : boot)
                if (std::ranges::none_of(compared, [&](const ComparedAnswer& known) {
                        return known.name == answer.name && known.function == answer.function;
                    }))
                    compared.push_back({answer.name, answer.function, {}});
    for (ComparedAnswer& answer : compared)
        joins.emplace_back(answer, before.size(), after.size());
    for (const DiffSide* side : {&before, &after})
        for (size_t boot = 0; boot < side->size(); boot++)
            for (const Answer& answer : (*side)[boot])
                for (size_t i = 0; i < compared.size(); i++)
                    if (compared[i].name == answer.name && compared[i].function == answer.function)
                        joins[i].add(answer, boot, side == &after);
    for (ComparedAnswer& answer : compared)
        sort_rows(answer, before.size(), after.size());
    return compared;
}

} // namespace daybreak::analyze
