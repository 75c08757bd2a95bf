// SPDX-License-Identifier: Apache-2.0
//
// The chain of straight lines behind clock.hpp.
#include "formats/segment/clock.hpp"

#include <algorithm>
#include <optional>

namespace daybreak::formats {

namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kTicksPerSecondMax = 1'000'000'000'000; // no TSC is near 1 THz
constexpr size_t kSlopesMax = 4096;

/// Returns value * numerator / denominator, at most UINT64_MAX; denominator is not 0.
uint64_t scaled(uint64_t value, uint64_t numerator, uint64_t denominator) {
    uint64_t product;
    if (!__builtin_mul_overflow(value, numerator, &product)) [[likely]]
        return product / denominator;
    unsigned __int128 wide = static_cast<unsigned __int128>(value) * numerator / denominator;
    return wide > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(wide);
}

uint64_t add_saturating(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t distance(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

/// Returns the median slope, in ticks per second, over pairs half the list apart; empty when they
/// span too little to say.  `pairs` is ascending by ticks.
std::optional<uint64_t> median_rate(const std::vector<ClockPair>& pairs) {
    std::vector<uint64_t> rates;
    size_t half = pairs.size() / 2;
    size_t step = std::max<size_t>(1, half / kSlopesMax);
    for (size_t i = 0; half > 0 && i + half < pairs.size(); i += step) {
        const ClockPair &low = pairs[i], &high = pairs[i + half];
        if (high.mono_ns <= low.mono_ns || high.ticks <= low.ticks ||
            high.mono_ns - low.mono_ns < ClockModel::kRateSpanNs)
            continue;
        rates.push_back(scaled(high.ticks - low.ticks, kNsPerSecond, high.mono_ns - low.mono_ns));
    }
    if (rates.empty())
        return std::nullopt;
    std::nth_element(rates.begin(), rates.begin() + static_cast<ptrdiff_t>(rates.size() / 2),
                     rates.end());
    return rates[rates.size() / 2];
}

/// Decides the nominal rate; never 0.
uint64_t choose_rate(uint64_t told, const std::vector<ClockPair>& pairs) {
    std::optional<uint64_t> seen = median_rate(pairs);
    if (told > kTicksPerSecondMax)
        told = 0;
    if (seen && (*seen == 0 || *seen > kTicksPerSecondMax))
        seen.reset();
    if (!seen)
        return told ? told : kNsPerSecond;
    if (told && distance(*seen, told) > told / 100 * ClockModel::kRateTolerancePercent)
        return told;
    return *seen;
}

/// Returns whether `next` continues the chain after `last`; both ascend in the walk's direction.
bool continues(const ClockPair& last, const ClockPair& next, uint64_t rate, bool forward) {
    bool ascends = forward ? next.ticks > last.ticks && next.mono_ns >= last.mono_ns
                           : next.ticks < last.ticks && next.mono_ns <= last.mono_ns;
    if (!ascends)
        return false;
    uint64_t nominal = scaled(distance(next.ticks, last.ticks), kNsPerSecond, rate);
    uint64_t actual = distance(next.mono_ns, last.mono_ns);
    if (nominal < ClockModel::kAnchorSpacingNs)
        return false;
    uint64_t tolerance = add_saturating(scaled(nominal, ClockModel::kSlopeTolerancePpm, 1'000'000),
                                        ClockModel::kPairNoiseNs);
    return distance(actual, nominal) <= tolerance;
}

} // namespace

ClockModel::ClockModel(const ClockFacts& facts, std::vector<ClockPair> pairs) : facts_(facts) {
    if (!facts_.ticks_are_tsc) {
        facts_.ticks_per_second = kNsPerSecond;
        return;
    }
    ClockPair start{facts.start_ticks, facts.start_mono_ns};
    bool has_start = start.ticks != 0 || start.mono_ns != 0;
    if (has_start)
        pairs.push_back(start);
    std::sort(pairs.begin(), pairs.end(), [](const ClockPair& a, const ClockPair& b) {
        return a.ticks != b.ticks ? a.ticks < b.ticks : a.mono_ns < b.mono_ns;
    });
    facts_.ticks_per_second = choose_rate(facts.ticks_per_second, pairs);
    if (pairs.empty())
        return;
    ClockPair reference = has_start ? start : pairs.front();
    anchors_.push_back(reference);
    for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair)
        if (continues(anchors_.back(), *pair, facts_.ticks_per_second, false))
            anchors_.push_back(*pair);
    std::reverse(anchors_.begin(), anchors_.end());
    for (const ClockPair& pair : pairs)
        if (continues(anchors_.back(), pair, facts_.ticks_per_second, true))
            anchors_.push_back(pair);
}

uint64_t ClockModel::mono_ns(uint64_t ticks) const {
    if (!facts_.ticks_are_tsc)
        return ticks;
    if (anchors_.empty())
        return scaled(ticks, kNsPerSecond, facts_.ticks_per_second);
    auto above = std::upper_bound(anchors_.begin(), anchors_.end(), ticks,
                                  [](uint64_t t, const ClockPair& pair) { return t < pair.ticks; });
    if (above == anchors_.begin()) {
        uint64_t before = scaled(above->ticks - ticks, kNsPerSecond, facts_.ticks_per_second);
        return above->mono_ns > before ? above->mono_ns - before : 0;
    }
    const ClockPair& low = *(above - 1);
    uint64_t past = ticks - low.ticks;
    if (above == anchors_.end())
        return add_saturating(low.mono_ns, scaled(past, kNsPerSecond, facts_.ticks_per_second));
    return low.mono_ns + scaled(past, above->mono_ns - low.mono_ns, above->ticks - low.ticks);
}

uint64_t ClockModel::shifted(uint64_t mono_ns, uint64_t start_ns) const {
    if (mono_ns >= facts_.start_mono_ns)
        return add_saturating(start_ns, mono_ns - facts_.start_mono_ns);
    uint64_t before = facts_.start_mono_ns - mono_ns;
    return start_ns > before ? start_ns - before : 0;
}

} // namespace daybreak::formats
