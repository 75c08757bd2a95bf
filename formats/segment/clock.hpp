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
// kSlopeTolerancePpm plus kPairNoiseNs: the reader was interrupted between its two readings.  The
// (Early in a boot the kernel itself corrects its idea of the TSC's rate by up to a percent, which
// is why the tolerance is wide.)  The nominal rate is the median slope of the pairs when they span
// kRateSpanNs and it agrees with the metadata within kRateTolerancePercent, else the metadata's.
// The chain never descends, so records ordered by ticks are ordered by nanoseconds: mono_ns() is
// monotone.  All arithmetic saturates; no pair, however hostile, makes it wrap.
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

class ClockModel {
public:
    static constexpr uint64_t kAnchorSpacingNs = 1'000'000;
    static constexpr uint64_t kSlopeTolerancePpm = 20'000;
    static constexpr uint64_t kRateTolerancePercent = 5;
    static constexpr uint64_t kRateSpanNs = 50'000'000;
    static constexpr uint64_t kPairNoiseNs = 20'000;

    ClockModel() = default;
    /// `pairs` in any order; the start pair of `facts` is one more.
    ClockModel(const ClockFacts& facts, std::vector<ClockPair> pairs);

    /// Returns CLOCK_MONOTONIC nanoseconds; never descends with ticks.
    uint64_t mono_ns(uint64_t ticks) const;
    /// Returns CLOCK_BOOTTIME; a suspend after the ring's start is not in it.
    uint64_t boot_ns(uint64_t mono_ns) const { return shifted(mono_ns, facts_.start_boot_ns); }
    /// Returns CLOCK_REALTIME; a step of the wall clock after the ring's start is not in it.
    uint64_t wall_ns(uint64_t mono_ns) const { return shifted(mono_ns, facts_.start_wall_ns); }
    /// Returns the nominal rate in use.
    uint64_t ticks_per_second() const { return facts_.ticks_per_second; }
    /// The pairs the model kept, ascending; empty when ticks are nanoseconds.
    const std::vector<ClockPair>& anchors() const { return anchors_; }

private:
    uint64_t shifted(uint64_t mono_ns, uint64_t start_ns) const;

    ClockFacts facts_;
    std::vector<ClockPair> anchors_;
};

} // namespace daybreak::formats
