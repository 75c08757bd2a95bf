// SPDX-License-Identifier: Apache-2.0
//
// The probes that a kernel will have, by its image.
//
// What is in an image is known before it boots: its tracepoints (BTF), its functions and which of
// them ftrace can patch (its symbols).  System calls are those of the headers that this program was
// built with.  Modules bring functions and tracepoints of their own, which are not in the image.
#pragma once

#include "base/result.hpp"
#include "cmd/program.hpp"
#include "compiler/types/kernel_types.hpp"
#include "formats/dof/dof_program.hpp"

#include <span>
#include <string>
#include <vector>

namespace daybreak::cmd {

struct SystemCall {
    const char* module; ///< vmlinux, i386 or x32: the table it is of
    const char* name;
};

/// Returns the system calls that the headers have, by table, and those that came later.
std::span<const SystemCall> system_calls();

/// Returns the probes of the kernel itself, in the order of providers; those that exist because
/// they are named (profile-97) are not there.  Errors: whatever kept it from being read.
base::Result<std::vector<formats::DofProbeName>> image_probes(compiler::BtfKernelTypes& kernel);

/// Returns what is to be said of the descriptions of a program that match nothing in the image, a
/// line each.  One that a module may yet match (it names a module, or is a pattern without one) is
/// not among them, unless a colon in another place, or no module, makes it one that matches.  The
/// last line is of those that could not be looked up: no image.  Of a null kernel only the system
/// calls are known.
std::vector<std::string> unmatched_probes(const formats::DofProgram& program,
                                          compiler::BtfKernelTypes* kernel);

inline std::vector<std::string> unmatched_probes(const formats::DofProgram& program,
                                                 compiler::BtfKernelTypes& kernel) {
    return unmatched_probes(program, &kernel);
}

/// Prints what of a program its kernel does not have, as warnings.  A release whose image is not here
/// is one too: it may be another machine's.  Of a program compiled for no kernel only what no kernel
/// has is known.  Error: a file without types.
base::Result<void> check_kernel(const ProgramArguments& arguments, const CompiledProgram& compiled);

} // namespace daybreak::cmd
