// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/virtual_clock.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::sim;

TEST_CASE("the same seed gives the same numbers and times", "[sim][clock]") {
    SeededRandom a(7), b(7), c(8);
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        uint64_t number = a.next();
        CHECK(number == b.next());
        differs |= number != c.next();
    }
    CHECK(differs);
    VirtualClock first({.seed = 3}), second({.seed = 3});
    for (int i = 0; i < 100; i++) {
        first.pass_firing();
        second.pass_firing();
        CHECK(first.read_mono_ns() == second.read_mono_ns());
    }
}

TEST_CASE("time moves on with every reading and never back", "[sim][clock]") {
    VirtualClock clock({});
    uint64_t before_ns = clock.read_mono_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t now_ns = clock.read_mono_ns();
        CHECK(now_ns > before_ns);
        CHECK(now_ns - before_ns <= VirtualClock::kReadCostNs);
        before_ns = now_ns;
    }
    clock.advance_to(5 * kNsPerSecond);
    CHECK(clock.now_mono_ns() == 5 * kNsPerSecond);
    clock.advance_to(1);
    CHECK(clock.now_mono_ns() == 5 * kNsPerSecond);
}

TEST_CASE("the clocks are one time with different origins", "[sim][clock]") {
    VirtualClock clock({.start_mono_ns = 10, .start_wall_ns = 1000, .tsc = true});
    CHECK(clock.wall_ns_at(25) == 1015);
    CHECK(clock.ticks_per_second() == 2'400'000'000);
    CHECK(clock.ticks_at(kNsPerSecond) == 2'400'000'000);
    CHECK(clock.ticks_at(1000 * kNsPerSecond + 5) == 2'400'000'000'000 + 12);
    VirtualClock plain({});
    CHECK(plain.ticks_at(123) == 123);
    CHECK(plain.ticks_per_second() == kNsPerSecond);
}
