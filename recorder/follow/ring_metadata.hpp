// SPDX-License-Identifier: Apache-2.0
//
// What a follower takes from metadata blocks: which have changed, and the few facts it acts on.
//
// Most blocks grow now and then and are written when they have.  CPUS and LOG change all the time;
// they are written now and then, with a trigger, and at the end.
#pragma once

#include "formats/abi/meta.h"
#include "recorder/device.hpp"

#include <array>
#include <map>
#include <vector>

namespace daybreak::recorder {

/// Which blocks of those that change all the time are taken.
enum class Restless : uint8_t {
    none,
    maps, ///< those of processes, which name the addresses of records
    all,  ///< counters and the kernel's log as well
};

class MetadataTail {
public:
    /// Returns those of the blocks (copies, headers first) that changed since they were returned
    /// last, packed; of those that change all the time only what is `taken`.
    std::vector<Bytes> changed(const std::vector<Bytes>& blocks, Restless taken);

private:
    using BlockKey = std::array<uint16_t, 4>; // ring, kind, index, part
    std::map<BlockKey, uint32_t> checksums_;
};

/// Returns the counters of each CPU that a ring's blocks hold.
std::map<uint16_t, dbk_meta_cpu> cpu_counters(const std::vector<Bytes>& blocks);

/// Returns the ring's description; empty when the blocks do not hold it.
std::optional<dbk_meta_ring> ring_facts(const std::vector<Bytes>& blocks);

/// Returns the triggers entered after the one of that sequence number, ascending.
std::vector<dbk_meta_trigger> triggers_after(const std::vector<Bytes>& blocks, uint64_t sequence);

/// Returns whether one of the ring's programs is exactly this image.
bool has_program(const std::vector<Bytes>& blocks, ByteView dof);

/// Gives a piece (a copy as it was in memory) another ring id.
void set_ring_id(Bytes& piece, uint16_t ring_id);

/// Which ids rings have in a recorder's files.  Ids begin again when the module is loaded again; in
/// the files of one boot each stands for one ring.
class RingIds {
public:
    /// The files hold a ring with this id that was made then.
    void add(uint16_t file_id, uint64_t start_mono_ns) { starts_.emplace(file_id, start_mono_ns); }
    /// Returns the id in the files for the ring that was made then; its own one if that is free.
    uint16_t id_of(uint16_t ring_id, uint64_t start_mono_ns);

private:
    std::map<uint16_t, uint64_t> starts_;
};

} // namespace daybreak::recorder
