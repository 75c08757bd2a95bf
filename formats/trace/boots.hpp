// SPDX-License-Identifier: Apache-2.0
//
// Which boots the files and folders of a command line are of, for a reader of several recordings.
#pragma once

#include "formats/trace/reader.hpp"

#include <span>
#include <string>
#include <vector>

namespace daybreak::formats {

/// A boot that is wanted, and what read_traces() reads it from.
struct WantedBoot {
    uint64_t boot_id = 0;
    std::string name;               ///< for ReadOptions::boot
    std::vector<std::string> paths; ///< of those that were named
};

struct WantedBoots {
    std::vector<WantedBoot> boots; ///< ascending by id
    size_t left_out = 0;           ///< boots of folders that are not the wanted one there
};

/// Finds the boots: of each file its own; of each folder the running one when files of it are
/// there, else the newest, or all of them.  A file that has symbols and nothing else is of the boot
/// that its name says, when that one is wanted.  One of which nothing says the boot is read with
/// each, which has findings about it then.
/// Errors: as of read_traces().
Result<WantedBoots> find_boots(std::span<const std::string> paths, const ReadOptions& options,
                               bool all_of_folders);

} // namespace daybreak::formats
