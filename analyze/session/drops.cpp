// SPDX-License-Identifier: Apache-2.0
//
// Drops: what was not stored, as a session reports it between the records.
#include "analyze/session/drops.hpp"

#include "analyze/print/drop_text.hpp"

#include <algorithm>
#include <iterator>

namespace daybreak::analyze {

namespace {

/// Whether dtrace(1) learns of such drops where it has looked.
bool is_seen(unsigned slot, const formats::Readings& looked_at) {
    switch (slot) {
    case DBK_DROP_PRINCIPAL:
    case DBK_DROP_WORK:
    case DBK_DROP_NESTED:
    case DBK_DROP_TOOBIG:
    case DBK_DROP_MISSED:
        return looked_at.records;
    case DBK_DROP_AGGREGATION:
        return looked_at.aggregations;
    default:
        return looked_at.status;
    }
}

/// Whose firing was the last that is counted in a slot; 0: it is not known, or the slot counts no
/// firings.
uint32_t last_probe_id(const formats::CpuInfo& cpu, unsigned slot) {
    if (!cpu.counters)
        return 0;
    return slot == DBK_DROP_NESTED   ? cpu.counters->nested_probe_id
           : slot == DBK_DROP_MISSED ? cpu.counters->missed_probe_id
                                     : 0;
}

/// Returns the latest of a CPU's drops of one cause: the one that the counters' probe is of.  Null
/// where that is not certain: some are in segments that are gone, before or after those that are
/// here, or came after the counters were copied.
Drop* last_counted(std::vector<Drop>& drops, const formats::CpuInfo& cpu, unsigned slot) {
    Drop* last = nullptr;
    uint64_t count = 0;
    for (Drop& drop : drops) {
        if (drop.cause != static_cast<enum dbk_drop>(slot))
            continue;
        if (last != nullptr && (!last->interval_mono_ns || !drop.interval_mono_ns))
            return nullptr;
        count += drop.count;
        if (last == nullptr || drop.interval_mono_ns->second >= last->interval_mono_ns->second)
            last = &drop;
    }
    return cpu.counters && cpu.counters->drops[slot] == count ? last : nullptr;
}

} // namespace

Message message_of(const Drop& drop) {
    std::optional<std::pair<uint64_t, uint64_t>> boot_ns;
    if (drop.interval_mono_ns)
        boot_ns = {drop.ring->clock.boot_ns(drop.interval_mono_ns->first),
                   drop.interval_mono_ns->second == UINT64_MAX
                       ? UINT64_MAX
                       : drop.ring->clock.boot_ns(drop.interval_mono_ns->second)};
    Message message = drop_message(drop.cause, drop.count, drop.cpu, boot_ns);
    if (const formats::ProbeInfo* probe = drop.ring->find_probe(drop.last_probe_id))
        message.detail += (message.detail.empty() ? "last: " : ", last: ") + probe->text();
    return message;
}

std::vector<Drop> drops_of(const formats::RingRecording& ring, const formats::CpuInfo& cpu) {
    std::vector<Drop> drops;
    for (const formats::DropInterval& interval : cpu.completeness.intervals)
        drops.push_back({&ring, cpu.cpu, interval.cause, interval.count,
                         std::pair(interval.from_mono_ns, interval.to_mono_ns)});
    for (unsigned slot = 0; slot < DBK_DROP_SLOTS; slot++)
        if (uint64_t count = cpu.completeness.drops_unseen[slot]; count != 0)
            drops.push_back(
                {&ring, cpu.cpu, static_cast<enum dbk_drop>(slot), count, std::nullopt});
    for (unsigned slot : {DBK_DROP_NESTED, DBK_DROP_MISSED})
        if (Drop* last = last_counted(drops, cpu, slot))
            last->last_probe_id = last_probe_id(cpu, slot);
    return drops;
}

std::vector<Drop> drops_of(const formats::Recording& recording) {
    std::vector<Drop> drops;
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            std::ranges::copy(drops_of(ring, cpu), std::back_inserter(drops));
    std::ranges::stable_sort(drops, {}, [](const Drop& drop) {
        return drop.interval_mono_ns ? drop.interval_mono_ns->second : UINT64_MAX;
    });
    return drops;
}

std::vector<Drop> DropCounters::take(const formats::Recording& recording,
                                     const formats::Readings& looked_at) {
    std::vector<Drop> drops;
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus) {
            if (!cpu.counters)
                continue;
            for (unsigned slot = 0; slot < DBK_DROP_SLOTS; slot++) {
                uint64_t& reported = reported_[{ring.ring_id, cpu.cpu, slot}];
                uint64_t count = cpu.counters->drops[slot];
                if (count <= reported || !is_seen(slot, looked_at))
                    continue;
                drops.push_back({&ring, cpu.cpu, static_cast<enum dbk_drop>(slot), count - reported,
                                 std::nullopt, last_probe_id(cpu, slot)});
                reported = count;
            }
        }
    return drops;
}

} // namespace daybreak::analyze
