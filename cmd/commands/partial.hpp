// SPDX-License-Identifier: Apache-2.0
//
// replay --partial: what a replay aggregated goes into a file, to be merged.
#pragma once

#include "analyze/replay/replayed_probes.hpp"
#include "cmd/program.hpp"
#include "cmd/recording_set.hpp"

namespace daybreak::cmd {

/// What is replayed, and where its states go.
struct PartialRequest {
    const OpenRecording& recording; ///< its window is the part's
    const analyze::ReplayedProbes& probes;
    const CompiledProgram& compiled; ///< with the options of a replay
    std::string path;
    analyze::ObjectPlaces places; ///< where programs are looked for
};

/// Runs it and writes the file.  Returns the exit status.
int replay_partial(const PartialRequest& request);

} // namespace daybreak::cmd
