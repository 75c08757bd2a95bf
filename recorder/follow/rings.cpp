// SPDX-License-Identifier: Apache-2.0
//
// Listing and mapping the regions of rings that come and go.
#include "recorder/follow/rings.hpp"

#include <algorithm>

namespace daybreak::recorder {

Result<void> FollowedRings::update(live::RingMemory& memory) {
    DBK_TRY(std::vector<dbk_ioc_region> regions, memory.regions());
    for (auto& [id, ring] : rings_)
        ring.listed = false;
    for (const dbk_ioc_region& facts : regions) {
        auto id = static_cast<uint16_t>(facts.ring_id);
        if (facts.kind != DBK_REGION_META && facts.kind != DBK_REGION_SEGMENTS)
            continue;
        if (id != 0 && !wanted_.empty() && !wanted_.contains(id))
            continue;
        FollowedRing& ring = rings_[id];
        ring.ring_id = id;
        ring.listed = true;
        // One that cannot be mapped went between the list and the map: the next list does not have
        // it.
        auto added = ring.regions.add(memory, facts);
        if (added.ok() && *added && facts.kind == DBK_REGION_SEGMENTS)
            ring.cpus[static_cast<uint16_t>(facts.cpu)].add_region((*added)->mapping.live());
    }
    return {};
}

void FollowedRings::want(uint16_t ring_id) {
    wanted_.insert(ring_id);
    std::erase_if(rings_, [&](const auto& entry) {
        return entry.first != 0 && !wanted_.contains(entry.first);
    });
}

bool FollowedRings::empty() const {
    return std::none_of(rings_.begin(), rings_.end(),
                        [](const auto& entry) { return entry.first != 0; });
}

} // namespace daybreak::recorder
