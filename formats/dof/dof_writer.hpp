// SPDX-License-Identifier: Apache-2.0
//
// Writing DOF: a DofProgram into the bytes that every reader of DOF v2 understands.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/dof/dof_program.hpp"

namespace daybreak::formats {

/// Returns the image of `program`, and stores in its objects the sections they went to.
///
/// Errors: limit (an image, object or action list larger than the format's limits), invalid (a
///         dangling index, or a relocation, which only other compilers make).
base::Result<base::Bytes> write_dof(DofProgram& program);

} // namespace daybreak::formats
