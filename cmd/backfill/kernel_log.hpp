// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log: every record that it still has, on CLOCK_MONOTONIC.
#pragma once

#include "cmd/backfill/kernel_start.hpp"

namespace daybreak::cmd {

/// Adds the kernel's messages, and says what is not there.
void add_messages(const StartSource& source, StartClocks& clocks, KernelStart& start);

/// Whether our module writes this message while it is loaded, and at no other time.
bool is_said_at_load(const std::string& message);

} // namespace daybreak::cmd
