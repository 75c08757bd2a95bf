// SPDX-License-Identifier: Apache-2.0
//
// Listing and mapping the regions of rings that come and go.
#include "recorder/follow/rings.hpp"

#include "recorder/live_copy.hpp"
#include "recorder/regions.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::recorder {

std::vector<Bytes> FollowedRing::metadata() const {
    std::vector<Bytes> blocks;
    for (const auto& [offset, region] : regions) {
        ByteView live = region.mapping.live();
        if (region.facts.kind != DBK_REGION_META)
            continue;
        for (Bytes& block : copy_live_blocks(live))
            blocks.push_back(std::move(block));
    }
    return blocks;
}

Result<void> FollowedRings::update(DeviceApi& device) {
    DBK_TRY(std::vector<dbk_ioc_region> regions, list_regions(device));
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
        if (ring.regions.contains(facts.offset))
            continue;
        Result<Mapping> mapping = device.map(facts);
        if (!mapping.ok()) {
            // It went between the list and the map: the next list does not have it.
            continue;
        }
        auto at = ring.regions.emplace(facts.offset,
                                       FollowedRing::Region{facts, std::move(mapping).value()});
        if (facts.kind == DBK_REGION_SEGMENTS)
            ring.cpus[static_cast<uint16_t>(facts.cpu)].add_region(at.first->second.mapping.live());
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
