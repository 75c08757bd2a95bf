// SPDX-License-Identifier: Apache-2.0
//
// -A: the programs as properties of a file, for a boot to come.
#pragma once

#include "cmd/dtrace/programs.hpp"

namespace daybreak::cmd {

/// Puts the image into the -o file (kAnonymousPath without one), in place of what was there;
/// without programs only what was there goes.  A name that ends in ".dof" gets FreeBSD's form,
/// others that of illumos.  Returns the exit status.
int save_anonymous(const DtraceArguments& arguments, const CompiledPrograms* compiled);

/// Where -A saves without -o.
constexpr const char* kAnonymousPath = "/etc/daybreak/dtrace.conf";

} // namespace daybreak::cmd
