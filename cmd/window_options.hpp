// SPDX-License-Identifier: Apache-2.0
//
// Which part of a recording: --since, --until, --ring, --cpu and --probe.
#pragma once

#include "analyze/decode/wanted_probes.hpp"
#include "analyze/decode/window.hpp"
#include "cmd/command.hpp"
#include "compiler/syntax/ast_types.hpp"
#include "formats/trace/reader.hpp"

namespace daybreak::cmd {

/// What the user wrote; empty: not asked for.
struct WindowOptions {
    std::string since, until, ring, cpus, probe;
    const char *since_option = "--since", *until_option = "--until"; ///< what messages call them

    bool has_time() const { return !since.empty() || !until.empty(); }
    /// Whether a part of the file is enough to read.
    bool may_skim() const;
};

/// Adds --since and --until.
void add_time_options(Command command, WindowOptions& options);
/// Adds --ring alone.
void add_ring_option(Command command, WindowOptions& options);
/// Adds --since, --until, --ring and --cpu.
void add_window_options(Command command, WindowOptions& options);
/// Adds --probe.
void add_probe_option(Command command, WindowOptions& options);

/// Returns an error of kind invalid when a time, a list of CPUs or a probe description cannot be
/// read, whatever the recording holds.
base::Result<void> check_window_options(const WindowOptions& options);

/// Leaves the rings and the CPUs that were asked for in the recording, and returns the window of
/// time; when none was asked for, an empty one.
/// Errors: invalid as above; not_found, when the recording does not have what was asked for: a
///         ring, a CPU, a trigger, a time.  The message says what it has.
base::Result<analyze::TimeWindow> apply_window_options(const WindowOptions& options,
                                                       formats::Recording& recording);

/// The error of an option that names a moment outside the recording; says what that covers.
base::Error outside_error(const char* option, const std::string& text,
                          const formats::Recording& recording);

/// Returns the parts of a description.  `given` is what a message begins with: "--probe 'a:b'".
base::Result<compiler::ProbeDescription> parse_probe(const std::string& given,
                                                     const std::string& text);

/// Returns the probes of the recording that --probe describes.
/// Errors: invalid as above; not_found, when no probe matches.  The message names some that it has.
base::Result<analyze::WantedProbes> probes_asked_for(const WindowOptions& options,
                                                     const formats::Recording& recording);

/// Returns CLOCK_MONOTONIC of the first record of the probes that an option describes; says so when
/// earlier ones may be missing.
/// Errors: invalid as above; not_found.
base::Result<uint64_t> first_of_probe_ns(const char* option, const std::string& text,
                                         const formats::Recording& recording);

/// Says that a part of a recording, which was asked for, has no record.
void complain_of_nothing(const analyze::TimeWindow& window,
                         const analyze::WantedProbes& probes = {}, const std::string& cpus = "");

/// Prints an error of these.  Returns the exit status: the user's mistake, or a failure.
int fail_window(const char* command, const base::Error& error);

} // namespace daybreak::cmd
