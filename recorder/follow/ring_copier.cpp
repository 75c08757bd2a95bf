// SPDX-License-Identifier: Apache-2.0
//
// Copying what is new, as far as there is room for it.
#include "recorder/follow/ring_copier.hpp"

#include "formats/segment/recording.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::recorder {

namespace {

using base::strprintf;
using formats::SkipCause;

/// Of one CPU at a time, so that none keeps the others waiting.
constexpr size_t kCopyBytesMax = 4u << 20;
constexpr int kLooksMax = 1000;

} // namespace

void RingCopier::set_held(HeldSegments held) {
    held_ = std::move(held);
    ids_ = held_.ids();
    restarted_ = !held_.empty();
}

void RingCopier::begin_look() {
    fastest_round_ns_ = UINT64_MAX;
    go_back();
}

uint64_t RingCopier::skipped(CpuKey key) const {
    auto found = skipped_.find(key);
    return found == skipped_.end() ? 0 : found->second;
}

void RingCopier::begin(FollowedRing& ring, const std::vector<Bytes>& metadata) {
    std::optional<dbk_meta_ring> facts = ring_facts(metadata);
    if (ring.ring_id == 0 || !facts) {
        ring.file_id = ring.ring_id;
    } else {
        ring.file_id = ids_.id_of(ring.ring_id, facts->start_mono_ns);
        ring.aggregates = facts->aggregate == DBK_AGGREGATE_ENGINE;
        aggbuf_bytes_[ring.file_id] = facts->aggbuf_bytes;
    }
    for (auto& [cpu, tail] : ring.cpus)
        begin(ring, cpu, tail, facts && facts->start_mono_ns >= began_ns_);
    ring.is_new = false;
}

/// Where a CPU begins: after what the files hold, else with the oldest segment there is.  What
/// a CPU records that was seen without a segment is this recorder's from the first on, and so
/// is all of a ring that is younger than the recorder.
void RingCopier::begin(const FollowedRing& ring, uint16_t cpu, CpuTail& tail, bool is_younger) {
    tail.look();
    auto left = left_.find({ring.file_id, cpu});
    CpuPosition at = left != left_.end() ? left->second : held_.position(ring.file_id, cpu);
    if (at.next == 0 && (is_younger || tail.newest() == 0))
        at.next = 1;
    tail.start_at(at);
    if (left != left_.end())
        return;
    for (uint64_t hole : held_.holes(ring.file_id, cpu, tail.oldest(), tail.newest()))
        tail.go_back(hole);
    for (uint64_t cut : held_.cut(ring.file_id, cpu, tail))
        tail.go_back(cut);
}

void RingCopier::copy_segments(FollowedRing& ring, const std::map<uint16_t, dbk_meta_cpu>& counters,
                               bool open_too) {
    for (auto& [cpu, tail] : ring.cpus)
        if (tail.position().next == 0 && tail.newest() == 0) // it has just got its memory
            begin(ring, cpu, tail, true);
    for (auto& [cpu, tail] : ring.cpus) {
        auto counted = counters.find(cpu);
        if (counted != counters.end())
            tail.set_oldest(counted->second.oldest_sequence);
        copy(ring, cpu, tail, open_too);
    }
}

void RingCopier::put_metadata(const FollowedRing& ring, std::vector<Bytes> blocks,
                              Restless taken) {
    for (Bytes& block : blocks)
        if (ring.file_id != ring.ring_id)
            set_ring_id(block, ring.file_id);
    for (Bytes& block : metadata_.changed(blocks, taken))
        queue_.add({.kind = WriteJob::Kind::metadata, .bytes = std::move(block)});
}

void RingCopier::put_piece(const FollowedRing& ring, Bytes piece) {
    if (ring.file_id != ring.ring_id)
        set_ring_id(piece, ring.file_id);
    bytes_ += piece.size();
    queue_.add({.bytes = std::move(piece)});
}

