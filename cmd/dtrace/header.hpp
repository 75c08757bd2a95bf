// SPDX-License-Identifier: Apache-2.0
//
// -h: the C header of the providers that the scripts declare.
#pragma once

#include "cmd/dtrace/programs.hpp"

namespace daybreak::cmd {

/// Writes the header into the -o file; without one, beside the last script, with .h in place of
/// .d.  The header's probes are empty macros unless _DTRACE_VERSION is defined: nothing here makes
/// probes of them (-G).  Returns the exit status.
int save_header(const DtraceArguments& arguments, const CompiledPrograms* compiled);

} // namespace daybreak::cmd
