// SPDX-License-Identifier: Apache-2.0
//
// Compiled programs on a command line: images, or files that keep them as properties, of any port.
#pragma once

#include "base/result.hpp"
#include "formats/dof/dof_program.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// Reads the files and joins what they hold into one program of Daybreak's.  `dialect` is whose
/// numbers they have, one that formats::dof_dialect_named() knows.
base::Result<formats::DofProgram> read_dof_files(const std::vector<std::string>& paths,
                                                 const std::string& dialect);

} // namespace daybreak::cmd
