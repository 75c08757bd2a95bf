// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/profile_name.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::sim;

namespace {

uint64_t interval(const char* name) {
    auto parsed = parse_profile_name(name);
    return parsed ? parsed->interval_ns : 0;
}

} // namespace

TEST_CASE("a number without unit is a rate per second", "[sim][profile]") {
    CHECK(interval("tick-1") == 1'000'000'000);
    CHECK(interval("tick-100") == 10'000'000);
    CHECK(interval("profile-97") == 10'309'278);
    CHECK(interval("profile-4999hz") == 200'040);
}

TEST_CASE("every unit and its long form", "[sim][profile]") {
    const std::pair<const char*, uint64_t> names[] = {
        {"tick-200000ns", 200'000},      {"tick-250000nsec", 250'000},
        {"tick-300us", 300'000},         {"tick-300usec", 300'000},
        {"tick-7ms", 7'000'000},         {"tick-7msec", 7'000'000},
        {"tick-2s", 2'000'000'000},      {"tick-2sec", 2'000'000'000},
        {"tick-1m", 60'000'000'000},     {"tick-1min", 60'000'000'000},
        {"tick-1h", 3'600'000'000'000},  {"tick-1hour", 3'600'000'000'000},
        {"tick-1d", 86'400'000'000'000}, {"tick-1day", 86'400'000'000'000},
    };
    for (const auto& [name, ns] : names) {
        INFO(name);
        CHECK(interval(name) == ns);
    }
}

TEST_CASE("profile-N fires on every CPU, tick-N on one", "[sim][profile]") {
    CHECK(parse_profile_name("profile-1s")->every_cpu);
    CHECK_FALSE(parse_profile_name("tick-1s")->every_cpu);
}

TEST_CASE("what is too fast, too large or no number does not exist", "[sim][profile]") {
    for (const char* name :
         {"tick-1ns", "tick-199999ns", "tick-199us", "profile-5001", "tick-0", "tick-0ms", "tick-",
          "tick", "tick-x", "tick--1", "tick-1parsec", "tick-1 ms", "tick-*", "profile-1msx",
          "tick-18446744073709551616", "tick-99999999999999999d", "tock-1s", ""}) {
        INFO(name);
        CHECK_FALSE(parse_profile_name(name));
    }
    CHECK(interval("tick-200000ns") == kProfileIntervalNsMin);
    CHECK(interval("tick-5000") == kProfileIntervalNsMin);
}

TEST_CASE("durations have a unit or count seconds", "[sim][profile]") {
    CHECK(parse_duration_ns("35ms") == 35'000'000);
    CHECK(parse_duration_ns("10") == 10'000'000'000);
    CHECK(parse_duration_ns("2min") == 120'000'000'000);
    CHECK(parse_duration_ns("1ns") == 1);
    for (const char* text : {"", "0", "ms", "5hz", "-1s", "1.5s", "99999999999999999999s"})
        CHECK_FALSE(parse_duration_ns(text));
}
