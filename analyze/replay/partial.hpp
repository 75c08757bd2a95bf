// SPDX-License-Identifier: Apache-2.0
//
// Partial states of a replay: its aggregations and what they cover, written to be merged.
//
//     AggregationTable --canonical keys, sorted--> formats::StateWriter
//     RingRecording    --segments, images-------->   (formats/aggstate)
#pragma once

#include "analyze/aggregate/table.hpp"
#include "analyze/decode/merge.hpp"
#include "analyze/decode/window.hpp"
#include "analyze/replay/mergeable.hpp"
#include "analyze/symbols/user_names.hpp"
#include "formats/aggstate/writer.hpp"
#include "formats/trace/reader.hpp"

namespace daybreak::analyze {

/// What was replayed, besides the recording.
struct PartialProgram {
    std::string normalized;                  ///< its text
    std::vector<formats::DofOption> options; ///< in force
    base::Bytes ends;                        ///< DOF of BEGIN and END
    bool keeps_thread_state = false, keeps_global_state = false, has_ticks = false;
};

/// Returns the digest that programs with the same text and options have.
formats::Digest digest_of(const PartialProgram& program);

/// Returns the window that a part has: what was asked for, within what its files were cut to.  What
/// is at its end does not belong to it, so that windows which meet count nothing twice.
TimeWindow window_of_part(const formats::Recording& recording, const TimeWindow& asked);

/// Returns the part that a replay of the ring over that window is, but for what it counted
/// (records, firings, drops) and for its images.
formats::StatePart part_of(const formats::Trace& trace, const formats::RingRecording& ring,
                           const TimeWindow& window, const PartialProgram& program);

/// Notes in the part which firings it may not have as a whole.
void note_divided(formats::StatePart& part, DividedFirings divided);

/// Writes the part, with the images that its keys refer to, and what the replay of the trace
/// aggregated.  `names` are those of the program's aggregations.
/// `users` knows the files of processes; null: nothing does.
/// Errors: those of the writer; unsupported, when a key has no canonical form.
base::Result<void> write_part(formats::StateWriter& writer, formats::StatePart part,
                              const AggregationTable& table, const std::vector<std::string>& names,
                              const formats::Trace& trace, UserNames* users);

} // namespace daybreak::analyze
