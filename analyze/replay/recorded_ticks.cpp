// SPDX-License-Identifier: Apache-2.0
//
// RecordedTicks: when the ticks of a recording were recorded whose clauses did not always record.
#include "analyze/replay/recorded_ticks.hpp"

#include <algorithm>

namespace daybreak::analyze {

bool RecordedTicks::is_filled_in(const CaptureTable& table, uint32_t id,
                                 const sim::SimProbe& probe) {
    return probe.timer && !probe.timer->every_cpu && table.probes().at(id).is_conditional;
}

RecordedTicks::RecordedTicks(const formats::Recording& recording, size_t ring_index,
                             const CaptureTable& table, const ReplayedProbesById& probes) {
    for (const auto& [id, probe] : probes)
        if (is_filled_in(table, id, *probe))
            ticks_[id].probe = probe;
    if (ticks_.empty())
        return;
    YieldedEcbs yielded(recording.rings.size());
    for (size_t ring = 0; ring < yielded.size(); ring++)
        for (const formats::EcbInfo& ecb : recording.rings[ring].ecbs.all())
            yielded[ring].push_back(ring == ring_index && ticks_.contains(ecb.probe_id));
    MergeOptions options;
    options.order = MergeOrder::made;
    options.yielded = &yielded;
    const formats::ClockModel& clock = recording.rings[ring_index].clock;
    RecordMerge merge(recording, options);
    for (MergedRecord merged; merge.next(merged); merge.give_back())
        ticks_[merged.record.ecb->probe_id].times_ns.push_back(clock.mono_ns(merged.record.ticks));
}

bool RecordedTicks::take_recorded(uint64_t due_ns) {
    for (auto& [id, ticks] : ticks_) {
        uint64_t interval_ns = ticks.probe->timer->interval_ns;
        if (ticks.probe->due_mono_ns != due_ns)
            continue;
        auto near = std::lower_bound(ticks.times_ns.begin(), ticks.times_ns.end(),
                                     due_ns - std::min(due_ns, interval_ns / 2));
        if (near == ticks.times_ns.end() || *near > due_ns + interval_ns / 2)
            continue;
        ticks.probe->due_mono_ns += interval_ns;
        return true;
    }
    return false;
}

} // namespace daybreak::analyze
