// SPDX-License-Identifier: Apache-2.0
//
// The time from the first to the last record that is here, and what lies in a window of it.
#pragma once

#include "analyze/decode/wanted_probes.hpp"
#include "analyze/decode/window.hpp"
#include "formats/segment/recording.hpp"

#include <set>

namespace daybreak::analyze {

/// CLOCK_MONOTONIC of the first and the last record; both belong to it.
struct TimeSpan {
    uint64_t first_mono_ns = UINT64_MAX, last_mono_ns = 0;

    bool empty() const { return first_mono_ns > last_mono_ns; }
    void add(const TimeSpan& other);
};

/// Returns the span of the records of one CPU, of one ring, of all rings; empty without records.
TimeSpan span_of(const formats::RingRecording& ring, const formats::CpuInfo& cpu);
TimeSpan span_of(const formats::RingRecording& ring);
TimeSpan span_of(const formats::Recording& recording);

/// Returns the window that the file was cut to; not set when it was not.
TimeWindow cut_window_of(const formats::Recording& recording);

/// Returns the window of which the recording is the answer where no other is asked for: that it was
/// cut to, else that of the snapshot that it is; not set for all others.
TimeWindow own_window_of(const formats::Recording& recording);

/// Returns the window; an end that it has not got is that of the records.
TimeSpan whole_window(const formats::Recording& recording, const TimeWindow& window);

/// Returns the same without what lies before or after all records, if there are any.
TimeSpan covered_window(const formats::Recording& recording, const TimeWindow& window);

/// Returns whether records of the run may lie in the window.
bool overlaps(const TimeWindow& window, const formats::RingRecording& ring,
              const formats::SegmentRun& run);

/// The records of one CPU in a window, of the probes that were asked for.
struct WindowRecords {
    uint64_t records = 0;
    TimeSpan span;
    std::set<uint32_t> probes; ///< ids of those that fired
};
WindowRecords records_in(const TimeWindow& window, const formats::RingRecording& ring,
                         const formats::CpuInfo& cpu, const WantedProbes& probes = {});

/// The last record of a ring: when it was made and where; of several at one time that of the
/// greatest CPU, which is merged last.
struct LastRecord {
    uint64_t mono_ns = 0;
    uint16_t cpu = 0;
};
/// Empty: none lies in the window.
std::optional<LastRecord> last_record_in(const TimeWindow& window,
                                         const formats::RingRecording& ring);

/// Returns when the first record of these probes was made, CLOCK_MONOTONIC; empty: there is none.
std::optional<uint64_t> first_record_ns(const formats::Recording& recording,
                                        const WantedProbes& probes);

/// Returns whether any CPU has a record in the window.
bool has_records(const formats::Recording& recording, const TimeWindow& window);

} // namespace daybreak::analyze
