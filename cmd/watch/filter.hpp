// SPDX-License-Identifier: Apache-2.0
//
// Whom `daybreak watch` watches: its filters, as one D expression.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// Values of one kind are alternatives; all kinds that are given must hold.
struct WatchFilter {
    std::vector<std::string> processes;  ///< patterns of execname, with at most one * inside
    std::vector<std::string> pids;       ///< decimal
    std::vector<std::string> users;      ///< names or numbers
    std::vector<std::string> groups;     ///< the same
    std::vector<std::string> cgroups;    ///< patterns of cgroup's path, or of the unit's name
    std::vector<std::string> containers; ///< the beginnings of IDs, hexadecimal
    std::vector<std::string> tests;      ///< D expressions
};

/// Returns the expression, "1" without a filter.  Error: invalid: which value is wrong, and why.
base::Result<std::string> filter_expression(const WatchFilter& filter);

/// Returns what holds when a D string matches a pattern in which * stands for any text.
/// Error: invalid: a pattern with more than one * inside, or with ?, [ or a backslash.
base::Result<std::string> pattern_expression(const std::string& d_string,
                                             const std::string& pattern);

} // namespace daybreak::cmd
