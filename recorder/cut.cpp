// SPDX-License-Identifier: Apache-2.0
//
// Cutting a window out of a recording.
#include "recorder/cut.hpp"

#include "base/padded.hpp"
#include "formats/segment/piece.hpp"

#include <algorithm>

namespace daybreak::recorder {

namespace {

using base::Bytes;
using base::ByteView;
using formats::CpuInfo;
using formats::LeftOut;
using formats::RingRecording;
using formats::SegmentInfo;

/// What lies in a segment: CLOCK_MONOTONIC from its opening, or its first record, to its last.
struct Span {
    uint64_t from_ns = 0, to_ns = 0;
};

Span span_of(const RingRecording& ring, const SegmentInfo& segment) {
    uint64_t opened = ring.clock.mono_ns(segment.base_ticks(ring.clock));
    uint64_t first = ring.clock.mono_ns(segment.min_ticks);
    uint64_t last = ring.clock.mono_ns(segment.last_ticks);
    return {std::min({segment.base_mono_ns, opened, first}),
            std::max({segment.base_mono_ns, opened, last})};
}

/// Indices of the first and the last segment that stay.
///
/// A reader of the window passes over a segment outside of it, but not over the first of a CPU, nor
/// over the one after a segment that it has read: two stay in front, and one after the window.  What
/// is missing before the first and after the last that stay lies outside, too: the first but one was
/// opened before the window, and the last one after it.
struct Kept {
    size_t first = 0, last = 0;
};

Kept kept_segments(const RingRecording& ring, const CpuInfo& cpu, const formats::CutWindow& window) {
    const auto& segments = cpu.segments;
    auto is_early = [&](size_t i) {
        return span_of(ring, segments[i]).to_ns < window.since_mono_ns;
    };
    auto is_late = [&](size_t i) {
        return span_of(ring, segments[i]).from_ns > window.until_mono_ns;
    };
    Kept kept{0, segments.size() - 1};
    size_t early = 0;
    while (early < segments.size() && is_early(early))
        early++;
    if (early > 2)
        kept.first = early - 2;
    while (kept.last > kept.first && is_late(kept.last) && is_late(kept.last - 1))
        kept.last--;
    return kept;
}

LeftOut left_out_of(const RingRecording& ring, const CpuInfo& cpu, const SegmentInfo& segment) {
    Span span = span_of(ring, segment);
    LeftOut one;
    one.ring_id = ring.ring_id;
    one.cpu = cpu.cpu;
    one.first_sequence = one.last_sequence = segment.sequence;
    one.records_before = segment.records_before;
    one.records = segment.record_count;
    one.from_mono_ns = span.from_ns;
    one.to_mono_ns = span.to_ns;
    if (const formats::SegmentDrops* drops = cpu.drops_of(segment))
        one.drops.assign(drops->begin(), drops->end());
    if (!ring.clock.anchors().empty()) // else ticks are nanoseconds
        one.pairs.push_back({segment.recorded_ticks, segment.base_mono_ns});
    return one;
}

/// Returns whether `next` goes on where `one` ends.
bool follows(const LeftOut& one, const LeftOut& next) {
    return next.ring_id == one.ring_id && next.cpu == one.cpu &&
           next.first_sequence == one.last_sequence + 1 &&
           next.records_before == one.records_before + one.records &&
           next.pairs.empty() == one.pairs.empty();
}

void append(LeftOut& one, const LeftOut& next) {
    one.last_sequence = next.last_sequence;
    one.records += next.records;
    one.from_mono_ns = std::min(one.from_mono_ns, next.from_mono_ns);
    one.to_mono_ns = std::max(one.to_mono_ns, next.to_mono_ns);
    one.drops.resize(std::max(one.drops.size(), next.drops.size()));
    for (size_t cause = 0; cause < next.drops.size(); cause++)
        one.drops[cause] += next.drops[cause];
    one.pairs.insert(one.pairs.end(), next.pairs.begin(), next.pairs.end());
}

} // namespace

Result<Cut> Cut::plan(const formats::Recording& recording, const CutOptions& options) {
    Cut cut;
    cut.window_.boot_id = recording.boot_id;
    cut.window_.window = options.window;
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus)
            cut.plan_cpu(ring, cpu, options.whole_rings.contains(ring.ring_id));
    if (cut.window_.left_out.size() > formats::kLeftOutMax)
        return base::errorf(base::ErrorCode::limit,
                            "outside the window the recording has %zu stretches without a hole, "
                            "%zu are the most that can be left out",
                            cut.window_.left_out.size(), formats::kLeftOutMax);
    return cut;
}

