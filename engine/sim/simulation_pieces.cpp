// SPDX-License-Identifier: Apache-2.0
//
// Simulation: what was recorded, taken piece by piece as the consumer of a running ring does.
#include "engine/sim/sim_kernel.hpp"
#include "engine/trigger/trigger.h"
#include "engine/sim/simulation.hpp"
#include "formats/abi/ioctl.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace daybreak::sim {

namespace {

dbk_segment_header header_at(const std::byte* piece) {
    dbk_segment_header header;
    std::memcpy(&header, piece, sizeof(header));
    return header;
}

void copy_text(char* to, size_t room, const std::string& text) {
    std::memcpy(to, text.data(), std::min(text.size(), room - 1));
}

} // namespace

void Simulation::take_aggregations() {
    if (dbk_consumer_ring(consumer_)->aggregate != DBK_AGGREGATE_ENGINE)
        return;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++) {
        uint32_t bytes = 0;
        const void* image = nullptr;
        if (dbk_consumer_agg_snapshot(consumer_, cpu, &bytes, &image) != 0)
            continue;
        const auto* first = static_cast<const std::byte*>(image);
        snapshots_.emplace_back(first, first + bytes);
    }
}

uint64_t Simulation::newest_sequence(uint32_t cpu) const {
    uint32_t segment_bytes = dbk_consumer_ring(consumer_)->segment_bytes;
    uint64_t newest = 0;
    dbk_region region{};
    for (uint32_t i = 0; dbk_consumer_region(consumer_, i, &region); i++) {
        if (region.kind != DBK_REGION_SEGMENTS || region.cpu != cpu)
            continue;
        const auto* base = static_cast<const std::byte*>(region.pages->address);
        for (uint32_t at = 0; at + segment_bytes <= region.pages->bytes; at += segment_bytes)
            newest = std::max(newest, header_at(base + at).sequence);
    }
    return newest;
}

void Simulation::take_segment(const std::byte* segment, uint32_t cpu, uint64_t below_sequence) {
    dbk_segment_header header = header_at(segment);
    if (header.magic == DBK_SEGMENT_MAGIC && header.sequence > taken_sequence_[cpu] &&
        header.sequence < below_sequence)
        segments_.emplace_back(segment, segment + header.segment_bytes);
}

// Takes each CPU's segments that were not taken before; the one being written only on request.
void Simulation::take_segments(bool open_ones_too) {
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++)
        take_segments_of(cpu, open_ones_too);
}

void Simulation::take_segments_of(uint32_t cpu, bool open_ones_too) {
    uint32_t segment_bytes = dbk_consumer_ring(consumer_)->segment_bytes;
    uint64_t newest = newest_sequence(cpu);
    if (newest == 0)
        return;
    uint64_t last = open_ones_too ? newest : newest - 1;
    dbk_region region{};
    bool is_new = last > taken_sequence_[cpu];
    for (uint32_t i = 0; is_new && dbk_consumer_region(consumer_, i, &region); i++) {
        if (region.kind != DBK_REGION_SEGMENTS || region.cpu != cpu)
            continue;
        const auto* base = static_cast<const std::byte*>(region.pages->address);
        for (uint32_t at = 0; at + segment_bytes <= region.pages->bytes; at += segment_bytes)
            take_segment(base + at, cpu, last + 1);
    }
    taken_sequence_[cpu] = last;
    // Also when there is nothing new: a buffer of less than a segment is empty again then.
    dbk_consumer_release(consumer_, cpu, last);
}

void Simulation::drain() {
    HostScope scope(host_);
    if (dbk_consumer_ring(consumer_)->policy != DBK_POLICY_FILL)
        take_segments_of(dbk_host_cpu(), false);
}

formats::RingPieces Simulation::take_new(bool all_segments, const formats::Readings& wanted) {
    HostScope scope(host_);
    formats::RingPieces pieces;
    if (wanted.aggregations) {
        take_aggregations();
        pieces.aggregations = std::exchange(snapshots_, {});
    }
    bool reads = all_segments || dbk_consumer_ring(consumer_)->policy == DBK_POLICY_SWITCH;
    if (wanted.records) {
        if (reads) {
            take_segments(false);
            add_open_segments(segments_);
        }
        pieces.segments = std::exchange(segments_, {});
    }
    if (!wanted.records || (!reads && pieces.segments.empty()))
        pieces.horizon_mono_ns = 0;
    pieces.metadata = metadata_blocks();
    return pieces;
}

