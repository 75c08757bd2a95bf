// SPDX-License-Identifier: Apache-2.0
//
// Times and sizes as people write them on a command line.  Each message begins with the option.
#pragma once

#include "base/result.hpp"

#include <string>

namespace daybreak::cmd {

/// Returns the nanoseconds of "30s", "1.5m", "500ms" or "30" (seconds); units: ns, us, ms, s, m, h, d.
base::Result<uint64_t> parse_time(const std::string& option, const std::string& text);

/// Returns the bytes of "64m" or "4096"; units: b, k, m, g, t.
base::Result<uint64_t> parse_size(const std::string& option, const std::string& text);

/// Returns the number.
base::Result<uint64_t> parse_count(const std::string& option, const std::string& text);

} // namespace daybreak::cmd
