// SPDX-License-Identifier: Apache-2.0
//
// What dtrace says on standard error.
#pragma once

#include "base/result.hpp"
#include "cmd/terminal.hpp"
#include "live/session/session.hpp"

#include <string>
#include <string_view>

namespace daybreak::cmd {

/// Returns why a file cannot be had, as strerror() says it, from an error that names it too.
std::string system_reason(const std::string& path, const base::Error& error);

/// Says each line of what a session remarks; `quiet`: without those of options that were lowered.
void say_remarks(const std::string& name, const live::Session& session, bool quiet = false);

} // namespace daybreak::cmd
