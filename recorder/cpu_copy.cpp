// SPDX-License-Identifier: Apache-2.0
//
// Passes over a CPU's slots until the newest sequence numbers have no hole.
#include "recorder/cpu_copy.hpp"

#include "formats/abi/segment.h"
#include "live/live_copy.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::recorder {

namespace {

using live::copy_live_piece;
using live::CopyOutcome;
using live::live_word;
using live::LiveCopy;

template <typename T>
T field_at(const Bytes& segment, size_t offset) {
    T value;
    std::memcpy(&value, segment.data() + offset, sizeof(value));
    return value;
}

class CpuCopier {
public:
    explicit CpuCopier(std::span<const ByteView> regions) : regions_(regions) {}

    CpuCopy run() {
        for (int pass = 0; pass < kCpuPassesMax; pass++) {
            copy_.slots_refused = 0;
            for (ByteView region : regions_)
                pass_over(region);
            if (newest_hole() == 0 && settled())
                return std::move(copy_);
        }
        copy_.holes_closed = false;
        return std::move(copy_);
    }

private:
    void pass_over(ByteView region) {
        size_t offset = 0;
        while (offset + DBK_SEGMENT_ALIGN_BYTES <= region.size()) {
            LiveCopy piece;
            if (!have(region.subspan(offset)))
                piece = copy_live_piece(region.subspan(offset));
            if (piece.outcome == CopyOutcome::copied) {
                // All segments of a CPU have one size: none starts inside another.
                step_ = std::max<size_t>(piece.room_bytes, DBK_SEGMENT_ALIGN_BYTES);
                uint64_t sequence =
                    field_at<uint64_t>(piece.bytes, offsetof(dbk_segment_header, sequence));
                copy_.segments[sequence] = std::move(piece.bytes);
            }
            copy_.slots_refused += piece.outcome == CopyOutcome::refused;
            offset += step_;
        }
    }

    static uint64_t sequence_at(ByteView live) {
        return live_word<uint64_t>(live, offsetof(dbk_segment_header, sequence));
    }

    /// Returns whether the segment at the beginning of `live` was copied as far as it goes now.
    bool have(ByteView live) const {
        auto known = copy_.segments.find(sequence_at(live));
        return known != copy_.segments.end() &&
               known->second.size() ==
                   live_word<uint32_t>(live, offsetof(dbk_segment_header, committed_bytes));
    }

    /// Returns whether no copy was made while its segment was the open one, but for the newest.
    bool settled() const {
        for (ByteView region : regions_)
            for (size_t at = 0; at + DBK_SEGMENT_ALIGN_BYTES <= region.size(); at += step_) {
                ByteView live = region.subspan(at);
                uint64_t sequence = sequence_at(live);
                if (copy_.segments.contains(sequence) && !have(live) &&
                    sequence != copy_.segments.rbegin()->first)
                    return false;
            }
        return true;
    }

    /// Returns the number of slots that have held a segment.  Opening one anew clears its sequence
    /// and its magic for a moment, and writes the size that is there already.
    uint64_t slots_used() const {
        uint64_t slots = 0;
        for (ByteView region : regions_)
            for (size_t at = 0; at + DBK_SEGMENT_ALIGN_BYTES <= region.size(); at += step_)
                slots += live_word<uint32_t>(region.subspan(at),
                                             offsetof(dbk_segment_header, segment_bytes)) == step_;
        return slots;
    }

    /// Returns the newest sequence number that is not there and should be; 0: there is none.
    uint64_t newest_hole() const {
        if (copy_.segments.empty())
            return 0;
        uint64_t newest = copy_.segments.rbegin()->first, slots = slots_used();
        // The oldest slot may be about to be reused: it need not be there.
        uint64_t kept = newest + 2 > slots ? newest + 2 - slots : 1;
        for (uint64_t sequence = newest; sequence >= kept; sequence--)
            if (!copy_.segments.contains(sequence))
                return sequence;
        return 0;
    }

    std::span<const ByteView> regions_;
    CpuCopy copy_;
    size_t step_ = DBK_SEGMENT_ALIGN_BYTES;
};

} // namespace

CpuCopy copy_live_cpu(std::span<const ByteView> regions) {
    return CpuCopier(regions).run();
}

} // namespace daybreak::recorder
