// SPDX-License-Identifier: Apache-2.0
//
// Virtual time and seeded numbers: nothing in a simulation comes from the machine it runs on.
#pragma once

#include <algorithm>
#include <cstdint>

namespace daybreak::sim {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

/// Numbers from a seed, the same everywhere (splitmix64).
class SeededRandom {
public:
    explicit SeededRandom(uint64_t seed) : state_(seed) {}
    uint64_t next();
    /// Returns a number below `bound`, which is not 0.
    uint64_t below(uint64_t bound) { return next() % bound; }

private:
    uint64_t state_;
};

struct VirtualClockConfig {
    uint64_t start_mono_ns = kNsPerSecond; ///< a second after the simulated boot
    uint64_t start_wall_ns = 1'700'000'000 * kNsPerSecond;
    bool tsc = false; ///< ticks are a TSC's, else CLOCK_MONOTONIC nanoseconds
    uint64_t ticks_per_second = 2'400'000'000; ///< of the TSC
    uint64_t seed = 1;
    bool still = false; ///< readings and firings take no time: only advance_to() moves it
};

/// Time that moves only when something happens: a reading costs kReadCostNs at most, a firing
/// kFiringCostNs at most, and a simulation jumps to the next timer.  All four clocks are the same
/// time with different origins, so they never disagree.
class VirtualClock {
public:
    static constexpr uint64_t kReadCostNs = 40;
    static constexpr uint64_t kFiringCostNs = 2000;

    explicit VirtualClock(const VirtualClockConfig& config);

    /// Reads CLOCK_MONOTONIC, which takes a moment: two readings always differ.
    uint64_t read_mono_ns();
    uint64_t read_wall_ns() {
        return read_mono_ns() - config_.start_mono_ns + config_.start_wall_ns;
    }
    uint64_t read_ticks() { return ticks_at(read_mono_ns()); }

    /// The time now, without a reading's cost.
    uint64_t now_mono_ns() const { return now_mono_ns_; }
    /// Where that lies.
    const uint64_t* now() const { return &now_mono_ns_; }
    uint64_t ticks_at(uint64_t mono_ns) const;
    uint64_t wall_ns_at(uint64_t mono_ns) const {
        return mono_ns - config_.start_mono_ns + config_.start_wall_ns;
    }
    uint64_t ticks_per_second() const {
        return config_.tsc ? config_.ticks_per_second : kNsPerSecond;
    }
    bool tsc() const { return config_.tsc; }

    void advance(uint64_t ns) { now_mono_ns_ += ns; }
    /// Moves to a time; one that has passed changes nothing.
    void advance_to(uint64_t mono_ns) { now_mono_ns_ = std::max(now_mono_ns_, mono_ns); }
    /// Lets the time of one firing pass.
    void pass_firing() { advance(config_.still ? 0 : 1 + random_.below(kFiringCostNs)); }

private:
    VirtualClockConfig config_;
    SeededRandom random_;
    uint64_t now_mono_ns_;
};

} // namespace daybreak::sim
