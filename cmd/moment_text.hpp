// SPDX-License-Identifier: Apache-2.0
//
// Points in time as --since and --until have them: 12.5, +2, -5, panic-5s, probe:GLOB+1s, a date.
#pragma once

#include "analyze/decode/moment.hpp"

#include <string>

namespace daybreak::cmd {

/// Error: invalid, in the name of the option.
base::Result<analyze::Moment> parse_moment(const std::string& option, const std::string& text);

} // namespace daybreak::cmd
