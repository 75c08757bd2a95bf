// SPDX-License-Identifier: Apache-2.0
//
// SimRing: a simulated machine's ring, as its readers see it.
//
// Regions are those of the consumer, after two blocks of the machine's own, its description and
// its triggers.  All runs in one thread: no CPU writes while a reader looks.
#pragma once

#include "engine/sim/bare_host.hpp"
#include "live/ring_memory.hpp"

namespace daybreak::sim {

class SimRing : public live::RingMemory {
public:
    /// Both must outlive it.  `release` is what the machine says its kernel is.
    SimRing(BareHost& host, dbk_consumer& consumer, uint16_t ring_id, const std::string& release);

    base::Result<std::vector<dbk_ioc_region>> regions() override;
    base::Result<live::Mapping> map(const dbk_ioc_region& region) override;
    base::Result<std::optional<base::Bytes>> take_aggregations(uint16_t ring_id, uint32_t cpu,
                                                               uint32_t room_bytes) override;
    base::Result<void> release(uint16_t ring_id, uint32_t cpu, uint64_t sequence) override;

private:
    BareHost& host_;
    dbk_consumer& consumer_;
    uint16_t ring_id_;
    base::Bytes host_block_;
};

} // namespace daybreak::sim
