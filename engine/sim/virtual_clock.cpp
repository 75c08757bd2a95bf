// SPDX-License-Identifier: Apache-2.0
//
// Virtual time and seeded numbers.
#include "engine/sim/virtual_clock.hpp"

namespace daybreak::sim {

uint64_t SeededRandom::next() {
    // splitmix64, Steele, Lea and Flood 2014: the increment and multipliers are the published
    // ones.
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

VirtualClock::VirtualClock(const VirtualClockConfig& config)
    : config_(config), random_(config.seed), now_mono_ns_(config.start_mono_ns) {}

uint64_t VirtualClock::read_mono_ns() {
    if (!config_.still)
        now_mono_ns_ += 1 + random_.below(kReadCostNs);
    return now_mono_ns_;
}

uint64_t VirtualClock::ticks_at(uint64_t mono_ns) const {
    if (!config_.tsc)
        return mono_ns;
    uint64_t seconds = mono_ns / kNsPerSecond, rest_ns = mono_ns % kNsPerSecond;
    return seconds * config_.ticks_per_second + rest_ns * config_.ticks_per_second / kNsPerSecond;
}

} // namespace daybreak::sim
