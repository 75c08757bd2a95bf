// SPDX-License-Identifier: Apache-2.0
//
// Cutting a window out of a recording: which segments are left out, and what the file says of them
// (docs/design/0063-windows-cut-out.md).
//
//     segments of a CPU      1 2 3 4 5 6 7 8 9
//     window                       |---|
//     kept                     3 4 5 6 7      so that a report of the window reads what it would
#pragma once

#include "formats/trace/metadata.hpp"

#include <set>

namespace daybreak::recorder {

using base::Result;

/// What is asked for.
struct CutOptions {
    formats::CutWindow window;
    std::set<uint16_t> whole_rings; ///< of which nothing is left out
};

/// What a cut leaves, in numbers.
struct CutCounts {
    uint64_t records_kept = 0, records_left_out = 0, segments_left_out = 0;
};

/// Decides for each piece of a file whether it is left out.
class Cut {
public:
    /// Leaves out what no report and no completeness of the window looks at; aggregation snapshots,
    /// metadata and damaged segments stay.  What was left out of the file before stays left out.
    /// Error: limit, when it has more holes outside the window than a file can say.
    static Result<Cut> plan(const formats::Recording& recording, const CutOptions& options);

    /// Returns the pieces of a block that stay, as they lie there.
    base::Bytes kept_of(base::ByteView untrusted_rows);
    /// Returns whether all that plan() has seen was there to be left out.
    bool is_done() const { return left_to_find_ == 0; }

    const formats::TraceWindow& window() const { return window_; }
    const CutCounts& counts() const { return counts_; }

private:
    struct Segments {
        uint64_t first = 0, last = 0;
    };
    using CpuOfRing = std::pair<uint16_t, uint16_t>;

    void plan_cpu(const formats::RingRecording& ring, const formats::CpuInfo& cpu, bool is_whole);
    bool leaves_out(base::ByteView untrusted_piece) const;

    formats::TraceWindow window_;
    std::map<CpuOfRing, std::vector<Segments>> new_; ///< ascending
    CutCounts counts_;
    uint64_t left_to_find_ = 0; ///< segments
};

} // namespace daybreak::recorder
