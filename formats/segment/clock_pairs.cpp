// SPDX-License-Identifier: Apache-2.0
//
// Keeping one pair of each stretch of time.
#include "formats/segment/clock_pairs.hpp"

#include <utility>

namespace daybreak::formats {

void ClockPairs::add(const ClockPair& pair) {
    auto [at, is_new] = pairs_.try_emplace(pair.mono_ns >> shift_, pair);
    ClockPair& kept = at->second;
    if (!is_new &&
        std::pair(pair.mono_ns, pair.ticks) < std::pair(kept.mono_ns, kept.ticks))
        kept = pair;
    if (pairs_.size() > 2 * kPairsMax) // settle() needs to know no more
        coarsen();
}

void ClockPairs::add(const ClockPairs& other) {
    while (shift_ < other.shift_)
        coarsen();
    for (const auto& [stretch, pair] : other.pairs_)
        add(pair);
}

void ClockPairs::coarsen() {
    auto pairs = std::exchange(pairs_, {});
    shift_++;
    for (const auto& [stretch, pair] : pairs)
        add(pair);
}

void ClockPairs::settle() {
    while (pairs_.size() > kPairsMax)
        coarsen();
}

std::vector<ClockPair> ClockPairs::list() const {
    std::vector<ClockPair> list;
    list.reserve(pairs_.size());
    for (const auto& [stretch, pair] : pairs_)
        list.push_back(pair);
    return list;
}

} // namespace daybreak::formats
