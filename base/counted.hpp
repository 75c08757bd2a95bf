// SPDX-License-Identifier: Apache-2.0
//
// A number and what it counts; a few of many names; what was left out of untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace daybreak::base {

/// Returns "1 record" or "3 records"; `many` is for words that do not take an s alone, and for
/// those of a sentence: counted(n, "ring is", "rings are").
inline std::string counted(uint64_t count, const std::string& one, const std::string& many = "") {
    return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

/// Returns "a, b, c and 5 more"; "" of none.
inline std::string some_of(const std::set<std::string>& names, size_t most = 3) {
    std::string text;
    size_t named = 0;
    for (auto name = names.begin(); name != names.end() && named < most; ++name, ++named)
        text += (named == 0 ? "" : ", ") + *name;
    return names.size() > named ? text + " and " + std::to_string(names.size() - named) + " more"
                                : text;
}

/// What was left out as it did not hold together: how much, and where and why the first.
struct LeftOut {
    uint64_t count = 0;
    std::string first; ///< "byte 36: contents of 20 bytes, expected at least 24"

    void add(std::string where_and_why) {
        if (count++ == 0)
            first = std::move(where_and_why);
    }
    /// Returns "1 line left out, line 7: ..." or "3 lines left out, the first: line 7: ..."; "":
    /// nothing.
    std::string text(const std::string& one) const {
        return count == 0 ? ""
                          : counted(count, one) + " left out, " +
                                (count == 1 ? "" : "the first: ") + first;
    }
};

} // namespace daybreak::base
