// SPDX-License-Identifier: Apache-2.0
//
// What was meant by a name with a typing mistake.
#include "base/nearest_name.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::base {

namespace {

/// Levenshtein distance, by rows; two neighbours exchanged count as one change.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> above(b.size() + 1), row(b.size() + 1), below(b.size() + 1);
    for (size_t j = 0; j <= b.size(); j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size(); i++) {
        below[0] = i;
        for (size_t j = 1; j <= b.size(); j++) {
            size_t change = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            below[j] = std::min({row[j] + 1, below[j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                below[j] = std::min(below[j], above[j - 2] + 1);
        }
        std::swap(above, row);
        std::swap(row, below);
    }
    return row[b.size()];
}

} // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
    constexpr size_t kNameBytesMax = 64; // longer ones are no typing mistakes worth the time
    if (name.size() > kNameBytesMax)
        return "";
    size_t best = name.size() / 3 + 1;
    std::string nearest;
    for (const std::string& candidate : candidates) {
        size_t longer = std::max(name.size(), candidate.size());
        size_t shorter = std::min(name.size(), candidate.size());
        if (candidate.size() > kNameBytesMax || longer - shorter >= best)
            continue;
        size_t away = distance(name, candidate);
        if (away < best) {
            best = away;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string did_you_mean(const std::string& name, const std::string& else_text) {
    return name.empty() ? else_text : "did you mean " + name + "?";
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
    const std::string hint = did_you_mean(nearest_name(name, candidates));
    return hint.empty() ? "" : ": " + hint;
}

} // namespace daybreak::base
