// SPDX-License-Identifier: Apache-2.0
//
// Lines of a perf-PID.map that JitNames makes nothing of.
#pragma once

#include "base/counted.hpp"

#include <string_view>

namespace daybreak::formats {

/// Returns the lines of an untrusted text that name nothing, as they do not hold.
base::LeftOut lines_left_out(std::string_view untrusted);

} // namespace daybreak::formats
