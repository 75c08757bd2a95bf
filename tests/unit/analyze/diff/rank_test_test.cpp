// SPDX-License-Identifier: Apache-2.0
//
// The rank test against published values, and its two ways against each other.
#include "analyze/diff/rank_test.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace daybreak::analyze;

namespace {

using Sample = std::vector<long double>;

double p_of(const Sample& first, const Sample& second) {
    return rank_test(first, second)->p;
}

/// The exact probability by looking at every way to choose the first sample.
double p_by_enumeration(const Sample& first, const Sample& second) {
    Sample all = first;
    all.insert(all.end(), second.begin(), second.end());
    auto u_of = [&](unsigned chosen) {
        double u = 0;
        for (size_t i = 0; i < all.size(); i++)
            for (size_t j = 0; j < all.size(); j++)
                if ((chosen >> i & 1) != 0 && (chosen >> j & 1) == 0)
                    u += all[i] > all[j] ? 1 : all[i] == all[j] ? 0.5 : 0;
        return u;
    };
    double middle = static_cast<double>(first.size() * second.size()) / 2;
    double seen = std::fabs(u_of((1u << first.size()) - 1) - middle), far = 0, sets = 0;
    for (unsigned chosen = 0; chosen < 1u << all.size(); chosen++) {
        if (static_cast<size_t>(__builtin_popcount(chosen)) != first.size())
            continue;
        sets++;
        far += std::fabs(u_of(chosen) - middle) >= seen - 1e-9;
    }
    return far / sets;
}

} // namespace

TEST_CASE("small samples have the probabilities of Mann's and Whitney's table", "[analyze][diff]") {
    // Table I of their paper has the one-sided P(U <= u); here it is twice that.
    CHECK(p_of({1, 2, 3}, {4, 5, 6}) == Approx(2 * 0.05));
    CHECK(p_of({1, 2, 3, 4}, {5, 6, 7, 8}) == Approx(2 * 1.0 / 70));
    CHECK(p_of({1, 2, 3, 5}, {4, 6, 7, 8}) == Approx(2 * 2.0 / 70));
    CHECK(p_of({1, 2, 3, 4, 6}, {5, 7, 8, 9, 10}) == Approx(2 * 2.0 / 252));
    CHECK(p_of({1, 2, 3, 4, 7}, {5, 6, 8, 9, 10}) == Approx(2 * 4.0 / 252));
    // Ages at which men and women were found to have diabetes, the example of scipy's
    // mannwhitneyu(): U 17, p 0.1111 exact.
    auto test = rank_test(Sample{19, 22, 16, 29, 24}, Sample{20, 11, 17, 12});
    CHECK(test->u == 17);
    CHECK(test->p == Approx(0.1111111111));
    CHECK(test->is_exact);
}

TEST_CASE("the exact probability is that of all ways to choose, ties or not", "[analyze][diff]") {
    std::mt19937 random(13);
    for (int round = 0; round < 40; round++) {
        auto sample = [&](size_t size) {
            Sample values(size);
            for (long double& value : values)
                value = static_cast<long double>(random() % (round % 2 != 0 ? 4 : 100));
            return values;
        };
        Sample first = sample(1 + random() % 5), second = sample(1 + random() % 5);
        CHECK(p_of(first, second) == Approx(p_by_enumeration(first, second)));
        CHECK(p_of(first, second) == Approx(p_of(second, first)));
    }
}

TEST_CASE("large samples are approximated, near the exact probability", "[analyze][diff]") {
    Sample first, second;
    for (int i = 0; i < 11; i++) {
        first.push_back(3 * i);
        second.push_back(3 * i + 10);
    }
    CHECK_FALSE(rank_test(first, second)->is_exact);
    double large = p_of(first, second);
    first.pop_back();
    second.pop_back();
    CHECK(rank_test(first, second)->is_exact);
    CHECK(first.size() + second.size() == kExactRankValues);
    CHECK(std::fabs(large - p_of(first, second)) < 0.03);
    // All the same: no order, no difference.
    CHECK(p_of(Sample(30, 5), Sample(30, 5)) == 1);
    CHECK(p_of(Sample(30, 5), Sample(30, 6)) < 1e-9);
}

TEST_CASE("an empty sample has no test", "[analyze][diff]") {
    CHECK_FALSE(rank_test(Sample{}, Sample{1}));
    CHECK_FALSE(rank_test(Sample{1}, Sample{}));
    CHECK(p_of({1}, {2}) == 1);
}
