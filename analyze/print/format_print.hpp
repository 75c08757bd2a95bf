// SPDX-License-Identifier: Apache-2.0
//
// Formatted printing: a parsed format and its values into text.
#pragma once

#include "analyze/aggregate/function.hpp"
#include "analyze/print/context.hpp"
#include "analyze/values/format.hpp"
#include "analyze/values/value.hpp"

#include <span>
#include <string>

namespace daybreak::analyze {

/// Appends the values as the format says.
///
/// Ordinary conversions and '*' take the next of `values`; %@ takes the next of `aggregations`, the
/// last one again when there is no next.  Values that no conversion takes are not printed.
/// Error: invalid, when a conversion has no value; what came before it has been appended.
base::Result<void> print_formatted(std::string& out, const Format& format,
                                   std::span<const Value> values,
                                   std::span<const AggregationView> aggregations,
                                   const PrintContext& context);

/// Returns the text with everything a terminal would not show as \n, \t, \ooo and the like.
std::string escaped(std::string_view text);

} // namespace daybreak::analyze