void Cut::plan_cpu(const RingRecording& ring, const CpuInfo& cpu, bool is_whole) {
    std::vector<LeftOut>& list = window_.left_out;
    auto add = [&list](const LeftOut& one) {
        if (!list.empty() && follows(list.back(), one))
            append(list.back(), one);
        else
            list.push_back(one);
    };
    size_t before = 0; // of what an earlier cut left out
    auto add_before = [&](uint64_t sequence) {
        for (; before < cpu.left_out.size() && cpu.left_out[before].first_sequence < sequence;
             before++)
            add(cpu.left_out[before]);
    };
    Kept kept{0, cpu.segments.size()};
    if (!is_whole && !cpu.segments.empty())
        kept = kept_segments(ring, cpu, window_.window);
    for (size_t i = 0; i < cpu.segments.size(); i++) {
        const SegmentInfo& segment = cpu.segments[i];
        add_before(segment.sequence);
        bool stays = (i >= kept.first && i <= kept.last) || segment.damaged;
        (stays ? counts_.records_kept : counts_.records_left_out) += segment.record_count;
        if (stays)
            continue;
        add(left_out_of(ring, cpu, segment));
        counts_.segments_left_out++;
        left_to_find_++;
        std::vector<Segments>& found = new_[{ring.ring_id, cpu.cpu}];
        if (!found.empty() && found.back().last + 1 == segment.sequence)
            found.back().last++;
        else
            found.push_back({segment.sequence, segment.sequence});
    }
    add_before(UINT64_MAX);
}

/// A piece that a reader would refuse stays: it is to find it.
bool Cut::leaves_out(ByteView untrusted_piece) const {
    Result<formats::Piece> piece = formats::parse_piece(untrusted_piece);
    if (!piece.ok() || piece->kind != formats::PieceKind::segment ||
        piece->boot_id != window_.boot_id)
        return false;
    const dbk_segment_header& header = piece->segment;
    auto cpu = new_.find({header.ring_id, header.cpu});
    if (cpu == new_.end())
        return false;
    auto above = std::ranges::upper_bound(cpu->second, header.sequence, {}, &Segments::first);
    if (above == cpu->second.begin() || header.sequence > std::prev(above)->last)
        return false;
    return (header.flags & DBK_SEGMENT_F_SEALED) == 0 ||
           header.crc32c ==
               formats::segment_checksum(untrusted_piece.first(piece->committed_bytes));
}

Bytes Cut::kept_of(ByteView untrusted_rows) {
    Bytes kept;
    while (!untrusted_rows.empty()) {
        Result<formats::Piece> piece = formats::parse_piece(untrusted_rows);
        size_t size = piece.ok() ? base::padded_to_8(piece->committed_bytes) : 8;
        ByteView bytes = untrusted_rows.first(std::min(size, untrusted_rows.size()));
        untrusted_rows = untrusted_rows.subspan(bytes.size());
        if (piece.ok() && bytes.size() >= piece->committed_bytes && leaves_out(bytes))
            left_to_find_ -= left_to_find_ != 0 ? 1 : 0;
        else
            kept.insert(kept.end(), bytes.begin(), bytes.end());
    }
    return kept;
}

} // namespace daybreak::recorder