void RingCopier::copy(const FollowedRing& ring, uint16_t cpu, CpuTail& tail, bool open_too) {
    CpuKey key{ring.file_id, cpu};
    uint64_t before = tail.position().next;
    TailStep step = TailStep::again;
    for (int looks = 0; step != TailStep::done && looks < kLooksMax; looks++) {
        if (!options_.threaded)
            queue_.drain();
        size_t room = std::min(queue_.room_bytes(), kCopyBytesMax);
        if (room < DBK_SEGMENT_BYTES_MAX) {
            hindered_[key] = queue_.hindrance();
            break;
        }
        std::vector<TailSegment> segments;
        std::vector<TailGap> gaps;
        step = tail.take(open_too, room, segments, gaps);
        for (const TailGap& gap : gaps)
            skip(key, gap);
        for (TailSegment& segment : segments)
            put_piece(ring, std::move(segment.bytes));
    }
    if (step == TailStep::done)
        hindered_.erase(key);
    uint64_t opened =
        before == 0 ? 0 : tail.position().next - std::min(before, tail.position().next);
    uint64_t now_ns = host_.clocks().mono_ns;
    if (opened != 0 && now_ns > looked_ns_)
        fastest_round_ns_ =
            std::min(fastest_round_ns_, (now_ns - looked_ns_) * tail.slots() / opened);
}

void RingCopier::skip(CpuKey key, const TailGap& gap) {
    uint64_t count = gap.last - gap.first + 1;
    auto hindered = hindered_.find(key);
    SkipCause cause = !gap.overwritten              ? SkipCause::damaged
                      : gap.again                   ? SkipCause::disk_error
                      : hindered != hindered_.end() ? hindered->second
                      : restarted_                  ? SkipCause::not_running
                                                    : SkipCause::overrun;
    skipped_[key] += count;
    all_skipped_ += count;
    queue_.add(
        {.kind = WriteJob::Kind::skipped,
         .skipped = {key.first, key.second, gap.first, gap.last, cause, host_.clocks().mono_ns}});
    host_.say(strprintf("ring %u cpu %u: segments %" PRIu64 "..%" PRIu64 " were not written: %s",
                        key.first, key.second, gap.first, gap.last, formats::skip_text(cause)));
}

void RingCopier::take_aggregations(FollowedRing& ring) {
    uint32_t room = std::clamp<uint32_t>(aggbuf_bytes_[ring.file_id], DBK_SEGMENT_ALIGN_BYTES,
                                         formats::kAggregationBytesMax);
    if (queue_.room_bytes() < room)
        return; // the kernel goes on counting
    for (uint32_t cpu = 0; cpu < formats::kCpusMax; cpu++) {
        auto snapshot = watch_.device().take_aggregations(ring.ring_id, cpu, room);
        if (!snapshot.ok()) { // another process's own: dtrace takes them itself
            ring.aggregates = false;
            return;
        }
        if (!snapshot.value())
            return;
        if (snapshot.value()->size() > DBK_SEGMENT_DATA_OFFSET)
            put_piece(ring, std::move(*snapshot.value()));
    }
}

bool RingCopier::go_back() {
    std::vector<UnsyncedSegment> lost = queue_.take_lost();
    for (const UnsyncedSegment& segment : lost) {
        bool is_there = false;
        for (auto& [id, ring] : watch_.rings().rings()) {
            auto tail = ring.cpus.find(segment.cpu);
            if (ring.file_id != segment.ring_id || tail == ring.cpus.end())
                continue;
            tail->second.go_back(segment.sequence);
            is_there = true;
        }
        if (!is_there) // its ring has ended
            skip({segment.ring_id, segment.cpu}, {segment.sequence, segment.sequence, true, true});
    }
    return !lost.empty();
}

void RingCopier::end(FollowedRing& ring) {
    host_.say(strprintf("ring %u has ended", ring.ring_id));
    for (auto& [cpu, tail] : ring.cpus) {
        left_[{ring.file_id, cpu}] = tail.position();
        for (const auto& [sequence, looks] : tail.again())
            skip({ring.file_id, cpu}, {sequence, sequence, true, true});
    }
    queue_.add({.kind = WriteJob::Kind::forget, .ring_id = ring.file_id});
}

} // namespace daybreak::recorder
