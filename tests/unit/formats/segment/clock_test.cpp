// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/clock.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak::formats;

namespace {

ClockFacts tsc_facts(uint64_t rate) {
    ClockFacts facts;
    facts.ticks_are_tsc = true;
    facts.ticks_per_second = rate;
    facts.start_ticks = 1'000'000;
    facts.start_mono_ns = 2'000'000;
    facts.start_boot_ns = 3'000'000;
    facts.start_wall_ns = 1'700'000'000'000'000'000;
    return facts;
}

/// True time of a TSC that runs at `rate`.
uint64_t truth(const ClockFacts& facts, uint64_t rate, uint64_t ticks) {
    auto past = static_cast<unsigned __int128>(ticks - facts.start_ticks);
    return facts.start_mono_ns + static_cast<uint64_t>(past * 1'000'000'000 / rate);
}

} // namespace

TEST_CASE("ticks that are nanoseconds are the answer", "[segment][clock]") {
    ClockFacts facts;
    facts.start_mono_ns = 100;
    facts.start_boot_ns = 250;
    facts.start_wall_ns = 5000;
    ClockModel clock(facts, {{7, 900}});
    CHECK(clock.mono_ns(12345) == 12345);
    CHECK(clock.mono_ns(UINT64_MAX) == UINT64_MAX);
    CHECK(clock.boot_ns(150) == 300);
    CHECK(clock.boot_ns(50) == 200);
    CHECK(clock.wall_ns(0) == 4900);
    CHECK(clock.wall_ns(UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("between pairs time is straight, after them it runs at the rate", "[segment][clock]") {
    ClockFacts facts = tsc_facts(2'000'000'000);
    std::vector<ClockPair> pairs;
    for (uint64_t i = 1; i <= 100; i++) {
        uint64_t ticks = facts.start_ticks + i * 10'000'000;
        pairs.push_back({ticks, truth(facts, 2'000'000'000, ticks)});
    }
    ClockModel clock(facts, pairs);
    CHECK(clock.ticks_per_second() == 2'000'000'000);
    CHECK(clock.mono_ns(facts.start_ticks) == facts.start_mono_ns);
    CHECK(clock.mono_ns(facts.start_ticks + 3'000'000) == facts.start_mono_ns + 1'500'000);
    CHECK(clock.mono_ns(facts.start_ticks + 4'000'000'000) == facts.start_mono_ns + 2'000'000'000);
    CHECK(clock.mono_ns(facts.start_ticks - 1'000'000) == facts.start_mono_ns - 500'000);
    CHECK(clock.mono_ns(0) == facts.start_mono_ns - 500'000);
}

TEST_CASE("a rate that is wrong by a percent is taken from the pairs", "[segment][clock]") {
    ClockFacts facts = tsc_facts(2'000'000'000);
    uint64_t real = 2'020'000'000;
    std::vector<ClockPair> pairs;
    for (uint64_t i = 1; i <= 200; i++) {
        uint64_t ticks = facts.start_ticks + i * 20'000'000;
        pairs.push_back({ticks, truth(facts, real, ticks)});
    }
    ClockModel clock(facts, pairs);
    uint64_t late = facts.start_ticks + 100 * real;
    uint64_t expected = truth(facts, real, late);
    CHECK(clock.mono_ns(late) > expected - 100'000);
    CHECK(clock.mono_ns(late) < expected + 100'000);
}

TEST_CASE("what pairs are off does not make another rate", "[segment][clock]") {
    constexpr uint64_t kRate = 2'000'000'000, kHour = 3600 * kRate;
    ClockFacts facts = tsc_facts(kRate);
    std::vector<ClockPair> pairs;
    auto add = [&](uint64_t past_ticks, uint64_t late_ns) {
        uint64_t ticks = facts.start_ticks + past_ticks;
        pairs.push_back({ticks, truth(facts, kRate, ticks) + late_ns});
    };
    SECTION("a tenth of a second of pairs, each later than the one before") {
        for (uint64_t i = 1; i <= 10; i++)
            add(i * 20'000'000, i * 2'000);
    }
    SECTION("the same after an hour without any") {
        for (uint64_t i = 1; i <= 10; i++)
            add(kHour + i * 20'000'000, i * 2'000);
    }
    SECTION("a burst, then one a minute") {
        for (uint64_t i = 1; i <= 1000; i++)
            add(i * 200'000, i * 20);
        for (uint64_t i = 1; i <= 60; i++)
            add(i * 60 * kRate, 0);
    }
    ClockModel clock(facts, pairs);
    CHECK(clock.ticks_per_second() == kRate);
    uint64_t later = pairs.back().ticks + 10 * kRate;
    CHECK(clock.mono_ns(later) - truth(facts, kRate, later) <= 20'000);
}

TEST_CASE("a rate that differs by more than pairs are off is theirs", "[segment][clock]") {
    // Two pairs a tenth of a second apart: noise of 20 us is 200 ppm.
    constexpr uint64_t kRate = 2'000'000'000;
    ClockFacts facts = tsc_facts(kRate);
    uint64_t ticks = facts.start_ticks + kRate / 10;
    for (uint64_t late_ns : {19'900, 20'100}) {
        ClockModel clock(facts, {{ticks, truth(facts, kRate, ticks) + late_ns}});
        CHECK((clock.ticks_per_second() == kRate) == (late_ns < 20'000));
    }
}

TEST_CASE("an interrupted reading does not bend the line", "[segment][clock]") {
    ClockFacts facts = tsc_facts(1'000'000'000);
    std::vector<ClockPair> pairs;
    for (uint64_t i = 1; i <= 100; i++) {
        uint64_t ticks = facts.start_ticks + i * 5'000'000;
        uint64_t late = i % 10 == 0 ? 3'000'000 : 0; // read 3 ms after the ticks
        pairs.push_back({ticks, truth(facts, 1'000'000'000, ticks) + late});
    }
    ClockModel clock(facts, pairs);
    for (uint64_t ticks = facts.start_ticks; ticks < facts.start_ticks + 600'000'000;
         ticks += 777'777) {
        uint64_t expected = truth(facts, 1'000'000'000, ticks);
        REQUIRE(clock.mono_ns(ticks) >= expected - 1000);
        REQUIRE(clock.mono_ns(ticks) <= expected + 1000);
    }
}

TEST_CASE("time never descends, whatever the pairs say", "[segment][clock]") {
    std::mt19937_64 random(GENERATE(1, 2, 3, 4, 5, 6, 7, 8));
    ClockFacts facts = tsc_facts(random() % 2 ? random() : 1'000'000'000);
    facts.start_ticks = random() % 3 ? random() % 1'000'000'000 : random();
    facts.start_mono_ns = random() % 3 ? random() % 1'000'000'000 : random();
    std::vector<ClockPair> pairs;
    for (int i = 0; i < 500; i++)
        pairs.push_back(random() % 4 ? ClockPair{i * 1'000'000ull, i * 999'000ull}
                                     : ClockPair{random(), random()});
    ClockModel clock(facts, pairs);
    std::vector<uint64_t> ticks = {0, 1, UINT64_MAX - 1, UINT64_MAX};
    for (int i = 0; i < 5000; i++)
        ticks.push_back(random() % 2 ? random() : random() % 1'000'000'000);
    for (const ClockPair& pair : clock.anchors())
        for (int d = -1; d <= 1; d++)
            ticks.push_back(pair.ticks + static_cast<uint64_t>(d));
    std::sort(ticks.begin(), ticks.end());
    uint64_t before = 0;
    for (uint64_t t : ticks) {
        uint64_t now = clock.mono_ns(t);
        REQUIRE(now >= before);
        before = now;
    }
}

TEST_CASE("without pairs or a rate ticks count as nanoseconds", "[segment][clock]") {
    ClockFacts facts;
    facts.ticks_are_tsc = true;
    CHECK(ClockModel(facts, {}).mono_ns(123) == 123);
    facts.ticks_per_second = 1'000'000'000'001; // above what a TSC can be
    CHECK(ClockModel(facts, {}).mono_ns(123) == 123);
    facts.ticks_per_second = 1'000'000'000'000;
    CHECK(ClockModel(facts, {}).mono_ns(123'000) == 123);
}

TEST_CASE("a TSC that restarts, or runs on in a sleep, begins an epoch", "[segment][clock]") {
    constexpr uint64_t kSecond = 1'000'000'000;
    ClockFacts facts = tsc_facts(2 * kSecond);
    facts.start_ticks = 100 * kSecond;
    facts.start_mono_ns = 50 * kSecond;
    std::vector<ClockPair> pairs;
    auto run = [&](uint64_t ticks, uint64_t mono_ns) {
        for (uint64_t s = 0; s < 10; s++)
            pairs.push_back({ticks + s * 2 * kSecond, mono_ns + s * kSecond});
    };
    run(100 * kSecond, 50 * kSecond);
    run(7 * kSecond, 60 * kSecond);     // restarted
    run(7'000 * kSecond, 70 * kSecond); // ran on while the machine slept
    pairs[5].mono_ns += 300'000'000;    // its reader was interrupted
    ClockModel clock(facts, pairs);
    REQUIRE(clock.epochs().size() == 3);
    CHECK(clock.epochs()[1].went_back);
    CHECK_FALSE(clock.epochs()[2].went_back);
    for (const ClockPair& pair : pairs)
        if (&pair != &pairs[5])
            CHECK(clock.mono_ns(clock.shifted_ticks(pair)) == pair.mono_ns);

    SECTION("a CPU that made no segment moves on by its ticks") {
        TickLine line(clock, 101 * kSecond, 0, 2);
        CHECK(clock.mono_ns(line.arrived(102 * kSecond)) == 51 * kSecond);
        CHECK(clock.mono_ns(line.arrived(9 * kSecond)) == 61 * kSecond);
        CHECK(clock.mono_ns(line.made(104 * kSecond)) == 52 * kSecond);
        CHECK(clock.mono_ns(line.made(8 * kSecond)) == 60'500'000'000);
        CHECK(clock.mono_ns(line.arrived(7'002 * kSecond)) == 71 * kSecond);
        CHECK(clock.mono_ns(line.made(11 * kSecond)) == 62 * kSecond);
        CHECK(clock.mono_ns(line.arrived(7'001 * kSecond)) == 70'500'000'000);
    }
    SECTION("but not past its next segment") {
        TickLine line(clock, 101 * kSecond, 0, 0);
        CHECK(clock.mono_ns(line.arrived(9 * kSecond)) < 50 * kSecond);
    }
}

TEST_CASE("a TSC that never jumped shifts nothing", "[segment][clock]") {
    ClockModel clock(tsc_facts(1'000'000'000), {{5'000'000, 6'000'000}, {9'000'000, 10'000'000}});
    CHECK_FALSE(clock.has_jumps());
    CHECK_FALSE(TickLine(clock, 1, 0, 0).shifts());
    CHECK(clock.epoch_at(0) == 0);
}
