// SPDX-License-Identifier: Apache-2.0
//
// Which of the recorded probes the clauses of a replayed program are of.
#pragma once

#include "analyze/decode/merge.hpp"
#include "analyze/replay/replayed_probes.hpp"
#include "formats/dof/dof_program.hpp"

#include <map>
#include <vector>

namespace daybreak::analyze {

/// By id, the clauses of each probe of a recording that has any; those of BEGIN, END and ERROR are
/// none.
std::map<uint32_t, std::vector<const formats::DofEcb*>>
clauses_of_probes(const formats::DofProgram& program, const ReplayedProbes& probes,
                  size_t recording);

/// The ECBs of these probes, and of BEGIN and END, by ring of the recording.
YieldedEcbs asked_ecbs(const formats::DofProgram& program, const ReplayedProbes& probes,
                       size_t recording);

} // namespace daybreak::analyze
