// SPDX-License-Identifier: Apache-2.0
//
// Printing aggregations: printa() with and without a format, and what is left at the end.
#pragma once

#include "analyze/aggregate/sort.hpp"
#include "analyze/print/context.hpp"
#include "analyze/values/format.hpp"

#include <span>
#include <string>

namespace daybreak::analyze {

/// Appends what printa() shows of `variables`, in order.
///
/// Without a format (null) a newline comes first.  What was shown is not printed at the end.
/// Error: invalid, when the format wants more than a key has.
base::Result<void> print_printa(std::string& out, AggregationTable& table,
                                std::span<const uint32_t> variables,
                                const AggregationFunctions& functions, const Format* format,
                                const PrintContext& context);

/// Appends every aggregation that no printa() has shown.
void print_unprinted(std::string& out, const AggregationTable& table, const PrintContext& context);

} // namespace daybreak::analyze
