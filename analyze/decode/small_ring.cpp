// SPDX-License-Identifier: Apache-2.0
//
// Small rings: what DTrace would still have in a ring of few bytes.
#include "analyze/decode/small_ring.hpp"

#include "formats/dof/dof_reader.hpp"

#include <algorithm>
#include <deque>

namespace daybreak::analyze {

namespace {

struct Place {
    MergeStart start;
    uint64_t bytes;
};

/// The bytes that the program asked for, when that is what the ring holds.
std::optional<uint64_t> small_size(const formats::RingRecording& ring) {
    if (!ring.has_info || ring.info.facts.policy != DBK_POLICY_RING ||
        ring.info.facts.ringtime_ns != 0)
        return std::nullopt;
    std::optional<uint64_t> size;
    for (const formats::DofBytes& dof : ring.dof) {
        auto image = formats::parse_dof(dof.bytes);
        if (!image.ok())
            continue;
        for (const formats::DofOption& option : image->program.options)
            if (option.option == DTRACEOPT_BUFSIZE && option.value != DTRACEOPT_UNSET)
                size = option.value & ~uint64_t{7};
    }
    return size && *size <= ring.info.facts.segment_bytes ? size : std::nullopt;
}

MergeStart start_of(const formats::RingRecording& ring, const formats::CpuInfo& cpu,
                    uint64_t size) {
    std::deque<Place> kept; // the newest that fit
    uint64_t used = 0;
    for (const formats::SegmentInfo& segment : cpu.segments) {
        auto cursor = formats::records_of(segment, ring);
        formats::RecordView record;
        for (uint64_t index = 0; cursor.next(record); index++) {
            kept.push_back({{segment.sequence, index}, record.ecb->classic_bytes});
            used += kept.back().bytes;
            for (; used > size && kept.size() > 1; kept.pop_front())
                used -= kept.front().bytes;
        }
    }
    return kept.empty() ? MergeStart{} : kept.front().start;
}

} // namespace

MergeStarts small_ring_starts(const formats::Recording& recording) {
    MergeStarts starts;
    for (const formats::RingRecording& ring : recording.rings) {
        bool has_records = std::any_of(ring.cpus.begin(), ring.cpus.end(),
                                       [](const auto& cpu) { return !cpu.segments.empty(); });
        auto size = has_records ? small_size(ring) : std::nullopt;
        if (!size)
            continue;
        for (const formats::CpuInfo& cpu : ring.cpus)
            starts[{ring.ring_id, cpu.cpu}] = start_of(ring, cpu, *size);
    }
    return starts;
}

} // namespace daybreak::analyze
