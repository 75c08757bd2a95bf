// SPDX-License-Identifier: Apache-2.0
//
// Programs that other ports' D compilers made.
//
// Layout and DIF are the same everywhere; numbers above a common base are not: subroutines from 44,
// actions 7 to 9, library actions, options from 27, llquantize()'s parameters, a few built-in
// variables. Nothing in an image says which port made it, so the caller has to.
#pragma once

#include "base/result.hpp"
#include "formats/dof/dof_program.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace daybreak::formats {

enum class DofDialect : uint8_t {
    oracle,     ///< Daybreak's own
    illumos,    ///
    freebsd,    ///
    opendtrace, ///< and DTrace on Windows
};

/// Returns the dialect of that name: "oracle", "illumos", "freebsd", "opendtrace".
std::optional<DofDialect> dof_dialect_named(std::string_view name);

/// Joins the images of one enabling (the program, the clause for faults, the options) to one
/// program.
DofProgram join_programs(std::vector<DofProgram> parts);

/// Makes a foreign program one of Daybreak's: numbers of its dialect become Daybreak's, statements are
/// numbered, versions are ours, the clause that reports faults is added unless it is there.
/// Display options that Daybreak does not have are left out. Error: unsupported, naming a
/// subroutine, action or variable that Daybreak does not have.
base::Result<void> translate_program(DofProgram& program, DofDialect from);

} // namespace daybreak::formats