/// Adds a copy of the newest segment of each CPU, which stays the ring's.
void Simulation::add_open_segments(std::vector<Bytes>& segments) const {
    uint32_t segment_bytes = dbk_consumer_ring(consumer_)->segment_bytes;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++) {
        uint64_t newest = newest_sequence(cpu);
        dbk_region region{};
        for (uint32_t i = 0; newest != 0 && dbk_consumer_region(consumer_, i, &region); i++) {
            if (region.kind != DBK_REGION_SEGMENTS || region.cpu != cpu)
                continue;
            const auto* base = static_cast<const std::byte*>(region.pages->address);
            for (uint32_t at = 0; at + segment_bytes <= region.pages->bytes; at += segment_bytes)
                if (header_at(base + at).magic == DBK_SEGMENT_MAGIC &&
                    header_at(base + at).sequence == newest && newest > taken_sequence_[cpu])
                    segments.emplace_back(base + at, base + at + segment_bytes);
        }
    }
}

Bytes Simulation::host_block() const {
    Bytes block(DBK_META_ALIGN_BYTES);
    dbk_meta_host facts{};
    std::memcpy(facts.boot_uuid, host_.boot_uuid().data(), sizeof(facts.boot_uuid));
    facts.kernel_text_start = host_.has_kernel() ? kKernelTextStart : 0;
    facts.cpu_count = host_.cpu_count();
    facts.page_bytes = DBK_META_ALIGN_BYTES;
    copy_text(facts.release, sizeof(facts.release), options_.release);
    copy_text(facts.version, sizeof(facts.version), "daybreak sim");
    copy_text(facts.machine, sizeof(facts.machine), "x86_64");
    dbk_pages pages{block.data(), 0, static_cast<uint32_t>(block.size()), 0, nullptr};
    dbk_meta_block_init(&pages, DBK_META_HOST, host_.boot_id(), 0);
    DBK_ASSERT(dbk_meta_block_append(&pages, &facts, sizeof(facts)));
    return block;
}

std::vector<Bytes> Simulation::all_pieces() const {
    std::vector<Bytes> pieces = segments_;
    for (Bytes& block : metadata_blocks())
        pieces.push_back(std::move(block));
    return pieces;
}

std::vector<Bytes> Simulation::metadata_blocks() const {
    const dbk_pages* triggers = dbk_engine_triggers(host_.engine());
    const auto* first = static_cast<const std::byte*>(triggers->address);
    std::vector<Bytes> pieces{host_block(), Bytes(first, first + triggers->bytes)};
    dbk_region region{};
    for (uint32_t i = 0; dbk_consumer_region(consumer_, i, &region); i++) {
        if (region.kind != DBK_REGION_META)
            continue;
        const auto* base = static_cast<const std::byte*>(region.pages->address);
        pieces.emplace_back(base, base + region.pages->bytes);
    }
    return pieces;
}

/// What the ring holds that was not taken yet.
formats::Recording Simulation::pieces_now() const {
    std::vector<Bytes> segments;
    uint32_t segment_bytes = dbk_consumer_ring(consumer_)->segment_bytes;
    dbk_region region{};
    for (uint32_t i = 0; dbk_consumer_region(consumer_, i, &region); i++) {
        if (region.kind != DBK_REGION_SEGMENTS)
            continue;
        const auto* base = static_cast<const std::byte*>(region.pages->address);
        for (uint32_t at = 0; at + segment_bytes <= region.pages->bytes; at += segment_bytes)
            if (header_at(base + at).sequence > taken_sequence_[region.cpu])
                segments.emplace_back(base + at, base + at + segment_bytes);
    }
    formats::RecordingBuilder builder;
    for (std::vector<Bytes> group : {metadata_blocks(), std::move(segments)})
        for (Bytes& piece : group)
            builder.add_owned(std::move(piece), {.origin = "simulation"});
    return builder.build({.boot_id = host_.boot_id()});
}

formats::Recording Simulation::recording() const {
    formats::RecordingBuilder builder;
    for (Bytes& piece : all_pieces())
        builder.add_owned(std::move(piece), {.origin = "simulation"});
    for (const Bytes& snapshot : snapshots_)
        builder.add_owned(snapshot, {.origin = "aggregation snapshot"});
    return builder.build({.boot_id = host_.boot_id()});
}

Result<formats::TraceSummary>
Simulation::write_trace_file(base::OutputFile& file, const formats::TraceHeader& header,
                             formats::TraceWriterOptions options) const {
    std::vector<Bytes> pieces = all_pieces();
    std::vector<formats::TraceRegion> regions;
    for (const Bytes& piece : pieces)
        regions.push_back({piece, "simulation"});
    return formats::write_trace(file, header, regions, snapshots_,
                                host_.has_kernel() ? kernel_symbols() : formats::SymbolTable(),
                                options);
}

} // namespace daybreak::sim
