// SPDX-License-Identifier: Apache-2.0
//
// ClockPairs: the pairs of a clock, of as many segments as there may be, in bounded memory.
//
// Of pairs that are too close together one is kept, the one that was read first:
//
//     mono_ns   | .  . . |   ..   |    .   |      ..|      at most kPairsMax stretches of 2^n ns
//                 ^          ^         ^          ^
//
// Which these are depends on the pairs alone, not on the order in which they come, nor on the files
// that they come from.  With up to kPairsMax pairs all are kept.  (Of a recording with more than four
// such rings the runs of segments have fewer.)
#pragma once

#include "formats/segment/clock.hpp"

#include <unordered_map>

namespace daybreak::formats {

class ClockPairs {
public:
    static constexpr size_t kPairsMax = 32768;

    void add(const ClockPair& pair);
    void add(const ClockPairs& other);
    /// Keeps half as many, or so.
    void coarsen();
    /// Leaves at most kPairsMax.
    void settle();
    size_t size() const { return pairs_.size(); }
    /// Returns whether any pair was left out.
    bool is_thinned() const { return shift_ != 0; }
    /// Returns them in no order.
    std::vector<ClockPair> list() const;

private:
    /// Keys are from files, which may be made to collide.
    struct Hash {
        size_t operator()(uint64_t stretch) const {
            stretch *= 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio, odd
            return stretch ^ stretch >> 32;
        }
    };

    unsigned shift_ = 0; // a stretch has 2^shift_ nanoseconds
    std::unordered_map<uint64_t, ClockPair, Hash> pairs_; // by stretch
};

} // namespace daybreak::formats
