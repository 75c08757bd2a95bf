// SPDX-License-Identifier: Apache-2.0
//
// A program that is replayed: which one, compiled against what, with which buffers.
#pragma once

#include "cmd/program.hpp"
#include "cmd/recorded_table.hpp"
#include "cmd/recording_set.hpp"

#include <span>
#include <string>

namespace daybreak::cmd {

/// Makes $target what it was when these were recorded: a number, or a variable where that differs
/// and in a part, whose program is that of the other parts.
void know_target(KnownProbes& known, std::span<const analyze::ReplayedRecording> recordings,
                 bool is_part = false);

/// Error: invalid, a probe of the program was recorded in two rings of one boot at the same time.
base::Result<void> check_recorded_once(const formats::DofProgram& program,
                                       const RecordedTable& state,
                                       std::span<const analyze::ReplayedRecording> recordings);

/// What to say of probes of the program that were recorded now and then only; "": of none.
/// `is_stored`: it is the recorded program, of which a clause has its own records, or none.
std::string note_of_predicates(const formats::DofProgram& program,
                               std::span<const analyze::CaptureTable* const> tables,
                               bool is_stored = false);

/// Says that of a set, but in tests.
void complain_of_predicates(const formats::DofProgram& program, const RecordingSet& set,
                            bool is_stored);

/// Returns the D text that a recording was made with.
/// Error: not_found.
base::Result<compiler::CompileSource> stored_source(const analyze::RingProgram& program);

/// Returns the D text that all of them were recorded with.
/// Errors: not_found; invalid, when they differ.
base::Result<compiler::CompileSource> stored_source(const RecordingSet& set);

/// Returns the image to run.  Buffers of a replay lose nothing: they are read in time, whatever the
/// program asks of them.  Errors: as formats::write_dof().
base::Result<base::Bytes> replayed_dof(CompiledProgram& compiled,
                                       const std::vector<formats::DofOption>& recorded_options);

/// What to do about a description that matches no probe with records.
std::string hint_for(const compiler::ProbeDescription& description, const RecordingSet& set);

} // namespace daybreak::cmd
