// SPDX-License-Identifier: Apache-2.0
//
// A number and what it counts.
#pragma once

#include <cstdint>
#include <string>

namespace daybreak::base {

/// Returns "1 record" or "3 records"; `many` is for words that do not take an s alone, and for
/// those of a sentence: counted(n, "ring is", "rings are").
inline std::string counted(uint64_t count, const std::string& one, const std::string& many = "") {
    return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

} // namespace daybreak::base
