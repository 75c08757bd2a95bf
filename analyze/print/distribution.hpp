// SPDX-License-Identifier: Apache-2.0
//
// Distributions: the blocks that quantize(), lquantize() and llquantize() print.
#pragma once

#include "analyze/aggregate/function.hpp"

#include <span>
#include <string>
#include <vector>

namespace daybreak::analyze {

/// Appends a newline, the heading, and one line per bucket from the one before the first that holds
/// something to the one after the last.
///
/// `cells` has function.cell_count() elements.  Counts are shown divided by `normal`.
void print_distribution(std::string& out, const AggregationFunction& function,
                        std::span<const uint64_t> cells, uint64_t normal);

/// A bucket that something was counted in.
struct DistributionRow {
    std::string value; ///< as print_distribution() labels it: "16", "< 0", ">= 100"
    int64_t count = 0; ///< divided by `normal`
};

/// Returns the buckets that are not empty, ascending.
std::vector<DistributionRow> distribution_rows(const AggregationFunction& function,
                                               std::span<const uint64_t> cells, uint64_t normal);

} // namespace daybreak::analyze
