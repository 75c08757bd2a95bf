// SPDX-License-Identifier: Apache-2.0
//
// FollowedRings: the rings that the device has now, mapped, and what is new in them.
#pragma once

#include "recorder/follow/cpu_tail.hpp"

#include <map>
#include <set>

namespace daybreak::recorder {

/// One ring at work.
struct FollowedRing {
    uint16_t ring_id = 0;
    live::MappedRegions regions; ///< the ring's own; the machine's of ring 0
    std::map<uint16_t, CpuTail> cpus;
    uint16_t file_id = 0;    ///< what the files call it
    bool aggregates = false; ///< its aggregations are taken here
    bool is_new = true;      ///< no look at it yet
    bool listed = true;      ///< false: it has gone, its memory is still mapped
};

class FollowedRings {
public:
    /// `wanted`: only these rings; empty: all.
    explicit FollowedRings(std::vector<uint16_t> wanted) : wanted_(wanted.begin(), wanted.end()) {}

    /// Maps what is new since the last call; rings that are not there any more are not `listed`.
    Result<void> update(live::RingMemory& memory);

    std::map<uint16_t, FollowedRing>& rings() { return rings_; }
    /// From now on only rings that are wanted by name, this one among them.
    void want(uint16_t ring_id);
    void clear() { rings_.clear(); }
    /// Whether there is a ring (that of the host's metadata does not count).
    bool empty() const;

private:
    std::set<uint16_t> wanted_;
    std::map<uint16_t, FollowedRing> rings_;
};

} // namespace daybreak::recorder
