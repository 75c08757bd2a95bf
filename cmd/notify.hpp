// SPDX-License-Identifier: Apache-2.0
//
// Telling the service manager how a daemon is (sd_notify(3)): a datagram to the socket that
// NOTIFY_SOCKET names.  Without one, nothing happens.
#pragma once

#include <string>

namespace daybreak::cmd {

/// Sends assignments, one a line: "READY=1\nSTATUS=recording".  Returns whether they were sent.
bool notify_manager(const std::string& assignments);

} // namespace daybreak::cmd
