// SPDX-License-Identifier: Apache-2.0
//
// Tracing: from the compiled programs to the last line of output.
#pragma once

#include "cmd/dtrace/output.hpp"
#include "cmd/dtrace/programs.hpp"
#include "live/process/target.hpp"
#include "live/session/session.hpp"

namespace daybreak::cmd {

/// Enables what was compiled, or claims the anonymous enabling when `compiled` is null, and prints
/// until it is over.  Returns the exit status.
int run_tracing(const DtraceArguments& arguments, const CompiledPrograms* compiled,
                live::Session& session, std::vector<live::Target>& targets, DtraceOutput& output);

} // namespace daybreak::cmd
