// SPDX-License-Identifier: Apache-2.0
#include "analyze/replay/alignment.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kWall = 1'700'000'000 * kSecond;

AlignedRecording recording(const char* name, std::vector<WallPair> pairs, uint64_t event_ns = 0) {
    return {name, std::move(pairs), event_ns};
}

} // namespace

TEST_CASE("recordings are aligned by the newest pair of their clocks", "[analyze][replay]") {
    // The wall clock of db-1 was set 100 s after its boot began.
    std::vector<AlignedRecording> all = {
        recording("db-1", {{kSecond, 5 * kSecond}, {100 * kSecond, kWall + 100 * kSecond}}),
        recording("web-1", {{2 * kSecond, kWall + 42 * kSecond}})};
    auto found = align_by_wall(all);
    REQUIRE(found.ok());
    CHECK(found->shifts_ns == std::vector<uint64_t>{0, 40 * kSecond});
    CHECK(found->note ==
          "aligned by their wall clocks, which moved by at most 1699999996.000 s while they recorded "
          "(db-1); those of 1 were read once; how far two clocks were apart is in no recording: "
          "--align PROBE takes an event as one moment");
}

TEST_CASE("what moved most is named, and no number is made up", "[analyze][replay]") {
    std::vector<AlignedRecording> all = {
        recording("a", {{0, kWall}, {kSecond, kWall + kSecond + 900}}),
        recording("b", {{0, kWall}, {kSecond, kWall + kSecond - 1'250'000}})};
    auto found = align_by_wall(all);
    REQUIRE(found.ok());
    CHECK(found->note.find("moved by at most 1.250 ms while they recorded (b);") !=
          std::string::npos);
    CHECK(found->shifts_ns == std::vector<uint64_t>{1'250'900, 0});
    all = {recording("a", {{0, kWall}}), recording("b", {{0, kWall + 7}})};
    found = align_by_wall(all);
    REQUIRE(found.ok());
    CHECK(found->note.find("which were read once each; how far") != std::string::npos);
    CHECK(found->shifts_ns == std::vector<uint64_t>{0, 7});
}

TEST_CASE("a recording without a wall clock is named", "[analyze][replay]") {
    std::vector<AlignedRecording> all = {recording("a", {{0, kWall}}), recording("b", {})};
    auto found = align_by_wall(all);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().message().starts_with("b: its wall clock was not recorded"));
}

TEST_CASE("an event that all have is one moment", "[analyze][replay]") {
    std::vector<AlignedRecording> all = {recording("a", {{0, kWall}}, 5 * kSecond),
                                         recording("b", {{0, kWall + kSecond}}, 7 * kSecond)};
    auto found = align_by_event(all, "p:::n");
    REQUIRE(found.ok());
    CHECK(found->shifts_ns == std::vector<uint64_t>{2 * kSecond, 0});
    CHECK(found->note == "aligned by the first record of p:::n in each, taken as one moment; by "
                         "their wall clocks these are 3.000 s apart (a first, b last)");
    all[1].pairs.clear();
    found = align_by_event(all, "p:::n");
    REQUIRE(found.ok());
    CHECK(found->note == "aligned by the first record of p:::n in each, taken as one moment; not "
                         "all have read their wall clocks");
}

TEST_CASE("pairs are those of the ring, the files and the machine's end", "[analyze][replay]") {
    formats::Trace trace;
    formats::RingRecording ring;
    ring.has_info = true;
    ring.info.facts.start_mono_ns = 50;
    ring.info.facts.start_wall_ns = kWall + 50;
    trace.files.resize(3);
    trace.files[0].header.clocks = {10, 10, kWall + 11};
    trace.files[1].header.clocks = {10, 10, kWall + 11}; // the same
    trace.files[2].header.clocks = {99, 0, 3};           // before 1970
    trace.summary.emplace();
    trace.summary->clocks = {90, 90, kWall + 90};
    trace.recording.machine.ends.push_back({.mono_ns = 95, .wall_ns = kWall + 96});
    trace.recording.machine.triggers.push_back({.mono_ns = 60, .wall_ns = 0}); // not read
    std::vector<uint64_t> mono;
    for (const WallPair& pair : wall_pairs_of(trace, ring))
        mono.push_back(pair.mono_ns);
    CHECK(mono == std::vector<uint64_t>{10, 50, 90, 95});
    ring.has_info = false;
    CHECK(wall_pairs_of(trace, ring).size() == 3);
}

TEST_CASE("common time saturates", "[analyze][replay]") {
    ReplayedRecording one;
    one.shift_ns = UINT64_MAX - 5;
    CHECK(one.common_ns(5) == UINT64_MAX);
    CHECK(one.common_ns(6) == UINT64_MAX);
    CHECK(one.own_ns(UINT64_MAX) == 5);
    CHECK(one.own_ns(7) == 0);
}
