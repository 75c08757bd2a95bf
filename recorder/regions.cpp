// SPDX-License-Identifier: Apache-2.0
//
// Listing regions whose indices move.
#include "recorder/regions.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::recorder {

namespace {

constexpr uint32_t kRegionsMax = 1u << 20;
constexpr int kListAttemptsMax = 5;

} // namespace

std::string MappedRegion::where(size_t offset) const {
    return base::strprintf("ring %u cpu %u region at 0x%" PRIx64 "+0x%zx", facts.ring_id, facts.cpu,
                           uint64_t{facts.offset}, offset);
}

Result<std::vector<dbk_ioc_region>> list_regions(DeviceApi& device) {
    // Indices move when rings come, grow and go: listed again until the counts stay.
    for (int attempt = 0; attempt < kListAttemptsMax; attempt++) {
        std::vector<dbk_ioc_region> regions;
        DBK_TRY(dbk_ioc_status before, device.status());
        for (uint32_t index = 0; index < kRegionsMax; index++) {
            DBK_TRY(std::optional<dbk_ioc_region> region, device.region(index));
            if (!region)
                break;
            regions.push_back(*region);
        }
        DBK_TRY(dbk_ioc_status after, device.status());
        if (before.ring_count == after.ring_count && before.region_count == after.region_count)
            return regions;
    }
    return base::errorf(ErrorCode::busy, "rings come and go too fast to be listed");
}

void metadata_first(std::vector<dbk_ioc_region>& regions) {
    std::stable_sort(regions.begin(), regions.end(),
                     [](const dbk_ioc_region& a, const dbk_ioc_region& b) {
                         return (a.kind != DBK_REGION_META) < (b.kind != DBK_REGION_META);
                     });
}

} // namespace daybreak::recorder
