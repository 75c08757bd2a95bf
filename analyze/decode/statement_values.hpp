// SPDX-License-Identifier: Apache-2.0
//
// Statement values: what one record holds for a statement, by the types of its plan.
//
// Values are views into the record.
#pragma once

#include "analyze/decode/program.hpp"

#include <optional>
#include <vector>

namespace daybreak::analyze {

/// Returns the field's value; empty when it lies outside the record.
std::optional<Value> value_of(const FieldPlan& field, base::ByteView record);

/// Returns the values of a statement's fields, tracemem() cut to the size that was computed.  Those
/// that lie outside the record are left out: then fewer values than fields come back.
std::vector<Value> values_of(const Statement& statement, base::ByteView record);

/// Returns what was recorded of a number, or the constant that its DIF object returns.
uint64_t number_of(const NumberPlan& number, base::ByteView record);

/// Returns a number as the id of an aggregation variable; one beyond 32 bits is not any's.
uint32_t variable_of(const NumberPlan& number, base::ByteView record);

} // namespace daybreak::analyze
