// SPDX-License-Identifier: Apache-2.0
//
// RankTest: whether two samples differ more than chance makes them differ.
//
// The test of Mann and Whitney ("On a test of whether one of two random variables is stochastically
// larger than the other", Annals of Mathematical Statistics 18, 1947), two-sided.  It asks for the
// order of the values only, so one slow boot among twenty does not decide it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace daybreak::analyze {

/// Up to so many values of both samples together the probability is exact.  The normal
/// approximation is within 0.01 of it from there on (the unit test compares both).
constexpr size_t kExactRankValues = 20;

struct RankTest {
    double u = 0; ///< pairs in which the first sample's value is the larger; a tie is half a pair
    double p = 1; ///< how often equal distributions give a U at least as far from the middle
    bool is_exact = true;
};

/// Empty, when a sample is.  Values are compared as they are: equal ones share their rank.
std::optional<RankTest> rank_test(std::span<const long double> first,
                                  std::span<const long double> second);

} // namespace daybreak::analyze
