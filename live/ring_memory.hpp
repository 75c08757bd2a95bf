// SPDX-License-Identifier: Apache-2.0
//
// RingMemory: where rings at work lie, as their readers see it (docs/design/0058-rings-at-work.md).
//
// Two have rings: the device (recorder/device.hpp), where CPUs write on while they are read, and a
// simulated machine (engine/sim/sim_ring.hpp), where none does.
#pragma once

#include "formats/abi/ioctl.h"
#include "formats/abi/meta.h"
#include "formats/segment/ring_pieces.hpp"

#include <functional>
#include <map>
#include <memory>

namespace daybreak::live {

using base::Bytes;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::Result;

/// A region's memory, mapped read-only while this lives.  A CPU may be writing to it.
class Mapping {
public:
    /// `release` is called once, at the end.
    Mapping(ByteView live, std::function<void()> release)
        : live_(live), release_(std::move(release)) {}
    Mapping(Mapping&& other) noexcept
        : live_(other.live_), release_(std::exchange(other.release_, nullptr)) {}
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping() {
        if (release_)
            release_();
    }
    ByteView live() const { return live_; }

private:
    ByteView live_;
    std::function<void()> release_;
};

class RingMemory {
public:
    virtual ~RingMemory() = default;

    /// Lists all regions, as they are at one moment.  Metadata comes first: a file of them that is
    /// cut still explains its segments.
    /// Error: busy, when rings come and go too fast for that.
    virtual Result<std::vector<dbk_ioc_region>> regions() = 0;
    virtual Result<Mapping> map(const dbk_ioc_region& region) = 0;
    /// Takes what the CPU has aggregated since the last call; no bytes when it does not aggregate
    /// (option cpu, or it was never up); an empty optional when there is no such CPU.
    virtual Result<std::optional<Bytes>> take_aggregations(uint16_t ring_id, uint32_t cpu,
                                                           uint32_t room_bytes) = 0;
    /// Policy switch: the CPU may reuse its segments up to this one.
    virtual Result<void> release(uint16_t ring_id, uint32_t cpu, uint64_t sequence) = 0;
};

/// A region and its memory.
struct MappedRegion {
    dbk_ioc_region facts;
    Mapping mapping;

    /// Returns "ring 1 cpu 0 region at 0x400000+0x1000", for findings.
    std::string where(size_t offset = 0) const;
};

/// The regions of a ring that were mapped up to now, by offset, which orders its blocks.
class MappedRegions {
public:
    /// Maps a region of segments or metadata; null when it is another's or mapped already.
    Result<const MappedRegion*> add(RingMemory& memory, const dbk_ioc_region& facts);

    const std::map<uint64_t, MappedRegion>& all() const { return regions_; }
    /// Returns copies of the metadata blocks.
    std::vector<Bytes> metadata() const;

private:
    std::map<uint64_t, MappedRegion> regions_;
};

} // namespace daybreak::live
