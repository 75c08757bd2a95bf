// SPDX-License-Identifier: Apache-2.0
//
// The running kernel as a session: /dev/daybreak (docs/design/0045-nothing-made-up.md).
#pragma once

#include "live/session/session.hpp"
#include "recorder/device.hpp"

#include <memory>
#include <string>

namespace daybreak::live {

/// Returns the session of the kernel that a device belongs to; `release` is that kernel's.
/// Error: unsupported, when the module is of another version.
base::Result<std::unique_ptr<Session>>
open_live_session(std::unique_ptr<recorder::DeviceApi> device, std::string release,
                  SessionOutside outside);

} // namespace daybreak::live
