// SPDX-License-Identifier: Apache-2.0
//
// What of the stretches that were left out is not here all the same.
//
//     segments          . . . 4 5 . . 8 9
//     left out, file 1  ------>             1..4    becomes 1..3
//     left out, file 2    ---------->       2..7            and 6..7
#include "formats/segment/builder_state.hpp"

#include <algorithm>

namespace daybreak::formats {

namespace {

/// Returns the index of the first segment that is not before `sequence`.
size_t first_from(const SegmentList& segments, uint64_t sequence) {
    size_t low = 0, high = segments.size();
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (segments[middle].sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Returns the part first..last of a stretch.  What was dropped in a part is not known.
LeftOut part_of(const LeftOut& whole, uint64_t first, uint64_t last) {
    if (first == whole.first_sequence && last == whole.last_sequence)
        return whole;
    LeftOut part;
    part.ring_id = whole.ring_id;
    part.cpu = whole.cpu;
    part.first_sequence = first;
    part.last_sequence = last;
    part.records_before = whole.records_before;
    part.records = whole.records;
    part.from_mono_ns = whole.from_mono_ns;
    part.to_mono_ns = whole.to_mono_ns;
    part.file_number = whole.file_number;
    part.window_id = whole.window_id;
    part.cut_before = first != whole.first_sequence;
    part.cut_after = last != whole.last_sequence;
    if (!whole.pairs.empty()) {
        auto from = whole.pairs.begin() + static_cast<ptrdiff_t>(first - whole.first_sequence);
        part.pairs.assign(from, from + static_cast<ptrdiff_t>(last - first + 1));
    }
    return part;
}

} // namespace

void keep_absent(CpuInfo& cpu) {
    std::stable_sort(cpu.left_out.begin(), cpu.left_out.end(),
                     [](const LeftOut& a, const LeftOut& b) {
                         return a.first_sequence < b.first_sequence;
                     });
    std::vector<LeftOut> parts;
    uint64_t next = 0; // what is before it was looked at
    for (const LeftOut& whole : cpu.left_out) {
        uint64_t first = std::max(whole.first_sequence, next);
        next = std::max(next, whole.last_sequence + 1);
        for (size_t i = first_from(cpu.segments, first);
             i < cpu.segments.size() && cpu.segments[i].sequence <= whole.last_sequence; i++) {
            uint64_t here = cpu.segments[i].sequence;
            if (first < here)
                parts.push_back(part_of(whole, first, here - 1));
            first = here + 1;
        }
        if (first <= whole.last_sequence)
            parts.push_back(part_of(whole, first, whole.last_sequence));
    }
    cpu.left_out = std::move(parts);
}

} // namespace daybreak::formats
