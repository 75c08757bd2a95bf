// SPDX-License-Identifier: Apache-2.0
//
// JSON printing: values and aggregations, as daybreak(1) describes them.
#pragma once

#include "analyze/aggregate/function.hpp"
#include "analyze/print/context.hpp"
#include "analyze/values/value.hpp"
#include "base/json.hpp"

#include <string>

namespace daybreak::analyze {

/// Appends a value: an integer, signed as trace() prints it; a string; a stack as an array of its
/// frames; an address by its name; other bytes as {"hex":"00ff"}.  Stores what is to be said of how
/// a stack was found in `note_ret`, when there is one.
void append_json_value(std::string& out, const Value& value, const PrintContext& context,
                       std::string* note_ret = nullptr);

/// An array of values, and beside it what is to be said of the stacks in it.
class JsonValues {
public:
    void append(const Value& value, const PrintContext& context);
    bool empty() const { return values_.empty(); }
    /// Puts the array under a name and, when something is to be said, "notes": that of each value,
    /// or null.
    void put_into(base::JsonObject& object, std::string_view name) const;

private:
    std::string values_, notes_; ///< of both arrays the elements
    bool has_note_ = false;
};

/// Appends an aggregation's value: a number, of a distribution an array of
/// {"value":label,"count":number} for the buckets that are not empty.
void append_json_aggregated(std::string& out, const AggregationView& view);

/// Returns the function's name in D, "count".
const char* aggregation_function_name(uint32_t kind);

} // namespace daybreak::analyze
