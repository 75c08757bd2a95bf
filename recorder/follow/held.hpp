// SPDX-License-Identifier: Apache-2.0
//
// HeldSegments: what a recorder's files already hold, so that a restart copies the rest and nothing
// twice.
//
// There is no journal beside the files: what their whole blocks say is what is there.
#pragma once

#include "recorder/follow/ring_metadata.hpp"
#include "recorder/follow/rings.hpp"
#include "recorder/follow/series.hpp"

#include <map>

namespace daybreak::recorder {

class HeldSegments {
public:
    /// Reads the series' files of this boot, the newest first, until they go back as far as the
    /// rings. `say` gets what cannot be read.
    void read_files(FollowedRings& rings, FolderApi& folder, FileSeries& series,
                    const formats::TraceHeader& header, const FileSeries::Say& say);
    /// Reads the pieces of one trace file of this boot; those of other boots do not count.
    /// Returns the times of its first and last segment, CLOCK_MONOTONIC; {0, 0}: it has none.
    std::pair<uint64_t, uint64_t> add_file(ByteView untrusted_file, uint64_t boot_id);

    /// Where copying goes on for a CPU: the last that is held may have grown since.
    CpuPosition position(uint16_t ring_id, uint16_t cpu) const;
    /// The sequences in oldest .. newest that are not held though a later one is: a damaged block
    /// holds them.
    std::vector<uint64_t> holes(uint16_t ring_id, uint16_t cpu, uint64_t oldest,
                                uint64_t newest) const;
    /// The sequences of which less is held than the ring has, though a later one is held: what was
    /// copied when they had closed did not reach the disk.
    std::vector<uint64_t> cut(uint16_t ring_id, uint16_t cpu, const CpuTail& tail) const;
    /// The lowest sequence of the CPU that was read so far; 0: none.
    uint64_t lowest(uint16_t ring_id, uint16_t cpu) const;
    bool empty() const { return cpus_.empty(); }
    /// The ids that rings have in the files read so far.
    const RingIds& ids() const { return ids_; }

private:
    using CpuKey = std::pair<uint16_t, uint16_t>;
    bool is_enough(FollowedRings& rings) const;

    RingIds ids_;
    std::map<CpuKey, std::map<uint64_t, uint32_t>> cpus_; ///< committed bytes by sequence
};

} // namespace daybreak::recorder
