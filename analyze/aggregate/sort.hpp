// SPDX-License-Identifier: Apache-2.0
//
// Order: in which sequence aggregations print.
//
// Without options: by variable, then ascending by value, equal ones by key.  aggsortkey puts the
// key before the value, aggsortkeypos names the member of the key that is compared first (the
// others follow, wrapping around), aggsortrev turns everything around.  Where printa() shows
// several aggregations, aggsortpos names the one whose value is compared first.
#pragma once

#include "analyze/aggregate/table.hpp"
#include "analyze/values/options.hpp"

#include <optional>
#include <span>
#include <vector>

namespace daybreak::analyze {

/// Several aggregations' values under one key; null where there is none.
using AggregationBundle = std::vector<const AggregationEntry*>;

/// Returns the entries of one variable, or of all, in order.
std::vector<const AggregationEntry*> sorted_entries(const AggregationTable& table,
                                                    std::optional<uint32_t> variable,
                                                    const OutputOptions& options);

/// Returns, in order, one bundle for each key under which any of `variables` has a value; its
/// elements are in the order of `variables`.
std::vector<AggregationBundle> sorted_bundles(const AggregationTable& table,
                                              std::span<const uint32_t> variables,
                                              const OutputOptions& options);

/// trunc(): keeps the `count` entries of the variable with the largest values; if negative, those
/// with the smallest.
void truncate_aggregation(AggregationTable& table, uint32_t variable, int64_t count);

} // namespace daybreak::analyze
