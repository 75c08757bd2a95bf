// SPDX-License-Identifier: Apache-2.0
//
// What dtrace says on standard error.
#pragma once

#include "base/result.hpp"
#include "cmd/terminal.hpp"

#include <string>
#include <string_view>

namespace daybreak::cmd {

/// Whether a D test suite looks at what is printed (_DTRACE_TESTING): it expects DTrace's columns
/// and words, and none of ours.
bool is_testing();

/// Returns why a file cannot be had, as strerror() says it, from an error that names it too.
std::string system_reason(const std::string& path, const base::Error& error);

} // namespace daybreak::cmd
