// SPDX-License-Identifier: Apache-2.0
//
// Whether a list has an element.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace daybreak::base {

inline bool contains(const std::vector<std::string>& list, const std::string& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
}

} // namespace daybreak::base
