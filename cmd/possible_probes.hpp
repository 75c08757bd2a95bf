// SPDX-License-Identifier: Apache-2.0
//
// Which probes a kernel can have at all.
//
// An embedded enabling is matched when its kernel boots, and again when modules bring new probes:
// `daybreak compile` cannot know them.  But it knows the providers and how they name their probes,
// and refuses a description that nothing will ever match: a misspelt provider, a timer that is too
// fast, a name that no function or tracepoint can have.
#pragma once

#include "compiler/syntax/ast_types.hpp"

namespace daybreak::cmd {

/// Returns whether some kernel with our module could have a probe that the description matches.
bool probe_is_possible(const compiler::ProbeDescription& description);

} // namespace daybreak::cmd
