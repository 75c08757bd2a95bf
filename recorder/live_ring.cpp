// SPDX-License-Identifier: Apache-2.0
//
// Polling a ring that is at work.
#include "recorder/live_ring.hpp"

#include "formats/abi/segment.h"
#include "recorder/live_copy.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace daybreak::recorder {

namespace {

using base::errorf;
using formats::RingPieces;

/// 1 ms: a firing that had begun before a poll has committed its record by then, but for a CPU that
/// its hypervisor took away; such a record is printed late, and not lost.
constexpr uint64_t kHorizonMarginNs = 1'000'000;
constexpr uint32_t kRegionsMax = 1u << 20;
constexpr int kListAttemptsMax = 5;

template <typename T>
T field_at(const Bytes& piece, size_t offset) {
    T value;
    std::memcpy(&value, piece.data() + offset, sizeof(value));
    return value;
}

uint64_t sequence_at(ByteView live) {
    if (live_word<uint32_t>(live, 0) != DBK_SEGMENT_MAGIC)
        return 0;
    return live_word<uint64_t>(live, offsetof(dbk_segment_header, sequence));
}

} // namespace

Result<LiveRing> LiveRing::open(DeviceApi& device, uint16_t ring_id) {
    LiveRing ring(device, ring_id);
    DBK_TRY_VOID(ring.map_new_regions());
    ByteView description = ring.block(DBK_META_RING);
    if (description.size() < DBK_META_DATA_OFFSET + sizeof(dbk_meta_ring))
        return errorf(ErrorCode::not_found, "ring %u does not describe itself", ring_id);
    std::memcpy(&ring.facts_, description.data() + DBK_META_DATA_OFFSET, sizeof(ring.facts_));
    if (ring.facts_.segment_bytes < DBK_SEGMENT_BYTES_MIN ||
        ring.facts_.segment_bytes > DBK_SEGMENT_BYTES_MAX ||
        ring.facts_.segment_bytes % DBK_SEGMENT_ALIGN_BYTES != 0)
        return errorf(ErrorCode::corrupt, "ring %u says that its segments have %u bytes", ring_id,
                      ring.facts_.segment_bytes);
    return ring;
}

/// Maps the blocks that the ring has got since the last time: metadata grows.
Result<void> LiveRing::map_new_regions() {
    // Indices move when rings come, go and grow: listed again until the counts stay.
    for (int attempt = 0; attempt < kListAttemptsMax; attempt++) {
        DBK_TRY(dbk_ioc_status before, device_->status());
        for (uint32_t index = 0; index < kRegionsMax; index++) {
            DBK_TRY(std::optional<dbk_ioc_region> region, device_->region(index));
            if (!region)
                break;
            bool ours = region->ring_id == ring_id_ || region->ring_id == 0;
            if (!ours || regions_.contains(region->offset))
                continue;
            DBK_TRY(Mapping mapping, device_->map(*region));
            regions_.emplace(region->offset, Region{*region, std::move(mapping)});
        }
        DBK_TRY(dbk_ioc_status after, device_->status());
        if (before.ring_count == after.ring_count && before.region_count == after.region_count)
            return {};
    }
    return {};
}

/// Returns the first metadata block of a kind, room and all; empty when there is none.
ByteView LiveRing::block(uint16_t kind) const {
    for (const auto& [offset, region] : regions_) {
        ByteView live = region.mapping.live();
        if (region.facts.kind != DBK_REGION_META)
            continue;
        for (size_t at = 0; at + DBK_META_ALIGN_BYTES <= live.size();) {
            ByteView rest = live.subspan(at);
            uint32_t room = live_word<uint32_t>(rest, offsetof(dbk_meta_header, block_bytes));
            if (live_word<uint32_t>(rest, 0) != DBK_META_MAGIC || room < DBK_META_ALIGN_BYTES ||
                room > rest.size())
                break;
            if (live_word<uint16_t>(rest, offsetof(dbk_meta_header, kind)) == kind &&
                live_word<uint16_t>(rest, offsetof(dbk_meta_header, ring_id)) == ring_id_)
                return rest.first(room);
            at += room;
        }
    }
    return {};
}

uint32_t LiveRing::activity() const {
    return live_word<uint32_t>(block(DBK_META_RING),
                               DBK_META_DATA_OFFSET + offsetof(dbk_meta_ring, activity));
}

bool LiveRing::has_filled() const {
    if (facts_.policy != DBK_POLICY_FILL)
        return false;
    ByteView cpus = block(DBK_META_CPUS);
    for (size_t at = DBK_META_DATA_OFFSET; at + sizeof(dbk_meta_cpu) <= cpus.size();
         at += sizeof(dbk_meta_cpu)) {
        size_t drops = at + offsetof(dbk_meta_cpu, drops);
        if (live_word<uint64_t>(cpus, drops + 8 * DBK_DROP_FILLED) != 0)
            return true;
    }
    return false;
}

