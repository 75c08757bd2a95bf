// SPDX-License-Identifier: Apache-2.0
//
// The D program of `daybreak watch`: a profile with its filter, or a line for each firing of a
// probe (docs/design/0079-watch.md).
#pragma once

#include "base/result.hpp"
#include "cmd/watch/profiles.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace daybreak::cmd {

/// What a line says of a firing after the time, who it was and which probe.
struct WatchDetails {
    std::vector<std::string> arguments; ///< -A: D expressions
    std::string code;                   ///< -E: D statements that print; in place of all else
};

/// Returns the probe description that a word of the command line means: itself when it has a colon;
/// `syscall::WORD:entry` for a system call; `:::WORD` with a dash in it, as exec-success; else
/// `fbt::WORD:entry`.
std::string description_of(const std::string& word);

/// Returns the system call that does what `word` does, but from a folder: openat for open; "" when there is none.
std::string call_beside(const std::string& word);

/// Returns the profile's text after a definition of `watched`, the filter.
/// Error: unsupported: there is a filter, and the profile has no place for one.
base::Result<std::string> profile_program(const Profile& profile, const std::string& filter);

/// Returns a program that prints a line for each firing that the filter lets through.
std::string probe_program(const std::vector<std::string>& words, const std::string& filter,
                          const WatchDetails& details);

/// Returns a clause that ends the program after a time.
std::string end_clause(uint64_t ns);

} // namespace daybreak::cmd
