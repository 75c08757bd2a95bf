// SPDX-License-Identifier: Apache-2.0
//
// The time from the first to the last record that is here, and what lies in a window of it.
#include "analyze/decode/time_span.hpp"

#include <algorithm>

namespace daybreak::analyze {

void TimeSpan::add(const TimeSpan& other) {
    first_mono_ns = std::min(first_mono_ns, other.first_mono_ns);
    last_mono_ns = std::max(last_mono_ns, other.last_mono_ns);
}

TimeSpan span_of(const formats::RingRecording& ring, const formats::CpuInfo& cpu) {
    TimeSpan span;
    for (const formats::SegmentInfo& segment : cpu.segments)
        if (segment.record_count != 0)
            span.add(
                {ring.clock.mono_ns(segment.min_ticks), ring.clock.mono_ns(segment.last_ticks)});
    return span;
}

TimeSpan span_of(const formats::RingRecording& ring) {
    TimeSpan span;
    for (const formats::CpuInfo& cpu : ring.cpus)
        span.add(span_of(ring, cpu));
    return span;
}

TimeSpan span_of(const formats::Recording& recording) {
    TimeSpan span;
    for (const formats::RingRecording& ring : recording.rings)
        span.add(span_of(ring));
    return span;
}

TimeWindow cut_window_of(const formats::Recording& recording) {
    TimeWindow window;
    formats::CutWindow cut = recording.cut_window.value_or(formats::CutWindow());
    if (cut.since_mono_ns != 0)
        window.since_mono_ns = cut.since_mono_ns;
    if (cut.until_mono_ns != UINT64_MAX)
        window.until_mono_ns = cut.until_mono_ns;
    return window;
}

WindowRecords records_in(const TimeWindow& window, const formats::RingRecording& ring,
                         const formats::CpuInfo& cpu, const WantedProbes& probes) {
    WindowRecords found;
    for (const formats::SegmentInfo& segment : cpu.segments) {
        if (!window.overlaps(ring.clock.mono_ns(segment.min_ticks),
                             ring.clock.mono_ns(segment.last_ticks)))
            continue;
        formats::RecordCursor cursor = formats::records_of(segment, ring);
        formats::RecordView record;
        while (cursor.next(record)) {
            uint64_t mono_ns = ring.clock.mono_ns(record.ticks);
            if (!window.has(mono_ns) || !probes.has(ring.ring_id, record.ecb->probe_id))
                continue;
            found.records++;
            found.span.add({mono_ns, mono_ns});
            found.probes.insert(record.ecb->probe_id);
        }
    }
    return found;
}

} // namespace daybreak::analyze
