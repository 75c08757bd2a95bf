// SPDX-License-Identifier: Apache-2.0
//
// The regions of the device: listed while rings come and go, and mapped.
#pragma once

#include "recorder/device.hpp"

#include <vector>

namespace daybreak::recorder {

/// A region and its memory.
struct MappedRegion {
    dbk_ioc_region facts;
    Mapping mapping;

    /// Returns "ring 1 cpu 0 region at 0x400000+0x1000", for findings.
    std::string where(size_t offset = 0) const;
};

/// Lists all regions: again until none came or went meanwhile.
/// Error: busy, when they never stand still.
Result<std::vector<dbk_ioc_region>> list_regions(DeviceApi& device);

/// Puts metadata first: a file that is cut still explains its segments.
void metadata_first(std::vector<dbk_ioc_region>& regions);

} // namespace daybreak::recorder
