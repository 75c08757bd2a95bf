// SPDX-License-Identifier: Apache-2.0
//
// The time from the first to the last record that is here, and what lies in a window of it.
#include "analyze/decode/time_span.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// Returns the EPIDs of the ECBs of these probes, ascending.
std::vector<uint32_t> epids_of(const formats::RingRecording& ring, const WantedProbes& probes) {
    std::vector<bool> chosen;
    for (const formats::EcbInfo& ecb : ring.ecbs.all())
        chosen.push_back(probes.has(ring.ring_id, ecb.probe_id));
    return ring.ecbs.epids(chosen);
}

} // namespace

void TimeSpan::add(const TimeSpan& other) {
    first_mono_ns = std::min(first_mono_ns, other.first_mono_ns);
    last_mono_ns = std::max(last_mono_ns, other.last_mono_ns);
}

TimeSpan span_of(const formats::RingRecording& ring, const formats::CpuInfo& cpu) {
    TimeSpan span;
    auto add = [&](uint64_t min_ticks, uint64_t max_ticks) {
        span.add({ring.clock.mono_ns(min_ticks), ring.clock.mono_ns(max_ticks)});
    };
    for (const formats::SegmentList::Part& part : cpu.segments.parts()) {
        if (part.is_run())
            add(part.run.min_ticks, part.run.max_ticks);
        for (const formats::SegmentInfo& segment : part.segments)
            if (segment.record_count != 0)
                add(segment.min_ticks, segment.last_ticks);
    }
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

TimeWindow own_window_of(const formats::Recording& recording) {
    if (recording.cut_window || recording.window_to_ns == 0)
        return cut_window_of(recording);
    return {recording.window_from_ns, recording.window_to_ns};
}

TimeSpan whole_window(const formats::Recording& recording, const TimeWindow& window) {
    TimeSpan span = span_of(recording);
    return {window.since_mono_ns.value_or(span.first_mono_ns),
            window.until_mono_ns.value_or(span.last_mono_ns)};
}

TimeSpan covered_window(const formats::Recording& recording, const TimeWindow& window) {
    TimeSpan span = span_of(recording);
    if (span.empty())
        return whole_window(recording, window);
    return {std::max(window.since_ns(), span.first_mono_ns),
            std::min(window.until_ns(), span.last_mono_ns)};
}

bool overlaps(const TimeWindow& window, const formats::RingRecording& ring,
              const formats::SegmentRun& run) {
    return window.overlaps(ring.clock.mono_ns(run.min_ticks), ring.clock.mono_ns(run.max_ticks));
}

namespace {

/// Calls `visit` for each record of the window, until that returns false.
template <typename Visit>
void visit_records(const TimeWindow& window, const formats::RingRecording& ring,
                   const formats::CpuInfo& cpu, const WantedProbes& probes, Visit visit) {
    const formats::SegmentList& segments = cpu.segments;
    std::vector<uint32_t> epids;
    if (probes.is_set())
        epids = epids_of(ring, probes);
    for (size_t i = 0; i < segments.size(); i++) {
        const formats::SegmentList::Part& part = segments.part_of(i);
        if (part.is_run() && !overlaps(window, ring, part.run)) {
            i = part.end - 1;
            continue;
        }
        formats::SegmentInfo segment = segments[i];
        if ((probes.is_set() && !formats::may_have(segment, epids)) ||
            !window.overlaps(ring.clock.mono_ns(segment.min_ticks),
                             ring.clock.mono_ns(segment.last_ticks)))
            continue;
        formats::RecordCursor cursor = formats::records_of(segment, ring);
        formats::RecordView record;
        while (cursor.next(record)) {
            uint64_t mono_ns = ring.clock.mono_ns(record.ticks);
            if (window.has(mono_ns) && probes.has(ring.ring_id, record.ecb->probe_id) &&
                !visit(record, mono_ns))
                return;
        }
    }
}

} // namespace

WindowRecords records_in(const TimeWindow& window, const formats::RingRecording& ring,
                         const formats::CpuInfo& cpu, const WantedProbes& probes) {
    WindowRecords found;
    visit_records(window, ring, cpu, probes, [&](const auto& record, uint64_t mono_ns) {
        found.records++;
        found.span.add({mono_ns, mono_ns});
        found.probes.insert(record.ecb->probe_id);
        return true;
    });
    return found;
}

namespace {

/// Returns the last time in the window at which the segment has a record; empty: at none.
std::optional<uint64_t> last_ns_in(const TimeWindow& window, const formats::RingRecording& ring,
                                   const formats::SegmentInfo& segment) {
    uint64_t last_ns = ring.clock.mono_ns(segment.last_ticks);
    if (segment.record_count == 0 ||
        !window.overlaps(ring.clock.mono_ns(segment.min_ticks), last_ns))
        return std::nullopt;
    if (last_ns <= window.until_ns())
        return last_ns;
    std::optional<uint64_t> found;
    formats::RecordCursor cursor = formats::records_of(segment, ring);
    for (formats::RecordView record; cursor.next(record);)
        if (uint64_t mono_ns = ring.clock.mono_ns(record.ticks); window.has(mono_ns))
            found = std::max(found.value_or(0), mono_ns);
    return found;
}

} // namespace

std::optional<LastRecord> last_record_in(const TimeWindow& window,
                                         const formats::RingRecording& ring) {
    std::optional<LastRecord> last;
    for (const formats::CpuInfo& cpu : ring.cpus) {
        auto take = [&](std::optional<uint64_t> mono_ns) {
            if (mono_ns && (!last || *mono_ns >= last->mono_ns))
                last = {*mono_ns, cpu.cpu};
        };
        for (const formats::SegmentList::Part& part : cpu.segments.parts()) {
            if (part.is_run() && !overlaps(window, ring, part.run))
                continue;
            if (part.is_run() && ring.clock.mono_ns(part.run.max_ticks) <= window.until_ns())
                take(ring.clock.mono_ns(part.run.max_ticks));
            else
                for (size_t i = part.begin; i < part.end; i++)
                    take(last_ns_in(window, ring, cpu.segments[i]));
        }
    }
    return last;
}

std::optional<uint64_t> first_record_ns(const formats::Recording& recording,
                                        const WantedProbes& probes) {
    std::optional<uint64_t> first;
    for (const formats::RingRecording& ring : recording.rings) {
        const std::vector<uint32_t> epids = epids_of(ring, probes);
        auto is_later = [&](uint64_t min_ticks) {
            return first && ring.clock.mono_ns(min_ticks) >= *first;
        };
        for (const formats::CpuInfo& cpu : ring.cpus)
            for (size_t i = 0; i < cpu.segments.size(); i++) {
                const formats::SegmentList::Part& part = cpu.segments.part_of(i);
                if (part.is_run() && is_later(part.run.min_ticks)) {
                    i = part.end - 1;
                    continue;
                }
                formats::SegmentInfo segment = cpu.segments[i];
                if (is_later(segment.min_ticks) || !formats::may_have(segment, epids))
                    continue;
                formats::RecordCursor cursor = formats::records_of(segment, ring);
                for (formats::RecordView record; cursor.next(record);)
                    if (probes.has(ring.ring_id, record.ecb->probe_id))
                        first =
                            std::min(first.value_or(UINT64_MAX), ring.clock.mono_ns(record.ticks));
            }
    }
    return first;
}

bool has_records(const formats::Recording& recording, const TimeWindow& window) {
    bool found = false;
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus) {
            visit_records(window, ring, cpu, {}, [&](const auto&, uint64_t) {
                found = true;
                return false;
            });
            if (found)
                return true;
        }
    return false;
}

} // namespace daybreak::analyze
