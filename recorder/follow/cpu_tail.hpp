// SPDX-License-Identifier: Apache-2.0
//
// CpuTail: what one CPU has recorded since the last look, while it goes on recording.
//
// A CPU opens segments with ascending sequence numbers, each in the slot of the oldest.  Once the
// next is open a segment does not change any more and its copy is final; the newest is open and may
// grow.  The position is therefore one number, the first sequence that was not copied whole, and
// how much of it was:
//
//     sequence   97   98   99  100  101          position {next 100, copied_bytes 8192}:
//                ... copied ...  |   open        100 is copied again if it has grown since,
//                                next            101 only as it is now
//
// The segments are never waited for and never released: when the CPU overwrote them before they were
// looked at, they are gone, and what take() says of them is a gap.
#pragma once

#include "recorder/device.hpp"

#include <map>
#include <span>
#include <vector>

namespace daybreak::recorder {

/// How far a CPU's segments have been copied.
struct CpuPosition {
    uint64_t next = 0;         ///< the first sequence not copied whole; 0: the oldest there is
    uint32_t copied_bytes = 0; ///< of `next`
};

/// A copy of a segment, header to committed bytes.
struct TailSegment {
    uint64_t sequence = 0;
    Bytes bytes;
};

/// Sequence numbers that were overwritten, or could not be copied, before they were looked at.
struct TailGap {
    uint64_t first = 0, last = 0;
    bool overwritten = true; ///< false: its slot holds something that is not a segment
    bool again = false;      ///< it was copied once, and that did not reach the disk
};

enum class TailStep : uint8_t {
    done,  ///< all that was there was taken
    again, ///< the CPU was faster than the look: look again soon
    full,  ///< there was no room for more
};

class CpuTail {
public:
    explicit CpuTail(CpuPosition position = {}) : position_(position) {}

    /// Adds memory that holds segments of this CPU; it must stay mapped.
    void add_region(ByteView live) { regions_.push_back(live); }

    /// Finds what segments there are; take() does so itself.
    void look();
    /// Where copying begins, when not with the oldest segment that is there.
    void start_at(CpuPosition position) { position_ = position; }
    /// Copies what is new into `segments`, at most `room_bytes` of it, and what is gone into
    /// `gaps`.  The open segment is copied only when `open_too`.
    TailStep take(bool open_too, size_t room_bytes, std::vector<TailSegment>& segments,
                  std::vector<TailGap>& gaps);

    const CpuPosition& position() const { return position_; }
    /// What was copied of this segment did not reach the disk: it is to be copied once more.
    void go_back(uint64_t sequence);
    /// Sequences that are still to be copied again.
    const std::map<uint64_t, int>& again() const { return again_; }
    uint64_t newest() const { return newest_; }
    uint64_t oldest() const { return oldest_; }
    /// When the oldest segment was opened, CLOCK_MONOTONIC; 0: there is none.
    uint64_t oldest_mono_ns() const;
    /// The CPU says that all segments with lower numbers were overwritten; 0: it does not say.
    void set_oldest(uint64_t sequence) { reported_oldest_ = sequence; }
    /// How long the segment was when it was looked at, header included; 0: it is not there.
    uint32_t committed_bytes(uint64_t sequence) const;
    /// Slots that the regions have room for; 0: no segment was seen yet.
    uint64_t slots() const { return slots_; }

private:
    struct Slot {
        uint64_t sequence;
        ByteView live;
    };

    /// The slot of the segment as of the latest look; null: none has it.
    const Slot* slot_of(uint64_t sequence) const;
    uint64_t first_kept() const;
    bool hole(uint64_t first, uint64_t found, std::vector<TailGap>& gaps);
    TailStep take_again(size_t& room_bytes, std::vector<TailSegment>& segments,
                        std::vector<TailGap>& gaps);
    TailStep copy(const Slot& slot, std::vector<TailSegment>& segments);

    std::vector<ByteView> regions_;
    std::vector<Slot> found_; // of the latest look, ascending
    CpuPosition position_;
    std::map<uint64_t, int> again_; // sequences below it that are wanted; looks that missed them
    uint64_t newest_ = 0, oldest_ = 0, slots_ = 0;
    uint32_t segment_bytes_ = 0; // all of a CPU have one size
    uint64_t reported_oldest_ = 0;
    uint64_t hole_at_ = 0; // the sequence that was missed in the last look
    int hole_looks_ = 0;   // and in how many before
};

} // namespace daybreak::recorder
