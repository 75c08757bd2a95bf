// SPDX-License-Identifier: Apache-2.0
//
// The files of a recorder that follows the rings, as a second source for a snapshot.
#pragma once

#include "formats/segment/recording.hpp"

#include <string>

namespace daybreak::recorder {

/// Adds pieces of the boot from the newest files in `folder`, backwards until `builder` has
/// segments of each CPU since `from_mono_ns` (0: in any case), or `files_max` were read.  Findings
/// go to `findings`. Error: the folder cannot be read.
base::Result<void> add_recorder_files(const std::string& folder, uint64_t boot_id,
                                      uint64_t from_mono_ns, size_t files_max,
                                      formats::RecordingBuilder& builder,
                                      formats::Findings& findings);

/// Returns the folder that a recorder's status file names; empty when there is no such file.
std::string recorder_folder(const std::string& status_path);

} // namespace daybreak::recorder
