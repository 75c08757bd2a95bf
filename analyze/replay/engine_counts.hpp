// SPDX-License-Identifier: Apache-2.0
//
// EngineCounts: programs whose aggregations the engine of a replay may keep itself.
//
// A record for each count goes through a ring to the report, and says when it was counted.  Where
// nothing looks at aggregations before END, a clause that faults has not counted before, and no key
// is named by when it was counted, the sums are the same if the engine keeps them in its buffers
// (aggregate=engine), at a third of the cost.
#pragma once

#include "formats/dof/dof_program.hpp"

#include <optional>

namespace daybreak::analyze {

struct EngineCounts {
    uint32_t buffer_bytes = 0; ///< of a CPU's aggregation buffer
    uint64_t firings_max = 0;  ///< that fit, whatever their keys: then it has to be read

    /// Returns nothing when each count has to be a record.
    static std::optional<EngineCounts> of(const formats::DofProgram& program, uint32_t cpus);
    /// Makes the program one whose aggregations the engine keeps.
    void apply(formats::DofProgram& program) const;
};

} // namespace daybreak::analyze
