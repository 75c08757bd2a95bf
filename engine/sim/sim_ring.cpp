// SPDX-License-Identifier: Apache-2.0
//
// The ring of a simulated machine.
#include "engine/sim/sim_ring.hpp"

#include "engine/api/trigger.h"

#include <algorithm>
#include <cstring>

namespace daybreak::sim {

using base::Bytes;

namespace {

/// The machine's own blocks come first.
enum : uint32_t { kHostBlock, kTriggers, kOwnBlocks };
/// Offsets order a ring's regions; one is at most 4 MiB long.
constexpr int kOffsetShift = 32;

void copy_text(char* to, size_t room, const std::string& text) {
    std::memcpy(to, text.data(), std::min(text.size(), room - 1));
}

Bytes host_block(BareHost& host, const std::string& release) {
    Bytes block(DBK_META_ALIGN_BYTES);
    dbk_meta_host facts{};
    std::memcpy(facts.boot_uuid, host.boot_uuid().data(), sizeof(facts.boot_uuid));
    facts.kernel_text_start = host.kernel_text_start();
    facts.cpu_count = host.cpu_count();
    facts.page_bytes = DBK_META_ALIGN_BYTES;
    copy_text(facts.release, sizeof(facts.release), release);
    copy_text(facts.version, sizeof(facts.version), "daybreak sim");
    copy_text(facts.machine, sizeof(facts.machine), "x86_64");
    dbk_pages pages{block.data(), 0, static_cast<uint32_t>(block.size()), 0, nullptr};
    dbk_meta_block_init(&pages, DBK_META_HOST, host.boot_id(), 0);
    DBK_ASSERT(dbk_meta_block_append(&pages, &facts, sizeof(facts)));
    return block;
}

live::Mapping mapping_of(const void* address, uint64_t bytes) {
    return live::Mapping({static_cast<const std::byte*>(address), bytes}, [] {});
}

} // namespace

SimRing::SimRing(BareHost& host, dbk_consumer& consumer, uint16_t ring_id,
                 const std::string& release)
    : host_(host), consumer_(consumer), ring_id_(ring_id), host_block_(host_block(host, release)) {}

Result<std::vector<dbk_ioc_region>> SimRing::regions() {
    std::vector<dbk_ioc_region> found(kOwnBlocks);
    for (dbk_ioc_region& own : found)
        own.kind = DBK_REGION_META;
    found[kHostBlock].bytes = host_block_.size();
    found[kTriggers].bytes = dbk_engine_triggers(host_.engine())->bytes;
    dbk_region region{};
    for (uint32_t i = 0; dbk_consumer_region(&consumer_, i, &region); i++) {
        dbk_ioc_region& one = found.emplace_back();
        one.kind = region.kind;
        one.ring_id = ring_id_;
        one.cpu = region.cpu;
        one.bytes = region.pages->bytes;
    }
    for (uint32_t i = 0; i < found.size(); i++) {
        found[i].index = i;
        found[i].offset = uint64_t{i} << kOffsetShift;
    }
    return found;
}

Result<live::Mapping> SimRing::map(const dbk_ioc_region& region) {
    if (region.index == kHostBlock)
        return mapping_of(host_block_.data(), host_block_.size());
    const dbk_pages* pages = dbk_engine_triggers(host_.engine());
    dbk_region found{};
    if (region.index >= kOwnBlocks) {
        DBK_ASSERT(dbk_consumer_region(&consumer_, region.index - kOwnBlocks, &found));
        pages = found.pages;
    }
    return mapping_of(pages->address, pages->bytes);
}

Result<std::optional<Bytes>> SimRing::take_aggregations(uint16_t, uint32_t cpu, uint32_t) {
    HostScope scope(host_);
    uint32_t bytes = 0;
    const void* image = nullptr;
    if (cpu >= host_.cpu_count())
        return std::optional<Bytes>();
    if (dbk_consumer_agg_snapshot(&consumer_, cpu, &bytes, &image) != 0)
        return std::optional(Bytes());
    const auto* first = static_cast<const std::byte*>(image);
    return std::optional(Bytes(first, first + bytes));
}

Result<void> SimRing::release(uint16_t, uint32_t cpu, uint64_t sequence) {
    HostScope scope(host_);
    dbk_consumer_release(&consumer_, cpu, sequence);
    return {};
}

} // namespace daybreak::sim
