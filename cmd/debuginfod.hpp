// SPDX-License-Identifier: Apache-2.0
//
// Files that this machine does not have, from servers of debuginfod.
#pragma once

#include "analyze/symbols/object_files.hpp"
#include "base/result.hpp"
#include "cmd/command.hpp"

namespace daybreak::cmd {

/// --debuginfod: without it the network is not used.
void add_debuginfod_option(Command command, bool& may_ask);

/// Returns what asks the servers that DEBUGINFOD_URLS names, by the program debuginfod-find, which
/// keeps what it got; an empty one, if it may not ask.
/// Errors: invalid, when no server is named; not_found, when there is no such program.
base::Result<analyze::ObjectFetch> debuginfod_fetch(bool may_ask);

} // namespace daybreak::cmd
