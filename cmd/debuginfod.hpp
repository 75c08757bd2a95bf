// SPDX-License-Identifier: Apache-2.0
//
// Files that this machine does not have, from servers of debuginfod.
#pragma once

#include "analyze/symbols/object_files.hpp"
#include "base/result.hpp"

namespace daybreak::cmd {

/// Returns what asks the servers that DEBUGINFOD_URLS names, by the program debuginfod-find, which
/// keeps what it got.
/// Errors: invalid, when no server is named; not_found, when there is no such program.
base::Result<analyze::ObjectFetch> debuginfod_fetch();

} // namespace daybreak::cmd
