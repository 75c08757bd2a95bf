// SPDX-License-Identifier: Apache-2.0
//
// What `record --claim -o FOLDER/` does, for the unit that collects a boot too.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

struct ClaimedFiles {
    std::vector<std::string> paths; ///< in the order of rings
    bool losses = false;
};

/// Claims every program that no process holds, and writes a file each.  Errors: unsupported: no
/// module; not_found: nothing to claim; io.
base::Result<ClaimedFiles> claim_all(const std::string& folder_path, bool quiet);

} // namespace daybreak::cmd
