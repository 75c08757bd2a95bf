// SPDX-License-Identifier: Apache-2.0
//
// JSON printing: values and aggregations, as daybreak(1) describes them.
#pragma once

#include "analyze/aggregate/function.hpp"
#include "analyze/print/context.hpp"
#include "analyze/values/value.hpp"

#include <string>

namespace daybreak::analyze {

/// Appends a value: an integer, signed as trace() prints it; a string; a stack as an array of its
/// frames; an address by its name; other bytes as {"hex":"00ff"}.
void append_json_value(std::string& out, const Value& value, const PrintContext& context);

/// Appends an aggregation's value: a number, of a distribution an array of
/// {"value":label,"count":number} for the buckets that are not empty.
void append_json_aggregated(std::string& out, const AggregationView& view);

/// Returns the function's name in D, "count".
const char* aggregation_function_name(uint32_t kind);

} // namespace daybreak::analyze
