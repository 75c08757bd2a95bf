// SPDX-License-Identifier: Apache-2.0
//
// Segments and snapshots, as they come and as a Recording has them.
//
// What is known of a segment is written down once, in the form that the Recording has it in, and is
// not moved again: a file in order becomes the Recording's lists as it is.
#include "formats/segment/builder_state.hpp"

#include "base/crc32c.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace daybreak::formats {

namespace {

bool has_drops(const dbk_segment_losses& losses) {
    return std::any_of(std::begin(losses.drops), std::end(losses.drops),
                       [](uint32_t count) { return count != 0; });
}

/// Returns where the list has the drops, from 1; 0 when there were none.
uint32_t put_drops(const dbk_segment_losses& losses, base::ChunkList<SegmentDrops>& drops) {
    if (!has_drops(losses))
        return 0;
    SegmentDrops counts;
    std::copy(std::begin(losses.drops), std::end(losses.drops), counts.begin());
    drops.push_back(counts);
    return static_cast<uint32_t>(drops.size());
}

/// Returns whether so many records fit: an index may say anything.
bool is_possible(const SegmentCount& count, size_t bytes) {
    return count.records <= bytes / DBK_RECORD_ALIGN_BYTES;
}

SegmentInfo segment_info(const Piece& piece, size_t bytes,
                         const std::optional<SegmentCount>& count) {
    const dbk_segment_header& header = piece.segment;
    SegmentInfo info;
    info.sequence = header.sequence;
    info.recorded_ticks = header.base_ticks;
    info.base_mono_ns = header.base_mono_ns;
    info.records_before = piece.losses.records_before;
    info.sealed = (header.flags & DBK_SEGMENT_F_SEALED) != 0;
    info.says_tsc = (header.flags & DBK_SEGMENT_F_TSC) != 0;
    if (count && is_possible(*count, bytes)) {
        info.counted = true;
        info.record_count = static_cast<uint32_t>(count->records);
        info.min_ticks = count->min_ticks;
        info.last_ticks = count->last_ticks;
    }
    return info;
}

AggregationSnapshot snapshot_of(const Piece& piece, const PieceBytes& bytes) {
    const dbk_segment_header& header = piece.segment;
    AggregationSnapshot snapshot;
    snapshot.cpu = header.cpu;
    snapshot.ring_id = header.ring_id;
    snapshot.sequence = header.sequence;
    snapshot.base_ticks = header.base_ticks;
    snapshot.base_mono_ns = header.base_mono_ns;
    snapshot.bytes = bytes;
    return snapshot;
}

/// As keep_best() of segments.
void keep_best(base::ChunkList<AggregationSnapshot>& list) {
    bool in_order = true;
    for (size_t i = 1; i < list.size() && in_order; i++)
        in_order = list[i - 1].sequence < list[i].sequence;
    if (in_order)
        return;
    std::vector<uint32_t> order(list.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&list](uint32_t x, uint32_t y) {
        const AggregationSnapshot &a = list[x], &b = list[y];
        return std::tuple(a.sequence, b.bytes.size(), x) <
               std::tuple(b.sequence, a.bytes.size(), y);
    });
    base::ChunkList<AggregationSnapshot> best;
    for (uint32_t index : order)
        if (best.empty() || best.back().sequence != list[index].sequence)
            best.push_back(list[index]);
    list = std::move(best);
}

template <typename T>
void append(base::ChunkList<T>& list, base::ChunkList<T> more) {
    if (list.empty()) {
        list = std::move(more);
        return;
    }
    for (const T& one : more)
        list.push_back(one);
}

/// Adds what a file has of the CPU.
void append(CpuInfo& cpu, CpuPieces pieces) {
    if (!cpu.drops.empty())
        pieces.segments.move_drops(static_cast<uint32_t>(cpu.drops.size()));
    append(cpu.drops, std::move(pieces.drops));
    cpu.segments.append(std::move(pieces.segments));
    append(cpu.aggregations, std::move(pieces.aggregations));
    std::move(pieces.left_out.begin(), pieces.left_out.end(), std::back_inserter(cpu.left_out));
}

RingRecording& ring_of(Recording& recording, uint16_t ring_id) {
    auto at =
        std::lower_bound(recording.rings.begin(), recording.rings.end(), ring_id,
                         [](const RingRecording& ring, uint16_t id) { return ring.ring_id < id; });
    if (at == recording.rings.end() || at->ring_id != ring_id) {
        at = recording.rings.insert(at, RingRecording());
        at->ring_id = ring_id;
    }
    return *at;
}

} // namespace

