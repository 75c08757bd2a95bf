// SPDX-License-Identifier: Apache-2.0
//
// A program that is replayed: of which ring, compiled against what, with which buffers.
#pragma once

#include "analyze/replay/capture_table.hpp"
#include "cmd/program.hpp"
#include "formats/segment/recording.hpp"

#include <set>
#include <string>

namespace daybreak::cmd {

/// Returns "a, b, c and 5 more".
std::string some_of(const std::set<std::string>& names);

/// Says which probes of the program were recorded now and then only.
void complain_of_predicates(const formats::DofProgram& program,
                            const analyze::CaptureTable& table);

/// Returns the index of the ring that is replayed.
/// Error: invalid, when there are several to choose from; not_found, when there is none.
base::Result<size_t> ring_of(const formats::Recording& recording);

/// Returns the D text that was recorded with.  Error: not_found.
base::Result<compiler::CompileSource> stored_source(const analyze::RingProgram& program);

/// Returns the image to run.  Buffers of a replay lose nothing: they are read in time, whatever the
/// program asks of them.  Errors: as formats::write_dof().
base::Result<base::Bytes> replayed_dof(CompiledProgram& compiled,
                                       const std::vector<formats::DofOption>& recorded_options);

/// What to do about a description that matches no probe with records.
std::string hint_for(const compiler::ProbeDescription& description,
                     const formats::RingRecording& ring, const std::string& path);

} // namespace daybreak::cmd
