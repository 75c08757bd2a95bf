// SPDX-License-Identifier: Apache-2.0
//
// The clock model: a ring's ticks in nanoseconds of CLOCK_MONOTONIC, of boot time, of wall time.
//
// A segment's header holds a pair (ticks, CLOCK_MONOTONIC) read side by side, the ring's metadata
// holds one more with boot time and wall time.  When ticks are nanoseconds they are the answer.
// When they are TSC ticks, the model is a chain of straight lines through the pairs of the whole
// ring, of all CPUs:
//
//     mono_ns ^            .-x   beyond the last pair: the nominal rate
//             |       x---'
//             |   x--'           between two pairs: straight
//             | .'               before the first pair: the nominal rate, down to 0
//             +-----------------> ticks
//
// Pairs closer than kAnchorSpacingNs to the one before are left out (their reading noise would bend
// the line), and so is a pair whose slope differs from the nominal rate by more than
// kSlopeTolerancePpm plus kPairNoiseNs: the reader was interrupted between its two readings.
// (Early in a boot the kernel itself corrects its idea of the TSC's rate by up to a percent, which
// is why the tolerance is wide.)  The nominal rate is the median slope of the pairs when they span
// kRateSpanNs and it differs from the metadata's by kRateTolerancePercent at most, and by more than
// kPairNoiseNs of one of its two pairs would make; else it is the metadata's.
// The chain never descends, so records ordered by ticks are ordered by nanoseconds: mono_ns() is
// monotone.  All arithmetic saturates; no pair, however hostile, makes it wrap.
//
// A machine that sleeps may start its TSC anew, or let it run on while CLOCK_MONOTONIC stands
// still.  Where a pair is more than kJumpNs away from where the pairs before it point, and the next
// pair agrees, a new epoch begins.  Each epoch has a shift, which makes of the ticks as recorded
// ticks that run on; all users of ticks but TickLine see shifted ones.
//
//     recorded ^   .-'   .-'        shifted ^         .-'
//              | .'    .'                   |      .-'
//              +-----------> mono_ns        +----------> mono_ns
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace daybreak::formats {

struct ClockPair {
    uint64_t ticks = 0;
    uint64_t mono_ns = 0;
};

/// What the ring's metadata says about its clock.
struct ClockFacts {
    bool ticks_are_tsc = false;
    uint64_t ticks_per_second = 0; ///< 0: not known, taken from the pairs
    uint64_t start_ticks = 0;      ///< these four were read together
    uint64_t start_mono_ns = 0;
    uint64_t start_boot_ns = 0;
    uint64_t start_wall_ns = 0;
};

/// A stretch of time in which the TSC neither went back nor jumped ahead.
struct ClockEpoch {
    uint64_t shift = 0;                    ///< shifted ticks - recorded ticks, modulo 2^64
    uint64_t from_ticks = 0, to_ticks = 0; ///< of its first and its last pair, shifted
    uint64_t from_mono_ns = 0;             ///< of its first pair
    bool went_back = false; ///< the TSC went back before it; false: ahead, or it is the first
};

class ClockModel {
public:
    static constexpr uint64_t kAnchorSpacingNs = 1'000'000;
    static constexpr uint64_t kSlopeTolerancePpm = 20'000;
    static constexpr uint64_t kRateTolerancePercent = 5;
    static constexpr uint64_t kRateSpanNs = 50'000'000;
    static constexpr uint64_t kPairNoiseNs = 20'000;
    static constexpr uint64_t kJumpNs = 100'000'000;

    ClockModel() = default;
    /// `pairs` in any order; the start pair of `facts` is one more.
    ClockModel(const ClockFacts& facts, std::vector<ClockPair> pairs);

    /// Returns CLOCK_MONOTONIC nanoseconds of shifted ticks; never descends with ticks.
    uint64_t mono_ns(uint64_t ticks) const;
    /// Ascending; never empty when ticks are TSC ticks and there are pairs.
    const std::vector<ClockEpoch>& epochs() const { return epochs_; }
    bool has_jumps() const { return epochs_.size() > 1; }
    /// Returns the index of the epoch of a pair with this mono_ns; 0 when there are none.
    size_t epoch_at(uint64_t mono_ns) const;
    /// Returns the shifted ticks of a pair.
    uint64_t shifted_ticks(const ClockPair& pair) const {
        return has_jumps() ? pair.ticks + epochs_[epoch_at(pair.mono_ns)].shift : pair.ticks;
    }
    /// Returns CLOCK_BOOTTIME; a suspend after the ring's start is not in it.
    uint64_t boot_ns(uint64_t mono_ns) const { return shifted(mono_ns, facts_.start_boot_ns); }
    /// Returns CLOCK_REALTIME; a step of the wall clock after the ring's start is not in it.
    uint64_t wall_ns(uint64_t mono_ns) const { return shifted(mono_ns, facts_.start_wall_ns); }
    /// Returns the nominal rate in use.
    uint64_t ticks_per_second() const { return facts_.ticks_per_second; }
    /// The pairs the model kept, ascending; empty when ticks are nanoseconds.
    const std::vector<ClockPair>& anchors() const { return anchors_; }

private:
    void split(std::vector<ClockPair>& pairs, uint64_t rate);
    uint64_t shifted(uint64_t mono_ns, uint64_t start_ns) const;

    ClockFacts facts_;
    std::vector<ClockPair> anchors_;
    std::vector<ClockEpoch> epochs_;
};

/// Shifts the ticks of one segment's records, in the order in which they came.  A CPU moves on to
/// the next epoch when its ticks fall, or would be later than that epoch's beginning; of the first
/// record after a jump nothing else is known.
class TickLine {
public:
    TickLine() = default; ///< shifts nothing
    /// `ticks` are the segment's base as recorded; its epoch, and that of the CPU's next segment or
    /// the last there is.  The clock must outlive it.
    TickLine(const ClockModel& clock, uint64_t ticks, size_t epoch, size_t last_epoch);

    bool shifts() const { return clock_ != nullptr; }
    /// Returns shifted ticks of a record or a commit.
    uint64_t arrived(uint64_t ticks);
    /// Returns shifted ticks of what was made at `ticks` and came with the commit that arrived
    /// last.
    uint64_t made(uint64_t ticks) const;

private:
    const ClockModel* clock_ = nullptr;
    uint64_t ticks_ = 0; ///< that arrived last, as recorded
    uint64_t slack_ticks_ = 0;
    size_t epoch_ = 0, last_epoch_ = 0;
};

} // namespace daybreak::formats
