// SPDX-License-Identifier: Apache-2.0
//
// CoveredTime: the common time in which any of several recordings goes on.
#include "analyze/replay/covered_time.hpp"

#include "analyze/decode/time_span.hpp"

#include <algorithm>

namespace daybreak::analyze {

uint64_t begin_of(const ReplayedRecording& recording) {
    const formats::RingRecording& ring = recording.ring();
    TimeSpan span = span_of(ring);
    uint64_t first_ns = span.empty() ? 0 : span.first_mono_ns;
    if (recording.window.since_mono_ns)
        return std::max(first_ns, *recording.window.since_mono_ns);
    for (const formats::CpuInfo& cpu : ring.cpus)
        if (cpu.completeness.overwritten != 0 || cpu.completeness.rotated != 0)
            return first_ns;
    uint64_t start_ns = ring.info.facts.start_mono_ns;
    return start_ns != 0 && start_ns < first_ns ? start_ns : first_ns;
}

CoveredTime::CoveredTime(std::span<const ReplayedRecording> recordings) {
    std::vector<std::pair<uint64_t, uint64_t>> all;
    for (const ReplayedRecording& one : recordings)
        if (TimeSpan span = span_of(one.ring()); !span.empty())
            all.emplace_back(one.common_ns(begin_of(one)), one.common_ns(span.last_mono_ns));
    std::ranges::sort(all);
    for (const auto& [from_ns, to_ns] : all)
        if (stretches_.empty() || from_ns > stretches_.back().second)
            stretches_.emplace_back(from_ns, to_ns);
        else
            stretches_.back().second = std::max(stretches_.back().second, to_ns);
}

bool CoveredTime::skip(uint64_t due_ns, std::span<sim::SimProbe* const> timers) const {
    auto next = std::ranges::upper_bound(stretches_, due_ns, {},
                                         [](const auto& stretch) { return stretch.first; });
    bool is_covered = next == stretches_.begin() || due_ns <= (next - 1)->second;
    if (is_covered || next == stretches_.end())
        return false;
    for (sim::SimProbe* timer : timers) {
        uint64_t &timer_ns = timer->due_mono_ns, interval_ns = timer->timer->interval_ns;
        if (timer_ns == 0 || timer_ns >= next->first)
            continue;
        uint64_t later_ns = (next->first - timer_ns - 1) / interval_ns + 1;
        if (__builtin_mul_overflow(later_ns, interval_ns, &later_ns) ||
            __builtin_add_overflow(timer_ns, later_ns, &timer_ns))
            timer_ns = 0; // never
    }
    return true;
}

} // namespace daybreak::analyze
