// SPDX-License-Identifier: Apache-2.0
//
// Flow indentation: option flowindent (-F).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak::analyze {

/// A probe as flow indentation sees it.
struct FlowProbe {
    uint32_t epid = 0;
    uint32_t probe_id = 0;
    std::string_view provider, function, name;
};

/// Follows one CPU's entries and returns.
class FlowIndent {
public:
    /// Returns what stands in the function column for a record of `probe`.
    ///
    /// `next_epid` and `next_probe_id` are of the CPU's next record, 0 when there is none: a return
    /// that is followed by another clause of the same probe does not unindent yet.
    std::string text(const FlowProbe& probe, uint32_t next_epid, uint32_t next_probe_id);

private:
    int indent_ = 0;
    uint32_t last_epid_ = 0, last_probe_id_ = 0;
};

} // namespace daybreak::analyze
