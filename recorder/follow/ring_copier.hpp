// SPDX-License-Identifier: Apache-2.0
//
// RingCopier: what is new in a ring, into the queue; and what was lost before it got there.
#pragma once

#include "recorder/follow/device_watch.hpp"
#include "recorder/follow/held.hpp"

namespace daybreak::recorder {

class RingCopier {
public:
    using CpuKey = std::pair<uint16_t, uint16_t>; ///< id in the files, CPU

    RingCopier(FollowHost& host, const FollowOptions& options, DeviceWatch& watch,
               WriteQueue& queue)
        : host_(host), options_(options), watch_(watch), queue_(queue),
          began_ns_(host.clocks().mono_ns) {}

    /// What the files hold already: copying goes on after it.
    void set_held(HeldSegments held);

    /// A look at all rings begins: what the disk lost is wanted again, and speeds are measured
    /// anew.
    void begin_look();
    /// It ends; it had begun at `now_ns`.
    void end_look(uint64_t now_ns) {
        restarted_ = false; // what is missed from now on, this recorder missed
        looked_ns_ = now_ns;
    }

    /// A ring that is new: what it is called in the files, and where its CPUs begin.
    void begin(FollowedRing& ring, const std::vector<Bytes>& metadata);
    /// Copies each CPU's segments, the open ones when `open_too`.
    void copy_segments(FollowedRing& ring, const std::map<uint16_t, dbk_meta_cpu>& counters,
                       bool open_too);
    /// Takes what was aggregated, when no other process does.
    void take_aggregations(FollowedRing& ring);
    /// Puts the blocks that have changed, of what changes all the time what is `taken`.
    void put_metadata(const FollowedRing& ring, std::vector<Bytes> blocks, Restless taken);
    /// The ring is gone.
    void end(FollowedRing& ring);
    /// What a file lost that could not be synced is copied again while the ring has it.  Returns
    /// whether anything was lost.
    bool go_back();

    uint64_t bytes() const { return bytes_; }
    /// Segments that were overwritten before they were copied: of all rings, or of a CPU.
    uint64_t skipped() const { return all_skipped_; }
    uint64_t skipped(CpuKey key) const;
    /// Whether CPUs could not be looked at for want of room in the queue.
    bool is_hindered() const { return !hindered_.empty(); }
    /// The time that the fastest CPU needs to wrap its ring, by the last look.
    uint64_t fastest_round_ns() const { return fastest_round_ns_; }

private:
    void begin(const FollowedRing& ring, uint16_t cpu, CpuTail& tail, bool is_younger);
    void copy(const FollowedRing& ring, uint16_t cpu, CpuTail& tail, bool open_too);
    void put_piece(const FollowedRing& ring, Bytes piece);
    void skip(CpuKey key, const TailGap& gap);

    FollowHost& host_;
    const FollowOptions& options_;
    DeviceWatch& watch_;
    WriteQueue& queue_;
    MetadataTail metadata_;
    HeldSegments held_;
    RingIds ids_;
    std::map<CpuKey, CpuPosition> left_;            // of rings that ended
    std::map<CpuKey, formats::SkipCause> hindered_; // CPUs that could not be looked at
    std::map<CpuKey, uint64_t> skipped_;
    std::map<uint16_t, uint32_t> aggbuf_bytes_;
    uint64_t bytes_ = 0, all_skipped_ = 0, began_ns_ = 0, looked_ns_ = 0;
    uint64_t fastest_round_ns_ = UINT64_MAX;
    bool restarted_ = false;
};

} // namespace daybreak::recorder
