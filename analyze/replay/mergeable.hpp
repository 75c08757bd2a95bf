// SPDX-License-Identifier: Apache-2.0
//
// Mergeable programs: those whose answer can be put together from answers over parts.
//
// What their clauses do with a record is to aggregate; sums, minima and maxima do not depend on the
// order.  What prints, normalizes or truncates is in BEGIN and END, which run once, over the merged
// aggregations (docs/design/0078-partial-states.md).
#pragma once

#include "analyze/replay/capture_table.hpp"
#include "formats/dof/dof_program.hpp"

namespace daybreak::analyze {

/// A program taken apart for that.
struct MergeableProgram {
    formats::DofProgram part; ///< what runs over a part: all but END, and but what BEGIN counts
    formats::DofProgram ends; ///< what runs over the merged states: BEGIN and END
    bool keeps_thread_state = false, keeps_global_state = false, has_ticks = false;
};

/// Takes a program apart that was compiled for the table.
/// Error: unsupported, when its answer is not the sum of those over parts: the message says why.
base::Result<MergeableProgram> mergeable_program(const formats::DofProgram& program,
                                                 const CaptureTable& table);

} // namespace daybreak::analyze
