// SPDX-License-Identifier: Apache-2.0
//
// `daybreak dtrace`, and the program under the name dtrace.
#pragma once

#include "cmd/dtrace/options.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// Runs dtrace(1)'s command line; `words` are those after the name.  `name` is what messages begin
/// with.  Returns the exit status: what exit() was given; 1 when something failed, 2 for wrong
/// usage.
int run_dtrace(const std::string& name, const std::vector<std::string>& words);

/// Runs what such a command line means.  Returns the exit status.
int run_dtrace(DtraceArguments arguments);

} // namespace daybreak::cmd
