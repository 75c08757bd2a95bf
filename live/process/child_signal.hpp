// SPDX-License-Identifier: Apache-2.0
//
// SIGCHLD: a child that stops or ends cuts a sleep short.
#pragma once

#include <cstdint>

namespace daybreak::live {

/// Keeps SIGCHLD pending for sleep_until_child(), in this thread and those that it starts.
void block_child_signal();

/// Sleeps until a child does something, another signal arrives, or the time is over.  Returns
/// whether a child did; without block_child_signal() what it did between two sleeps is not seen.
bool sleep_until_child(uint64_t ns);

} // namespace daybreak::live
