// SPDX-License-Identifier: Apache-2.0
//
// FollowedRings: the rings that the device has now, mapped, and what is new in them.
#pragma once

#include "recorder/device.hpp"
#include "recorder/follow/cpu_tail.hpp"

#include <map>
#include <set>

namespace daybreak::recorder {

/// One ring at work.
struct FollowedRing {
    struct Region {
        dbk_ioc_region facts;
        Mapping mapping;
    };
    uint16_t ring_id = 0;
    std::map<uint64_t, Region> regions; ///< by offset; the ring's own, and of ring 0 for that one
    std::map<uint16_t, CpuTail> cpus;
    bool listed = true; ///< false: it has gone, its memory is still mapped

    /// Returns copies of its metadata blocks.
    std::vector<Bytes> metadata() const;
    /// Returns what the ring says of itself; empty when its description is not there.
    std::optional<dbk_meta_ring> facts() const;
};

class FollowedRings {
public:
    /// `wanted`: only these rings; empty: all.
    explicit FollowedRings(std::vector<uint16_t> wanted) : wanted_(wanted.begin(), wanted.end()) {}

    /// Maps what is new since the last call; rings that are not there any more are not `listed`.
    /// `position` says where a CPU that is new begins.
    Result<void> update(DeviceApi& device);

    std::map<uint16_t, FollowedRing>& rings() { return rings_; }
    /// Whether there is a ring (that of the host's metadata does not count).
    bool empty() const;

private:
    std::set<uint16_t> wanted_;
    std::map<uint16_t, FollowedRing> rings_;
};

} // namespace daybreak::recorder
