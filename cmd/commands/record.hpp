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

/// Claims the programs of these names that no process holds, or each such one without names, and
/// writes a file each.  What was written before an error is in `files`.  Errors: unsupported: no
/// module; not_found: nothing to claim; io.
base::Result<void> claim_all(const std::string& folder_path, const std::vector<std::string>& names,
                             bool quiet, bool rows, ClaimedFiles& files);

} // namespace daybreak::cmd
