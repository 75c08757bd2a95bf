// SPDX-License-Identifier: Apache-2.0
//
// -C: the C preprocessor over a D program.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// Returns cpp's words for -D, -U and -I as they were given.
std::vector<std::string> preprocessor_words(const std::vector<std::string>& definitions,
                                            const std::vector<std::string>& undefinitions,
                                            const std::vector<std::string>& include_folders);

/// Returns the text as cpp(1) leaves it, with its line markers.  `name` is what those call the
/// program; files it includes with quotes are looked for beside it.  Error: not_found when there is
/// no cpp, invalid when it fails (its own messages went to standard error).
base::Result<std::string> preprocess(const std::string& name, const std::string& text,
                                     const std::vector<std::string>& arguments);

} // namespace daybreak::cmd
