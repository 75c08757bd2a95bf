// SPDX-License-Identifier: Apache-2.0
//
// What `backfill --release -o FOLDER/before.dbrk` does, for the unit that collects a boot too.
#pragma once

#include "base/result.hpp"
#include "cmd/backfill/kernel_start.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

struct BackfilledFile {
    std::string path;
    std::vector<std::string> losses; ///< what is not in it, one line each
};

/// Runs the standard program over what the kernel kept of its start, writes FOLDER/before.dbrk or a
/// free name alike, and ends the kernel's events, unless some had no room in the file.
/// Errors: not_found: the kernel kept no events, or there is no standard program; those of
/// read_kernel_start(); io.
base::Result<BackfilledFile> backfill_into(const std::string& folder, const StartSource& source);

} // namespace daybreak::cmd
