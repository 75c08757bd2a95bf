// SPDX-License-Identifier: Apache-2.0
//
// RankTest: the test of Mann and Whitney.
#include "analyze/diff/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace daybreak::analyze {

namespace {

/// The values of both samples by rank.
struct Ranks {
    std::vector<uint64_t> doubled; ///< twice the rank of each value, from 2: ties share the mean
    uint64_t first = 0;            ///< the sum of those of the first sample
    double ties = 0;               ///< the sum of t^3 - t over groups of t equal values
};

Ranks ranks_of(std::span<const long double> first, std::span<const long double> second) {
    std::vector<std::pair<long double, bool>> values; // and whether it is of the first
    for (long double value : first)
        values.emplace_back(value, true);
    for (long double value : second)
        values.emplace_back(value, false);
    std::ranges::sort(values);
    Ranks ranks;
    for (size_t from = 0, to = 0; from < values.size(); from = to) {
        while (to < values.size() && values[to].first == values[from].first)
            to++;
        auto equal = static_cast<double>(to - from);
        ranks.ties += equal * equal * equal - equal;
        for (size_t i = from; i < to; i++) {
            ranks.doubled.push_back(from + to + 1); // ranks from + 1 to `to`
            ranks.first += values[i].second ? from + to + 1 : 0;
        }
    }
    return ranks;
}

/// Counts, of all ways to choose `chosen` of the values, those whose sum of ranks is at least as
/// far from the mean as what was seen.  Ties need no correction: their ranks are in the count.
double exact_p(const Ranks& ranks, size_t chosen) {
    uint64_t total = 0;
    for (uint64_t rank : ranks.doubled)
        total += rank;
    // ways[k][s]: how many sets of k values have the sum s.
    std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(total + 1));
    ways[0][0] = 1;
    for (uint64_t rank : ranks.doubled)
        for (size_t k = chosen; k >= 1; k--)
            for (uint64_t sum = total; sum >= rank; sum--)
                ways[k][sum] += ways[k - 1][sum - rank];
    // The mean is total * chosen / values: compared without the division.
    auto distance = [&](uint64_t sum) {
        return std::llabs(static_cast<long long>(sum * ranks.doubled.size()) -
                          static_cast<long long>(total * chosen));
    };
    double all = 0, far = 0;
    for (uint64_t sum = 0; sum <= total; sum++) {
        all += ways[chosen][sum];
        far += distance(sum) >= distance(ranks.first) ? ways[chosen][sum] : 0;
    }
    return far / all;
}

/// As the normal distribution has it, with half a step taken off for continuity.  The variance with
/// ties is n1 n2 / 12 ((N + 1) - sum(t^3 - t) / (N (N - 1))) (Siegel and Castellan, Nonparametric
/// Statistics for the Behavioral Sciences, 1988, 6.4).
double approximate_p(const Ranks& ranks, double u, double first, double second) {
    double all = first + second;
    double variance = first * second / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
    double distance = std::fabs(u - first * second / 2) - 0.5;
    if (variance <= 0 || distance <= 0)
        return 1;
    return std::erfc(distance / std::sqrt(2 * variance));
}

} // namespace

std::optional<RankTest> rank_test(std::span<const long double> first,
                                  std::span<const long double> second) {
    if (first.empty() || second.empty())
        return std::nullopt;
    Ranks ranks = ranks_of(first, second);
    auto n1 = static_cast<double>(first.size()), n2 = static_cast<double>(second.size());
    RankTest test;
    test.u = static_cast<double>(ranks.first) / 2 - n1 * (n1 + 1) / 2;
    test.is_exact = ranks.doubled.size() <= kExactRankValues;
    test.p = test.is_exact ? exact_p(ranks, first.size()) : approximate_p(ranks, test.u, n1, n2);
    return test;
}

} // namespace daybreak::analyze
