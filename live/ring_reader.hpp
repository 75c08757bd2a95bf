// SPDX-License-Identifier: Apache-2.0
//
// RingReader: what a ring that is at work has recorded, piece by piece.
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
#include "live/ring_memory.hpp"

#include <deque>
#include <map>
#include <set>
#include <vector>

namespace daybreak::live {

/// Reads one ring that the caller owns.
class RingReader {
public:
    /// Reads the ring's description.  `memory` must outlive it.
    /// Errors: not_found, when there is no such ring; corrupt.
    static Result<RingReader> open(RingMemory& memory, uint16_t ring_id);

    /// Takes what is new and wanted; metadata always.  `now_mono_ns` is read after the aggregations
    /// were taken, if they are to be; without it no CPU writes meanwhile, and there is no horizon.
    Result<formats::RingPieces> poll(const formats::Readings& wanted,
                                     const std::function<uint64_t()>& now_mono_ns = {});
    /// From now on all that is left is taken, without a horizon: the ring was stopped.
    void set_stopped() { stopped_ = true; }

    // What poll() is made of, for a reader that keeps what it takes.

    /// Maps what the ring has got since the last time: what follows sees it.
    Result<void> update();
    /// Takes what was aggregated since the last time.
    Result<void> take_aggregations(formats::RingPieces& pieces);
    /// Takes the segments of a CPU that are complete; `pieces` says up to when records count.  The
    /// one that is being written is copied, too, when `open_too`.
    Result<void> take_segments(uint32_t cpu, bool open_too, formats::RingPieces& pieces);
    /// CPUs that have segments.
    std::set<uint32_t> cpus() const;
    /// Copies all metadata.
    std::vector<Bytes> metadata() const { return regions_.metadata(); }
    /// Copies the segments that were not taken whole, and takes none.
    std::vector<Bytes> untaken() const;

    /// What the ring says of itself now: enum dbk_activity.
    uint32_t activity() const;
    /// Whether a buffer of policy fill was full when a record came.
    bool has_filled() const;

private:
    struct Copied {
        uint64_t sequence = 0, base_mono_ns = 0;
        Bytes bytes;
    };
    struct Cpu {
        uint64_t next_sequence = 1;  ///< the first that was not copied whole
        std::deque<Copied> complete; ///< whose records may be asked for again
    };

    RingReader(RingMemory& memory, uint16_t ring_id) : memory_(&memory), ring_id_(ring_id) {}
    std::map<uint64_t, ByteView> untaken_of(uint32_t cpu) const;
    void forget_before(Cpu& cpu, std::optional<uint64_t> open_base_ns,
                       std::optional<uint64_t> horizon_mono_ns);
    ByteView block(uint16_t kind) const;

    RingMemory* memory_;
    uint16_t ring_id_;
    MappedRegions regions_;
    std::map<uint32_t, Cpu> cpus_;
    dbk_meta_ring facts_ = {};
    bool stopped_ = false;
};

} // namespace daybreak::live
