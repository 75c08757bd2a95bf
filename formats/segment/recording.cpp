// SPDX-License-Identifier: Apache-2.0
//
// Look-ups and sums over a Recording.
#include "formats/segment/recording.hpp"

#include "base/counted.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::formats {

const DofBytes* RingRecording::find_dof(uint16_t index) const {
    auto found = std::find_if(dof.begin(), dof.end(), [&](const DofBytes& image) {
        return image.index == index && !image.bytes.empty();
    });
    return found == dof.end() ? nullptr : &*found;
}

uint64_t Recording::records_present() const {
    uint64_t sum = 0;
    for (const RingRecording& ring : rings)
        sum += ring.completeness().present;
    return sum;
}

Completeness RingRecording::completeness() const {
    Completeness sum;
    for (const CpuInfo& cpu : cpus) {
        const Completeness& one = cpu.completeness;
        sum.committed += one.committed;
        sum.present += one.present;
        sum.overwritten += one.overwritten;
        sum.rotated += one.rotated;
        sum.lost += one.lost;
        sum.not_copied += one.not_copied;
        sum.lost_known = sum.lost_known && one.lost_known;
        sum.segments_present += one.segments_present;
        sum.segments_missing += one.segments_missing;
        sum.segments_damaged += one.segments_damaged;
        sum.firings += one.firings;
        sum.errors += one.errors;
        for (size_t i = 0; i < sum.drops.size(); i++) {
            sum.drops[i] += one.drops[i];
            sum.drops_unseen[i] += one.drops_unseen[i];
        }
    }
    return sum;
}

const RingRecording* Recording::find_ring(uint16_t ring_id) const {
    auto found = std::find_if(rings.begin(), rings.end(),
                              [&](const RingRecording& ring) { return ring.ring_id == ring_id; });
    return found == rings.end() ? nullptr : &*found;
}

Findings Recording::all_findings() const {
    Findings all = findings;
    for (const std::shared_ptr<PieceStore>& store : stores)
        all.append(store->late_findings());
    return all;
}

void Recording::add_miscount(const RingRecording& ring, const CpuInfo& cpu,
                             const SegmentInfo& segment, uint64_t found) const {
    add_bad_record(ring, cpu, segment,
                   base::counted(found, "record") +
                       base::strprintf(" found, %u in the index", segment.record_count));
}

void Recording::add_bad_record(const RingRecording& ring, const CpuInfo& cpu,
                               const SegmentInfo& segment, const std::string& text) const {
    if (PieceStore* store = segment.bytes.store())
        store->add_late(FindingKind::bad_record,
                        base::strprintf("ring %u cpu %u segment %" PRIu64, ring.ring_id, cpu.cpu,
                                        segment.sequence),
                        text);
}

uint64_t Recording::last_wall_ns() const {
    uint64_t last = 0;
    for (const RingRecording& ring : rings) {
        if (!ring.has_info || ring.info.facts.start_wall_ns == 0)
            continue;
        last = std::max<uint64_t>(last, ring.info.facts.start_wall_ns);
        auto take = [&](uint64_t ticks) {
            last = std::max(last, ring.clock.wall_ns(ring.clock.mono_ns(ticks)));
        };
        for (const CpuInfo& cpu : ring.cpus)
            for (const SegmentList::Part& part : cpu.segments.parts()) {
                if (part.is_run())
                    take(part.run.max_ticks);
                for (const SegmentInfo& segment : part.segments)
                    take(segment.last_ticks);
            }
    }
    for (const CrashInfo& end : machine.ends)
        last = std::max(last, end.wall_ns);
    return last;
}

bool Recording::has_losses() const {
    return all_findings().any_loss() ||
           std::any_of(rings.begin(), rings.end(),
                       [](const RingRecording& ring) { return ring.has_losses(); });
}

} // namespace daybreak::formats
