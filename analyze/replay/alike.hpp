// SPDX-License-Identifier: Apache-2.0
//
// AlikeProgram: a program whose clauses do the same for records that hold the same.
//
// Such a clause only aggregates, and looks at nothing but what was captured, constants and the
// names of its probe: not at variables, the time, or what another clause did.  Then it is enough to
// fire it once for all records that are alike in what it looks at, in any order (AlikeReplay).
#pragma once

#include "analyze/replay/replayed_probes.hpp"
#include "formats/dof/dof_program.hpp"

#include <optional>
#include <vector>

namespace daybreak::analyze {

struct AlikeProgram {
    /// What the records of an ECB are to the program.
    struct Ecb {
        bool fires = false; ///< each is a firing of clauses; else it is passed over
        uint32_t probe_id = 0;
        std::vector<CapturedField> fields; ///< that the clauses look at
    };
    std::vector<Ecb> ecbs; ///< by index in the table of the recording's ring

    /// Returns nothing for any other program, and where records of the recording may not be taken
    /// as they lie.
    static std::optional<AlikeProgram> of(const formats::DofProgram& program,
                                          const ReplayedProbes& probes, size_t recording);
};

} // namespace daybreak::analyze
