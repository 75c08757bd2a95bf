// SPDX-License-Identifier: Apache-2.0
//
// -h and -G: what a program needs to have the probes that the scripts declare.
#pragma once

#include "cmd/dtrace/programs.hpp"

namespace daybreak::cmd {

/// Writes the header (-h) or the object file (-G) into the -o file; without one, beside the last
/// script, with .h or .o in place of .d.  The header makes the probes by itself; the object file is
/// for builds that link one, and has nothing in it.  Returns the exit status.
int save_own_probes(const DtraceArguments& arguments, const CompiledPrograms* compiled);

} // namespace daybreak::cmd
