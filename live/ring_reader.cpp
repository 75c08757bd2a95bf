// SPDX-License-Identifier: Apache-2.0
//
// Polling a ring that is at work.
#include "live/ring_reader.hpp"

#include "formats/abi/segment.h"
#include "live/live_copy.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace daybreak::live {

namespace {

using base::errorf;
using formats::RingPieces;

/// 1 ms: a firing that had begun before a poll has committed its record by then, but for a CPU that
/// its hypervisor took away; such a record is printed late, and not lost.
constexpr uint64_t kHorizonMarginNs = 1'000'000;

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

Result<RingReader> RingReader::open(RingMemory& memory, uint16_t ring_id) {
    RingReader ring(memory, ring_id);
    DBK_TRY_VOID(ring.update());
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

Result<void> RingReader::update() {
    Result<std::vector<dbk_ioc_region>> listed = memory_->regions();
    if (!listed.ok() && listed.error().code() == ErrorCode::busy && !regions_.all().empty())
        return {}; // rings of others come and go: this one's new regions wait for the next time
    DBK_TRY(std::vector<dbk_ioc_region> regions, std::move(listed));
    for (const dbk_ioc_region& region : regions)
        if (region.ring_id == ring_id_ || region.ring_id == 0) {
            auto added = regions_.add(*memory_, region);
            if (!added.ok())
                return std::move(added).error();
        }
    return {};
}

/// Returns the first metadata block of a kind, room and all; empty when there is none.
ByteView RingReader::block(uint16_t kind) const {
    for (const auto& [offset, region] : regions_.all()) {
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

uint32_t RingReader::activity() const {
    return live_word<uint32_t>(block(DBK_META_RING),
                               DBK_META_DATA_OFFSET + offsetof(dbk_meta_ring, activity));
}

bool RingReader::has_filled() const {
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

Result<void> RingReader::take_aggregations(RingPieces& pieces) {
    if (facts_.aggregate != DBK_AGGREGATE_ENGINE)
        return {};
    for (uint32_t cpu = 0;; cpu++) {
        DBK_TRY(std::optional<Bytes> snapshot,
                memory_->take_aggregations(ring_id_, cpu, facts_.aggbuf_bytes));
        if (!snapshot)
            return {};
        if (!snapshot->empty())
            pieces.aggregations.push_back(std::move(*snapshot));
    }
}

std::set<uint32_t> RingReader::cpus() const {
    std::set<uint32_t> cpus;
    for (const auto& [offset, region] : regions_.all())
        if (region.facts.kind == DBK_REGION_SEGMENTS)
            cpus.insert(region.facts.cpu);
    return cpus;
}

/// The segments of a CPU that were not copied whole, by sequence, as they are at one moment.
std::map<uint64_t, ByteView> RingReader::untaken_of(uint32_t cpu) const {
    auto known = cpus_.find(cpu);
    uint64_t next = known == cpus_.end() ? 1 : known->second.next_sequence;
    std::map<uint64_t, ByteView> found;
    for (const auto& [offset, region] : regions_.all()) {
        if (region.facts.kind != DBK_REGION_SEGMENTS || region.facts.cpu != cpu)
            continue;
        ByteView live = region.mapping.live();
        for (size_t at = 0; at + facts_.segment_bytes <= live.size(); at += facts_.segment_bytes) {
            uint64_t sequence = sequence_at(live.subspan(at));
            if (sequence >= next)
                found.emplace(sequence, live.subspan(at, facts_.segment_bytes));
        }
    }
    return found;
}

std::vector<Bytes> RingReader::untaken() const {
    std::vector<Bytes> segments;
    for (uint32_t cpu : cpus())
        for (const auto& [sequence, live] : untaken_of(cpu))
            if (LiveCopy piece = copy_live_piece(live); piece.outcome == CopyOutcome::copied)
                segments.push_back(std::move(piece.bytes));
    return segments;
}

Result<void> RingReader::take_segments(uint32_t cpu_index, bool open_too, RingPieces& pieces) {
    Cpu& cpu = cpus_[cpu_index];
    std::map<uint64_t, ByteView> found = untaken_of(cpu_index);
    std::optional<Copied> open;
    for (const auto& [sequence, live] : found) {
        // The newest may still grow.
        bool is_open = sequence == found.rbegin()->first && !stopped_;
        if (is_open && !open_too)
            break;
        LiveCopy piece = copy_live_piece(live);
        if (piece.outcome != CopyOutcome::copied)
            continue; // reused meanwhile, or damaged: the accounting says so
        Copied copied;
        copied.sequence = field_at<uint64_t>(piece.bytes, offsetof(dbk_segment_header, sequence));
        copied.base_mono_ns =
            field_at<uint64_t>(piece.bytes, offsetof(dbk_segment_header, base_mono_ns));
        copied.bytes = std::move(piece.bytes);
        if (is_open)
            open = std::move(copied);
        else
            cpu.complete.push_back(std::move(copied));
    }
    for (const Copied& copied : cpu.complete)
        cpu.next_sequence = std::max(cpu.next_sequence, copied.sequence + 1);
    // Also when no segment was whole: a buffer smaller than that is counted, and empty from here
    // on.
    if (facts_.policy == DBK_POLICY_SWITCH && !found.empty() && !stopped_)
        DBK_TRY_VOID(memory_->release(ring_id_, cpu_index, cpu.next_sequence - 1));
    for (const Copied& copied : cpu.complete)
        pieces.segments.push_back(copied.bytes);
    if (open)
        pieces.segments.push_back(open->bytes);
    forget_before(cpu, open ? std::optional(open->base_mono_ns) : std::nullopt,
                  pieces.horizon_mono_ns);
    return {};
}

/// Drops the copies whose records are all before the horizon: older than their successor's base.
void RingReader::forget_before(Cpu& cpu, std::optional<uint64_t> open_base_ns,
                               std::optional<uint64_t> horizon_mono_ns) {
    while (!cpu.complete.empty()) {
        std::optional<uint64_t> after_ns = open_base_ns;
        if (cpu.complete.size() > 1)
            after_ns = cpu.complete[1].base_mono_ns;
        if (horizon_mono_ns && (!after_ns || *after_ns > *horizon_mono_ns))
            break;
        cpu.complete.pop_front();
    }
}

Result<RingPieces> RingReader::poll(const formats::Readings& wanted,
                                    const std::function<uint64_t()>& now_mono_ns) {
    RingPieces pieces;
    DBK_TRY_VOID(update());
    if (wanted.aggregations)
        DBK_TRY_VOID(take_aggregations(pieces));
    if (wanted.records && (facts_.policy == DBK_POLICY_SWITCH || stopped_)) {
        if (!stopped_ && now_mono_ns) {
            uint64_t now_ns = now_mono_ns();
            pieces.horizon_mono_ns = now_ns > kHorizonMarginNs ? now_ns - kHorizonMarginNs : 0;
        }
        for (uint32_t cpu : cpus())
            DBK_TRY_VOID(take_segments(cpu, true, pieces));
    } else {
        pieces.horizon_mono_ns = 0;
    }
    pieces.metadata = metadata();
    return pieces;
}

} // namespace daybreak::live
