// SPDX-License-Identifier: Apache-2.0
//
// The terminal: messages, colour where a person looks, progress on long work.
#pragma once

#include "base/result.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak::cmd {

/// Exit statuses, the same for every subcommand.
enum class Exit : int {
    ok = 0,
    failed = 1, ///< a one-line message is on stderr, nothing half-written is left
    usage = 2,
    losses = 3, ///< done, but the data has known losses; `daybreak info` says which
};

/// Whether to use colour on a stream: it is a terminal, TERM is not "dumb", NO_COLOR is not set.
bool wants_colour(int fd);

/// Whether a D test suite looks at what is printed (_DTRACE_TESTING): it expects DTrace's columns
/// and words, and none of Daybreak's.
bool is_testing();

/// Returns the text as the stream may have it: for a terminal what would drive it is made visible,
/// as
/// "\033" in four characters; files and pipes get the bytes.  Recordings and names are not trusted.
std::string for_stream(int fd, std::string_view text);

/// Writes "NAME: MESSAGE\n" to stderr, made visible wherever stderr goes: logs are read on
/// terminals.
void say(std::string_view name, std::string_view message);

/// The same of "daybreak".
void complain(std::string_view message);

/// Writes what is wrong with the arguments of a command, and where its help is; returns
/// Exit::usage.
int misuse(const std::string& command, const std::string& what);

/// Writes the error's message with complain() and returns Exit::failed.
int fail(const base::Error& error);

/// Writes all of the text to stdout, as for_stream() has it.  False when there is no reader any
/// more (a closed pipe): stop quietly. Any other failure (a full disk) is complained about once;
/// finish_stdout() then says failed.
bool put(std::string_view untrusted_text);

/// Returns ok, or failed when something could not be written to stdout.
Exit finish_stdout();

/// Set by Ctrl-C and SIGTERM once install_interrupt() was called; long work polls it.
extern const std::atomic<bool>& interrupted;
void install_interrupt();
/// The same as a function that long work asks.
bool is_interrupted();

} // namespace daybreak::cmd
