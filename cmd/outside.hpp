// SPDX-License-Identifier: Apache-2.0
//
// What printing does outside of itself: system() and freopen().
//
// Only for programs that the user runs now, or asks to have carried out: a recording may come from
// anywhere, and so may the commands in it.
#pragma once

#include "analyze/consume/consumer.hpp"
#include "cmd/trace_sink.hpp"

namespace daybreak::cmd {

/// Returns hooks that run commands with /bin/sh and point standard output elsewhere and back.
/// `sink` must outlive them: its text is written before either happens.
analyze::ConsumerHooks outside_hooks(TerminalSink& sink);

} // namespace daybreak::cmd
