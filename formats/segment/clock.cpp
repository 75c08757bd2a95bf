// SPDX-License-Identifier: Apache-2.0
//
// The chain of straight lines of clock.hpp (docs/design/0038-a-clock-that-jumps.md).
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

/// A slope, in ticks per second, and how far the two pairs are apart that it is of.
struct Slope {
    uint64_t rate = 0, span_ns = 0;
};

/// Both ascend from `low` to `high`.
Slope slope(const ClockPair& low, const ClockPair& high) {
    uint64_t span_ns = high.mono_ns - low.mono_ns;
    return {scaled(high.ticks - low.ticks, kNsPerSecond, span_ns), span_ns};
}

/// Returns the middle one; of equal rates those of longer spans come first.
std::optional<Slope> median(std::vector<Slope>& slopes) {
    if (slopes.empty())
        return std::nullopt;
    auto middle = slopes.begin() + static_cast<ptrdiff_t>(slopes.size() / 2);
    std::nth_element(slopes.begin(), middle, slopes.end(), [](const Slope& a, const Slope& b) {
        return a.rate != b.rate ? a.rate < b.rate : a.span_ns > b.span_ns;
    });
    return *middle;
}

/// Returns the median slope over pairs half the list apart; empty when they span too little to say.
/// `pairs` is ascending by ticks.
std::optional<Slope> median_rate(const std::vector<ClockPair>& pairs) {
    std::vector<Slope> rates;
    size_t half = pairs.size() / 2;
    size_t step = std::max<size_t>(1, half / kSlopesMax);
    for (size_t i = 0; half > 0 && i + half < pairs.size(); i += step) {
        const ClockPair &low = pairs[i], &high = pairs[i + half];
        if (high.mono_ns <= low.mono_ns || high.ticks <= low.ticks ||
            high.mono_ns - low.mono_ns < ClockModel::kRateSpanNs)
            continue;
        rates.push_back(slope(low, high));
    }
    return median(rates);
}

/// Returns the median slope over pairs just kRateSpanNs apart: coarse, and most of them are of one
/// epoch.  `pairs` is ascending by mono_ns.
std::optional<Slope> near_rate(const std::vector<ClockPair>& pairs) {
    std::vector<Slope> rates;
    size_t high = 0;
    for (const ClockPair& low : pairs) {
        while (high < pairs.size() && (pairs[high].mono_ns < low.mono_ns ||
                                       pairs[high].mono_ns - low.mono_ns < ClockModel::kRateSpanNs))
            high++;
        if (high == pairs.size())
            break;
        if (pairs[high].ticks > low.ticks)
            rates.push_back(slope(low, pairs[high]));
    }
    return median(rates);
}

/// Returns how far `pair` is ahead (earlier: negative) of where `anchor` points, in ticks; 0 when it
/// is near enough.
__int128 jump_ticks(const ClockPair& anchor, const ClockPair& pair, uint64_t rate) {
    __int128 ticks = static_cast<__int128>(pair.ticks) - anchor.ticks;
    __int128 nominal = scaled(distance(pair.mono_ns, anchor.mono_ns), rate, kNsPerSecond);
    __int128 tolerance = scaled(ClockModel::kJumpNs, rate, kNsPerSecond) +
                         nominal * ClockModel::kSlopeTolerancePpm / 1'000'000;
    __int128 jump = ticks - nominal;
    return jump > tolerance || jump < -tolerance ? jump : 0;
}

/// Decides the nominal rate; never 0.  What was said holds where it differs from what was seen by
/// no more than the noise of the two pairs.
uint64_t choose_rate(uint64_t said, std::optional<Slope> seen) {
    if (said > kTicksPerSecondMax)
        said = 0;
    if (seen && (seen->rate == 0 || seen->rate > kTicksPerSecondMax))
        seen.reset();
    if (!seen)
        return said ? said : kNsPerSecond;
    if (said == 0)
        return seen->rate;
    uint64_t differs = distance(seen->rate, said);
    bool holds = differs > said / 100 * ClockModel::kRateTolerancePercent ||
                 differs <= scaled(said, ClockModel::kPairNoiseNs, seen->span_ns);
    return holds ? said : seen->rate;
}

