// SPDX-License-Identifier: Apache-2.0
//
// What was meant by a name with a typing mistake.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace daybreak::base {

/// Returns the candidate nearest to `name`, at most a third of its letters away; "" when none is.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// Returns "did you mean NAME?", or `else_text` when the name is empty.
std::string did_you_mean(const std::string& name, const std::string& else_text = "");

/// Returns ": did you mean NAME?" for the candidate nearest to `name`; "" when none is near.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

} // namespace daybreak::base
