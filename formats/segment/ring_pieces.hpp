// SPDX-License-Identifier: Apache-2.0
//
// RingPieces: what one look at a ring at work brings.
#pragma once

#include "formats/segment/finding.hpp"

#include <optional>
#include <vector>

namespace daybreak::formats {

/// Whole pieces as segment.md and meta.md have them, all of them copies.
struct RingPieces {
    /// All blocks of the ring and of the host, as they are now: ECBs are added to them when modules
    /// bring probes, and the CPUs' counters move.
    std::vector<Bytes> metadata;
    /// What is new, each from its header to its committed bytes.  A segment that is still being
    /// written comes again with the next look, longer, until it came complete.
    std::vector<Bytes> segments;
    /// Snapshots of the aggregation buffers since the last look; taken before the segments.
    std::vector<Bytes> aggregations;
    /// Records after it may be missing on one CPU while another's are here: they are left for the
    /// next look, and come again.  0: no records were looked at.  Empty: everything is here.
    std::optional<uint64_t> horizon_mono_ns;
};

} // namespace daybreak::formats
