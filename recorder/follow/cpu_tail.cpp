// SPDX-License-Identifier: Apache-2.0
//
// Looking through a CPU's slots for what is new.
#include "recorder/follow/cpu_tail.hpp"

#include "formats/abi/segment.h"
#include "live/live_copy.hpp"

#include <algorithm>
#include <bit>

namespace daybreak::recorder {

namespace {

using live::copy_live_piece;
using live::CopyOutcome;
using live::live_word;
using live::LiveCopy;

/// A hole that could be due to the race between looking and opening is looked at again this often;
/// such a race is over within microseconds.
constexpr int kHoleLooksMax = 200;

/// Returns the slot's size when a segment may lie there, else 0.
uint32_t room_at(ByteView live) {
    if (live_word<uint32_t>(live, 0) != DBK_SEGMENT_MAGIC)
        return 0;
    auto room = live_word<uint32_t>(live, offsetof(dbk_segment_header, segment_bytes));
    bool fits = std::has_single_bit(room) && room >= DBK_SEGMENT_BYTES_MIN &&
                room <= DBK_SEGMENT_BYTES_MAX && room <= live.size();
    return fits ? room : 0;
}

uint64_t sequence_of(const Bytes& segment) {
    return base::load<uint64_t>(segment.data() + offsetof(dbk_segment_header, sequence));
}

} // namespace

/// Reads the sequence numbers of all slots, in the order of memory.
void CpuTail::look() {
    found_.clear();
    uint64_t bytes = 0;
    for (ByteView region : regions_) {
        size_t step = DBK_SEGMENT_ALIGN_BYTES; // until a segment gives the size of all
        bytes += region.size();
        for (size_t at = 0; at + step <= region.size(); at += step) {
            ByteView live = region.subspan(at);
            uint32_t room = room_at(live);
            if (room == 0)
                continue;
            step = segment_bytes_ = room;
            uint64_t sequence = live_word<uint64_t>(live, offsetof(dbk_segment_header, sequence));
            if (sequence != 0)
                found_.push_back({sequence, live.first(room)});
        }
    }
    slots_ = segment_bytes_ == 0 ? 0 : bytes / segment_bytes_;
    std::ranges::sort(found_, {}, &Slot::sequence);
    if (found_.empty())
        return;
    oldest_ = found_.front().sequence;
    newest_ = std::max(newest_, found_.back().sequence);
}

const CpuTail::Slot* CpuTail::slot_of(uint64_t sequence) const {
    auto at = std::ranges::lower_bound(found_, sequence, {}, &Slot::sequence);
    return at != found_.end() && at->sequence == sequence ? &*at : nullptr;
}

uint32_t CpuTail::committed_bytes(uint64_t sequence) const {
    const Slot* slot = slot_of(sequence);
    return slot ? live_word<uint32_t>(slot->live, offsetof(dbk_segment_header, committed_bytes))
                : 0;
}

/// The lowest sequence that can still be in a slot.
uint64_t CpuTail::first_kept() const {
    // Slots keep the newest; the oldest of them may just be reopened.
    uint64_t kept = newest_ + 2 > slots_ ? newest_ + 2 - slots_ : 1;
    return std::max(kept, reported_oldest_);
}

/// The segments first .. found - 1 were not seen.  Returns whether that is settled: they are gone.
bool CpuTail::hole(uint64_t first, uint64_t found, std::vector<TailGap>& gaps) {
    uint64_t kept = first_kept();
    if (first < kept) {
        uint64_t last = std::min(found, kept) - 1;
        gaps.push_back({first, last});
        position_ = {last + 1, 0};
        return last + 1 == found;
    }
    hole_looks_ = hole_at_ == first ? hole_looks_ + 1 : 0;
    hole_at_ = first;
    if (hole_looks_ < kHoleLooksMax)
        return false;
    gaps.push_back({first, found - 1, false, false});
    position_ = {found, 0};
    return true;
}

uint64_t CpuTail::oldest_mono_ns() const {
    return found_.empty() ? 0
                          : live_word<uint64_t>(found_.front().live,
                                                offsetof(dbk_segment_header, base_mono_ns));
}

TailStep CpuTail::copy(const Slot& slot, std::vector<TailSegment>& segments) {
    LiveCopy copy = copy_live_piece(slot.live);
    if (copy.outcome == CopyOutcome::nothing || copy.outcome == CopyOutcome::busy)
        return TailStep::again;
    if (copy.outcome == CopyOutcome::refused) {
        // Damaged: the next look takes it for a hole.
        hole_looks_ = hole_at_ == slot.sequence ? hole_looks_ + 1 : 0;
        hole_at_ = slot.sequence;
        return TailStep::again;
    }
    if (sequence_of(copy.bytes) != slot.sequence)
        return TailStep::again; // it wrapped under the look
    bool closed = slot.sequence < newest_;
    bool known = slot.sequence == position_.next && copy.bytes.size() <= position_.copied_bytes;
    position_ = closed
                    ? CpuPosition{slot.sequence + 1, 0}
                    : CpuPosition{slot.sequence, std::max(static_cast<uint32_t>(copy.bytes.size()),
                                                          position_.copied_bytes)};
    if (!known)
        segments.push_back({slot.sequence, std::move(copy.bytes)});
    return TailStep::done;
}

/// Copies what is wanted again, lowest first.
TailStep CpuTail::take_again(size_t& room_bytes, std::vector<TailSegment>& segments,
                             std::vector<TailGap>& gaps) {
    while (!again_.empty()) {
        auto& [sequence, looks] = *again_.begin();
        const Slot* slot = slot_of(sequence);
        if (slot && slot->live.size() > room_bytes)
            return TailStep::full;
        LiveCopy copy = slot ? copy_live_piece(slot->live) : LiveCopy();
        if (copy.outcome == CopyOutcome::copied && sequence_of(copy.bytes) == sequence) {
            room_bytes -= slot->live.size();
            segments.push_back({sequence, std::move(copy.bytes)});
        } else if (sequence >= first_kept() && looks++ < kHoleLooksMax) {
            return TailStep::again;
        } else {
            TailGap gap{sequence, sequence, sequence < first_kept(), true};
            if (!gaps.empty() && gaps.back().last + 1 == sequence &&
                gaps.back().overwritten == gap.overwritten)
                gaps.back().last = sequence;
            else
                gaps.push_back(gap);
        }
        again_.erase(again_.begin());
    }
    return TailStep::done;
}

TailStep CpuTail::take(bool open_too, size_t room_bytes, std::vector<TailSegment>& segments,
                       std::vector<TailGap>& gaps) {
    look();
    if (found_.empty())
        return TailStep::done;
    if (position_.next == 0) // what was overwritten before was never this recorder's
        position_ = {oldest_, 0};
    TailStep again = take_again(room_bytes, segments, gaps);
    if (again != TailStep::done)
        return again;
    size_t taken_bytes = 0;
    for (const Slot& slot : found_) {
        if (slot.sequence < position_.next)
            continue;
        if (slot.sequence > position_.next && !hole(position_.next, slot.sequence, gaps))
            return TailStep::again;
        if (slot.sequence == newest_ && !open_too)
            break;
        if (taken_bytes + slot.live.size() > room_bytes)
            return TailStep::full;
        if (slot.sequence == hole_at_ && hole_looks_ >= kHoleLooksMax) {
            gaps.push_back({slot.sequence, slot.sequence, false, false});
            position_ = {slot.sequence + 1, 0};
            continue;
        }
        TailStep step = copy(slot, segments);
        if (step != TailStep::done)
            return step;
        taken_bytes += segments.empty() ? 0 : segments.back().bytes.size();
    }
    return TailStep::done;
}

void CpuTail::go_back(uint64_t sequence) {
    if (sequence < position_.next)
        again_.emplace(sequence, 0);
    else if (sequence == position_.next)
        position_.copied_bytes = 0;
}

} // namespace daybreak::recorder
