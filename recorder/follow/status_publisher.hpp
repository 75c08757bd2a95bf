// SPDX-License-Identifier: Apache-2.0
//
// StatusPublisher: what `daybreak status` and the metrics say of the recorder.
#pragma once

#include "recorder/follow/ring_copier.hpp"

namespace daybreak::recorder {

class StatusPublisher {
public:
    StatusPublisher(FollowHost& host, const FollowOptions& options, const DeviceWatch& watch,
                    const RingCopier& copier, const WriteQueue& queue);

    /// The status that is published next; triggers are for the caller to fill in.
    formats::RecorderStatus& status() { return status_; }
    /// A look at all rings begins.
    void begin_look() { status_.rings.clear(); }
    /// Takes what a ring looks like now.
    void note(const FollowedRing& ring, const std::vector<Bytes>& metadata,
              const std::map<uint16_t, dbk_meta_cpu>& counters);
    void publish();

private:
    struct Counted {
        uint64_t mono_ns = 0;
        double records = 0;
    };

    formats::RecorderStatus::Cpu cpu_status(RingCopier::CpuKey key, const CpuTail& tail,
                                            uint32_t segment_bytes,
                                            const std::map<uint16_t, dbk_meta_cpu>& counters);
    void note_disk(const WriteState& disk, uint64_t boot_ns);
    void note_cost(const WriteState& disk, uint64_t mono_ns);

    FollowHost& host_;
    const FollowOptions& options_;
    const DeviceWatch& watch_;
    const RingCopier& copier_;
    const WriteQueue& queue_;
    formats::RecorderStatus status_;
    std::map<RingCopier::CpuKey, Counted> counted_; // at the last look
    uint64_t published_ns_ = 0;
};

} // namespace daybreak::recorder