void BuilderState::add(const Piece& piece, const PieceBytes& bytes, const AddOptions& options,
                       bool cut, const std::optional<SegmentCount>& count, uint32_t place) {
    const dbk_segment_header& header = piece.segment;
    CpuKey key{piece.boot_id, header.ring_id, header.cpu, options.file_id};
    CpuPieces& pieces = cpus[key];
    pieces.ring_id = header.ring_id;
    if (piece.kind == PieceKind::aggregation) {
        pieces.aggregations.push_back(snapshot_of(piece, bytes));
        return;
    }
    SegmentInfo info = segment_info(piece, bytes.size(), count);
    info.bytes = bytes;
    info.damaged = cut;
    info.drops_place = put_drops(piece.losses, pieces.drops);
    info.file_number = options.file_number;
    info.window_id = options.window_id;
    pieces.segments.push_back(info);
    if (place != kNoPlace && pieces.places.empty())
        unfolded.insert(key);
    if (place != kNoPlace || !pieces.places.empty())
        pieces.places.push_back(place);
}

PieceBytes indexed_bytes(const PieceHead& head, uint32_t bytes, PieceStore& store,
                         uint32_t block) {
    return {store, block, head.offset_bytes, bytes, base::crc32c(head.head), true};
}

std::optional<std::pair<StreamKey, SegmentInfo>> segment_of(const PieceHead& untrusted_head) {
    Result<Piece> piece = parse_piece(untrusted_head.head);
    if (!piece.ok() || piece->kind != PieceKind::segment)
        return std::nullopt;
    SegmentInfo info = segment_info(*piece, piece->committed_bytes, untrusted_head.count);
    info.drops_place = has_drops(piece->losses);
    return std::pair(StreamKey{piece->boot_id, piece->segment.ring_id, piece->segment.cpu}, info);
}

std::optional<std::pair<StreamKey, SegmentInfo>> segment_of(const PieceHead& untrusted_head,
                                                            PieceStore& store, uint32_t block) {
    auto segment = segment_of(untrusted_head);
    if (segment)
        segment->second.bytes = indexed_bytes(
            untrusted_head, parse_piece(untrusted_head.head)->committed_bytes, store, block);
    return segment;
}

uint64_t CpuPieces::segment_count() const {
    uint64_t count = segments.size();
    for (const LeftOut& one : left_out)
        if (__builtin_add_overflow(count, one.last_sequence - one.first_sequence + 1, &count))
            return UINT64_MAX;
    return count;
}

void RecordingBuilder::add_left_out(uint64_t boot_id, std::vector<LeftOut> list,
                                    const AddOptions& options) {
    for (LeftOut& one : list) {
        one.file_number = options.file_number;
        one.window_id = options.window_id;
        CpuPieces& pieces = state_->cpus[{boot_id, one.ring_id, one.cpu, options.file_id}];
        pieces.ring_id = one.ring_id;
        pieces.left_out.push_back(std::move(one));
    }
}

void gather_cpus(BuilderState& state, Recording& recording) {
    using Place = std::tuple<uint16_t, uint16_t, uint32_t>; // ring, CPU, file
    std::vector<std::pair<Place, CpuPieces*>> places;
    for (auto& [key, pieces] : state.cpus)
        places.push_back({{pieces.ring_id, key.cpu, key.file_id}, &pieces});
    std::sort(places.begin(), places.end());
    for (const auto& [key, pieces] : state.cpus)
        if (auto at = state.run_pairs.find({key.boot_id, key.ring_id, key.file_id});
            at != state.run_pairs.end()) {
            state.ring_pairs[pieces.ring_id].add(at->second);
            state.run_pairs.erase(at);
        }
    uint32_t count = 0;
    for (auto& [place, pieces] : places) {
        const auto& [ring_id, cpu, file] = place;
        std::vector<CpuInfo>& cpus = ring_of(recording, ring_id).cpus;
        if (cpus.empty() || cpus.back().cpu != cpu) {
            if (count++ >= kRingCpusMax) {
                recording.findings.add(
                    FindingKind::bad_header, base::strprintf("ring %u cpu %u", ring_id, cpu),
                    base::strprintf("more than %u CPUs of all rings together", kRingCpusMax));
                break;
            }
            cpus.emplace_back().cpu = cpu;
        }
        append(cpus.back(), std::exchange(*pieces, {}));
    }
    state.cpus.clear();
    for (RingRecording& ring : recording.rings)
        for (CpuInfo& cpu : ring.cpus) {
            keep_best(cpu.segments);
            keep_best(cpu.aggregations);
            keep_absent(cpu);
        }
}

} // namespace daybreak::formats
