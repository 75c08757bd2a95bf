// SPDX-License-Identifier: Apache-2.0
//
// Walking back from a CPU's newest segment to the first hole.
#include "formats/segment/coverage.hpp"

#include <algorithm>

namespace daybreak::formats {

CpuCoverage coverage_of(const RingRecording& ring, const CpuInfo& cpu) {
    CpuCoverage covered;
    covered.ring_id = ring.ring_id;
    covered.cpu = cpu.cpu;
    if (cpu.segments.empty()) {
        covered.is_known = covered.is_from_start = cpu.counters && cpu.counters->records == 0;
        covered.from_mono_ns = covered.to_mono_ns = ring.info.facts.start_mono_ns;
        return covered;
    }
    size_t first = cpu.segments.size() - 1;
    auto follows = [&](const SegmentInfo& older, const SegmentInfo& newer) {
        return older.sequence + 1 == newer.sequence && !older.damaged &&
               older.records_before + older.record_count >= newer.records_before;
    };
    while (first > 0 && follows(cpu.segments[first - 1], cpu.segments[first]))
        first--;
    const SegmentInfo &oldest = cpu.segments[first], &newest = cpu.segments.back();
    covered.is_known = true;
    covered.is_from_start = oldest.sequence == 1;
    covered.has_older = first > 0;
    covered.from_mono_ns = covered.is_from_start && ring.has_info
                               ? std::min(ring.info.facts.start_mono_ns, oldest.base_mono_ns)
                               : oldest.base_mono_ns;
    covered.to_mono_ns = std::max(covered.from_mono_ns, ring.clock.mono_ns(newest.last_ticks));
    return covered;
}

std::vector<CpuCoverage> not_covered_since(const Recording& recording, uint64_t mono_ns) {
    std::vector<CpuCoverage> result;
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus) {
            CpuCoverage covered = coverage_of(ring, cpu);
            if (!covered.covers_since(mono_ns))
                result.push_back(covered);
        }
    return result;
}

} // namespace daybreak::formats
