// SPDX-License-Identifier: Apache-2.0
//
// Mapping the regions of a ring.
#include "live/ring_memory.hpp"

#include "live/live_copy.hpp"

#include <cinttypes>

namespace daybreak::live {

std::string MappedRegion::where(size_t offset) const {
    return base::strprintf("ring %u cpu %u region at 0x%" PRIx64 "+0x%zx", facts.ring_id, facts.cpu,
                           uint64_t{facts.offset}, offset);
}

Result<const MappedRegion*> MappedRegions::add(RingMemory& memory, const dbk_ioc_region& facts) {
    const MappedRegion* none = nullptr;
    if ((facts.kind != DBK_REGION_META && facts.kind != DBK_REGION_SEGMENTS) ||
        regions_.contains(facts.offset))
        return none;
    DBK_TRY(Mapping mapping, memory.map(facts));
    const MappedRegion* added =
        &regions_.emplace(facts.offset, MappedRegion{facts, std::move(mapping)}).first->second;
    return added;
}

std::vector<Bytes> MappedRegions::metadata() const {
    std::vector<Bytes> blocks;
    for (const auto& [offset, region] : regions_)
        if (region.facts.kind == DBK_REGION_META)
            for (Bytes& block : copy_live_blocks(region.mapping.live()))
                blocks.push_back(std::move(block));
    return blocks;
}

} // namespace daybreak::live
