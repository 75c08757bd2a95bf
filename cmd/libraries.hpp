// SPDX-License-Identifier: Apache-2.0
//
// The folders of D libraries that a command line names.
#pragma once

#include "compiler/compiler.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// Reads the libraries (*.d, by name) of the folders of -L, of -x libdir and -x syslibdir into
/// `options`, whose -x options are set already.  Errors: a folder or file that cannot be read.
base::Result<void> add_libraries(const std::vector<std::string>& folders,
                                 compiler::CompileOptions& options);

/// Returns what DTRACE_DEBUG prints about the libraries that were loaded: a line each, the one
/// that needs others first.
std::string library_notes(const compiler::CompileOutput& output);

} // namespace daybreak::cmd
