// SPDX-License-Identifier: Apache-2.0
//
// -C: the C preprocessor over a D program.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::cmd {

/// What runs over a program, and how.
struct Preprocessing {
    bool wanted = false;            ///< -C
    std::string program = "cpp";    ///< -x cpppath
    std::vector<std::string> words; ///< -D, -U, -I and -H, as cpp takes them
    std::string standard;           ///< -X: what comes before the program

    /// Adds -D, -U and -I as they were given.
    void add(const std::vector<std::string>& definitions,
             const std::vector<std::string>& undefinitions,
             const std::vector<std::string>& include_folders);
    /// Adds what an option of -x asks of cpp, if it is such a one: cpp, cppargs, cpphdrs, cpppath,
    /// define, incdir, stdc, undef.
    void add_option(std::string_view name, const std::optional<std::string>& value);
};

/// Returns the text as cpp(1) leaves it, with its line markers.  `name` is what those call the
/// program; files it includes with quotes are looked for beside it.  Error: not_found when there is
/// no cpp, invalid when it fails (its own messages went to standard error).
base::Result<std::string> preprocess(const std::string& name, const std::string& text,
                                     const Preprocessing& how);

} // namespace daybreak::cmd
