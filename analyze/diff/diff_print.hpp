// SPDX-License-Identifier: Apache-2.0
//
// Diff print: a comparison as text for a person, and as JSON.
#pragma once

#include "analyze/diff/comparison.hpp"

#include <string>

namespace daybreak::analyze {

struct DiffLayout {
    size_t boots_before = 1, boots_after = 1;
    size_t rows_max = 10; ///< of an aggregation; 0: all
};

/// Appends the rows that changed: key, before, after, change, and of sets how likely chance is.
/// Distributions stand side by side.
void print_comparison(std::string& out, const ComparedAnswer& answer, const DiffLayout& layout);

/// Appends an object of JSON with all rows.
void append_json_comparison(std::string& out, const ComparedAnswer& answer,
                            const DiffLayout& layout);

} // namespace daybreak::analyze
