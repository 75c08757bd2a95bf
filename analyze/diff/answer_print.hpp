// SPDX-License-Identifier: Apache-2.0
//
// Answer print: an aggregation in a few lines for a person, and whole as JSON.
#pragma once

#include "analyze/session/answer.hpp"

#include <span>
#include <string>

namespace daybreak::analyze {

/// Returns the members of a key, "(all)" when it has none.
std::string key_text(std::span<const std::string> key);

/// Appends the `rows_max` keys with the largest values, a line each; of min() the smallest.  Of a
/// distribution the line says how many values there are, and in which bucket the middle one and the
/// 99th of 100 lie.  A sum of 0 is left out: what was added was taken away again.
void print_answer(std::string& out, const Answer& answer, size_t rows_max);

/// Appends an object of JSON with all rows.
void append_json_answer(std::string& out, const Answer& answer);

} // namespace daybreak::analyze
