// SPDX-License-Identifier: Apache-2.0
//
// LiveRing: what a ring that is at work has recorded, piece by piece.
//
// For a consumer beside the tracing, as dtrace(1) is one.  Each poll brings what is new; a segment
// that is still being written comes again, longer.  Under policy switch a segment that was copied
// whole is released, and its copy kept here for as long as it may hold records after a poll's
// horizon.  Rings of the other policies are read when they have stopped: the reader would race the
// writer for what it overwrites.
//
//     aggregations, then the time, then segments, then metadata: what a record refers to is there
#pragma once

#include "formats/dof/reading_rates.hpp"
#include "formats/segment/ring_pieces.hpp"
#include "recorder/device.hpp"

#include <deque>
#include <map>
#include <vector>

namespace daybreak::recorder {

/// Reads one ring that the caller owns.
class LiveRing {
public:
    /// Reads the ring's description.  `device` must outlive it.
    /// Errors: not_found, when there is no such ring; corrupt.
    static Result<LiveRing> open(DeviceApi& device, uint16_t ring_id);

    /// Takes what is new and wanted; metadata always.  `now_mono_ns` is read after the aggregations
    /// were taken, if they are to be.
    Result<formats::RingPieces> poll(const formats::Readings& wanted,
                                     const std::function<uint64_t()>& now_mono_ns);
    /// From now on polls bring all that is left, without a horizon: the ring was stopped.
    void set_stopped() { stopped_ = true; }

    /// What the ring says of itself now: enum dbk_activity.
    uint32_t activity() const;
    /// Whether a buffer of policy fill was full when a record came.
    bool has_filled() const;
    /// ECBs that the program has on all probes now.
    uint32_t ecb_count() const;

private:
    struct Region {
        dbk_ioc_region facts;
        Mapping mapping;
    };
    struct Copied {
        uint64_t sequence = 0, base_mono_ns = 0;
        Bytes bytes;
    };
    struct Cpu {
        uint64_t next_sequence = 1;  ///< the first that was not copied whole
        std::deque<Copied> complete; ///< whose records may be asked for again
    };

    LiveRing(DeviceApi& device, uint16_t ring_id) : device_(&device), ring_id_(ring_id) {}
    Result<void> map_new_regions();
    Result<void> take_aggregations(formats::RingPieces& pieces);
    Result<void> take_segments(uint32_t cpu_index, formats::RingPieces& pieces);
    void take_metadata(formats::RingPieces& pieces) const;
    ByteView block(uint16_t kind) const;

    DeviceApi* device_;
    uint16_t ring_id_;
    std::map<uint64_t, Region> regions_; ///< by offset, which orders a ring's blocks
    std::map<uint32_t, Cpu> cpus_;
    dbk_meta_ring facts_ = {};
    bool stopped_ = false;
};

} // namespace daybreak::recorder