/// Compares shifted ticks, which may lie before 0 when they are of another epoch.
bool is_before(uint64_t a, uint64_t b) {
    return static_cast<int64_t>(a - b) < 0;
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
        return a.mono_ns != b.mono_ns ? a.mono_ns < b.mono_ns : a.ticks < b.ticks;
    });
    split(pairs, choose_rate(facts.ticks_per_second, near_rate(pairs)));
    start.ticks = shifted_ticks(start);
    std::sort(pairs.begin(), pairs.end(), [](const ClockPair& a, const ClockPair& b) {
        return a.ticks != b.ticks ? a.ticks < b.ticks : a.mono_ns < b.mono_ns;
    });
    facts_.ticks_per_second = choose_rate(facts.ticks_per_second, median_rate(pairs));
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

/// Finds the epochs of `pairs`, which ascend by mono_ns, and shifts their ticks.  A pair that the
/// next one contradicts is not a jump: its reader was interrupted.
void ClockModel::split(std::vector<ClockPair>& pairs, uint64_t rate) {
    ClockPair anchor; // the last that fitted, as recorded
    for (size_t i = 0; i < pairs.size(); i++) {
        ClockPair pair = pairs[i];
        __int128 jump = epochs_.empty() ? 0 : jump_ticks(anchor, pair, rate);
        bool is_late =
            jump != 0 && i + 1 < pairs.size() && jump_ticks(anchor, pairs[i + 1], rate) == 0;
        if (epochs_.empty() || (jump != 0 && !is_late)) {
            uint64_t past = scaled(pair.mono_ns - anchor.mono_ns, rate, kNsPerSecond);
            uint64_t from = epochs_.empty()
                                ? pair.ticks
                                : add_saturating(anchor.ticks + epochs_.back().shift, past);
            epochs_.push_back({from - pair.ticks, from, from, pair.mono_ns, jump < 0});
        }
        ClockEpoch& epoch = epochs_.back();
        pairs[i].ticks += epoch.shift;
        if (is_late)
            continue;
        epoch.to_ticks = std::max(epoch.to_ticks, pairs[i].ticks);
        anchor = pair;
    }
}

size_t ClockModel::epoch_at(uint64_t mono_ns) const {
    auto above = std::upper_bound(
        epochs_.begin(), epochs_.end(), mono_ns,
        [](uint64_t ns, const ClockEpoch& epoch) { return ns < epoch.from_mono_ns; });
    return above == epochs_.begin() ? 0 : static_cast<size_t>(above - epochs_.begin()) - 1;
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

TickLine::TickLine(const ClockModel& clock, uint64_t ticks, size_t epoch, size_t last_epoch)
    : clock_(clock.has_jumps() ? &clock : nullptr), ticks_(ticks),
      slack_ticks_(scaled(ClockModel::kJumpNs, clock.ticks_per_second(), kNsPerSecond)),
      epoch_(epoch), last_epoch_(last_epoch) {}

uint64_t TickLine::arrived(uint64_t ticks) {
    const std::vector<ClockEpoch>& epochs = clock_->epochs();
    while (epoch_ < last_epoch_ && ((ticks < ticks_ && ticks_ - ticks > slack_ticks_) ||
                                    is_before(epochs[epoch_ + 1].from_ticks + slack_ticks_,
                                              ticks + epochs[epoch_].shift))) {
        epoch_++;
        ticks_ = 0;
    }
    ticks_ = std::max(ticks_, ticks);
    return ticks + epochs[epoch_].shift;
}

uint64_t TickLine::made(uint64_t ticks) const {
    const std::vector<ClockEpoch>& epochs = clock_->epochs();
    size_t epoch = epoch_;
    if (epoch > 0 && ticks > ticks_)
        epoch--;
    while (epoch > 0 &&
           is_before(ticks + epochs[epoch].shift + slack_ticks_, epochs[epoch - 1].to_ticks))
        epoch--;
    return ticks + epochs[epoch].shift;
}

uint64_t ClockModel::shifted(uint64_t mono_ns, uint64_t start_ns) const {
    if (mono_ns >= facts_.start_mono_ns)
        return add_saturating(start_ns, mono_ns - facts_.start_mono_ns);
    uint64_t before = facts_.start_mono_ns - mono_ns;
    return start_ns > before ? start_ns - before : 0;
}

} // namespace daybreak::formats