uint32_t LiveRing::ecb_count() const {
    RingPieces pieces;
    take_metadata(pieces);
    uint32_t count = 0;
    for (const Bytes& piece : pieces.metadata) {
        if (field_at<uint16_t>(piece, offsetof(dbk_meta_header, kind)) != DBK_META_ECBS)
            continue;
        for (size_t at = DBK_META_DATA_OFFSET; at + sizeof(dbk_meta_ecb) <= piece.size(); count++) {
            auto bytes = field_at<uint32_t>(piece, at + offsetof(dbk_meta_ecb, entry_bytes));
            if (bytes < sizeof(dbk_meta_ecb))
                break;
            at += bytes;
        }
    }
    return count;
}

Result<void> LiveRing::take_aggregations(RingPieces& pieces) {
    if (facts_.aggregate != DBK_AGGREGATE_ENGINE)
        return {};
    for (uint32_t cpu = 0;; cpu++) {
        DBK_TRY(std::optional<Bytes> snapshot,
                device_->take_aggregations(ring_id_, cpu, facts_.aggbuf_bytes));
        if (!snapshot)
            return {};
        pieces.aggregations.push_back(std::move(*snapshot));
    }
}

void LiveRing::take_metadata(RingPieces& pieces) const {
    for (const auto& [offset, region] : regions_) {
        ByteView live = region.mapping.live();
        if (region.facts.kind != DBK_REGION_META)
            continue;
        for (Bytes& block : copy_live_blocks(live))
            pieces.metadata.push_back(std::move(block));
    }
}

Result<void> LiveRing::take_segments(uint32_t cpu_index, RingPieces& pieces) {
    Cpu& cpu = cpus_[cpu_index];
    std::map<uint64_t, ByteView> found; // by sequence, as they were at one moment
    for (const auto& [offset, region] : regions_) {
        if (region.facts.kind != DBK_REGION_SEGMENTS || region.facts.cpu != cpu_index)
            continue;
        ByteView live = region.mapping.live();
        for (size_t at = 0; at + facts_.segment_bytes <= live.size(); at += facts_.segment_bytes) {
            uint64_t sequence = sequence_at(live.subspan(at));
            if (sequence >= cpu.next_sequence)
                found.emplace(sequence, live.subspan(at, facts_.segment_bytes));
        }
    }
    std::optional<Copied> open;
    for (const auto& [sequence, live] : found) {
        LiveCopy piece = copy_live_piece(live);
        if (piece.outcome != CopyOutcome::copied)
            continue; // reused meanwhile, or damaged: the accounting says so
        Copied copied;
        copied.sequence = field_at<uint64_t>(piece.bytes, offsetof(dbk_segment_header, sequence));
        copied.base_mono_ns =
            field_at<uint64_t>(piece.bytes, offsetof(dbk_segment_header, base_mono_ns));
        copied.bytes = std::move(piece.bytes);
        // The newest may still grow.
        if (sequence == found.rbegin()->first && !stopped_)
            open = std::move(copied);
        else
            cpu.complete.push_back(std::move(copied));
    }
    for (const Copied& copied : cpu.complete)
        cpu.next_sequence = std::max(cpu.next_sequence, copied.sequence + 1);
    // Also when no segment was whole: a buffer smaller than that is counted, and empty from here
    // on.
    if (facts_.policy == DBK_POLICY_SWITCH && !found.empty() && !stopped_)
        DBK_TRY_VOID(device_->release(ring_id_, cpu_index, cpu.next_sequence - 1));
    for (const Copied& copied : cpu.complete)
        pieces.segments.push_back(copied.bytes);
    if (open)
        pieces.segments.push_back(open->bytes);
    // All records of a segment are older than its successor's base.
    while (!cpu.complete.empty()) {
        bool last = cpu.complete.size() == 1;
        if (last && !open)
            break;
        uint64_t after_ns = last ? open->base_mono_ns : cpu.complete[1].base_mono_ns;
        if (after_ns > pieces.horizon_mono_ns.value_or(UINT64_MAX))
            break;
        cpu.complete.pop_front();
    }
    return {};
}

Result<RingPieces> LiveRing::poll(const formats::Readings& wanted,
                                  const std::function<uint64_t()>& now_mono_ns) {
    RingPieces pieces;
    DBK_TRY_VOID(map_new_regions());
    if (wanted.aggregations)
        DBK_TRY_VOID(take_aggregations(pieces));
    if (wanted.records && (facts_.policy == DBK_POLICY_SWITCH || stopped_)) {
        uint64_t now_ns = now_mono_ns();
        if (!stopped_)
            pieces.horizon_mono_ns = now_ns > kHorizonMarginNs ? now_ns - kHorizonMarginNs : 0;
        std::vector<uint32_t> cpus;
        for (const auto& [offset, region] : regions_)
            if (region.facts.kind == DBK_REGION_SEGMENTS &&
                std::find(cpus.begin(), cpus.end(), region.facts.cpu) == cpus.end())
                cpus.push_back(region.facts.cpu);
        for (uint32_t cpu : cpus)
            DBK_TRY_VOID(take_segments(cpu, pieces));
    } else {
        pieces.horizon_mono_ns = 0;
    }
    take_metadata(pieces);
    return pieces;
}

} // namespace daybreak::recorder
