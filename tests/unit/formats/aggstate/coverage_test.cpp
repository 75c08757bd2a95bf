// SPDX-License-Identifier: Apache-2.0
#include "formats/aggstate/coverage.hpp"
#include "tests/unit/formats/aggstate/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::part_of;
using daybreak::test::run;

namespace {

CoverageReport report_of(const std::vector<StatePart>& parts) {
    CoverageMerge merge;
    for (const StatePart& part : parts)
        merge.add(part, "file");
    auto report = merge.finish();
    INFO((report.ok() ? "" : report.error().message()));
    REQUIRE(report.ok());
    return *report;
}

std::vector<std::string> missing(const std::vector<StatePart>& parts) {
    return report_of(parts).missing;
}

/// All parts know how much was recorded.
std::vector<StatePart> knowing(std::vector<StatePart> parts, uint64_t newest, uint64_t committed) {
    for (StatePart& part : parts) {
        part.cpus[0].newest = newest;
        part.cpus[0].committed = committed;
    }
    return parts;
}

const std::string kWhere = "web-1, boot 88776655-4433-2211, cpu 3: ";

} // namespace

TEST_CASE("parts that fit together miss nothing, in any order", "[aggstate]") {
    StatePart a = part_of({run(1, 3, 0, 30), run(6, 6, 50, 5)}), b = part_of({run(4, 5, 30, 20)});
    CHECK(missing({a, b}).empty());
    CHECK(missing({b, a}).empty());
    CoverageReport report = report_of({a, b, a});
    CHECK(report.parts == 2);
    CHECK(report.boots == 1);
    CHECK(report.records == 55);
}

TEST_CASE("a part that is not there is said: in between, first, last", "[aggstate]") {
    StatePart a = part_of({run(1, 3, 0, 30)}), b = part_of({run(4, 5, 30, 20)}),
              c = part_of({run(6, 6, 50, 5)});
    CHECK(missing(knowing({a, b, c}, 6, 55)).empty());
    CHECK(missing(knowing({a, c}, 6, 55)) ==
          std::vector{kWhere + "segments 4 to 5 with 20 records are in no part"});
    CHECK(missing(knowing({b, c}, 6, 55)) ==
          std::vector{kWhere + "segments 1 to 3 with 30 records are in no part"});
    CHECK(missing(knowing({a, b}, 6, 55)) ==
          std::vector{kWhere + "segment 6 with 5 records is in no part"});
    StatePart nothing = part_of({});
    CHECK(missing(knowing({nothing}, 6, 55)) ==
          std::vector{kWhere + "segments 1 to 6 with 55 records are in no part"});
}

TEST_CASE("what was overwritten is not missing", "[aggstate]") {
    StatePart part = part_of({run(10, 12, 90, 30)});
    CHECK(missing({part}).size() == 1);
    part.cpus[0].first_kept = 10;
    CHECK(missing({part}).empty());
    part.cpus[0].first_kept = 9;
    CHECK(missing({part}).front().starts_with(kWhere + "segment 9"));
}

TEST_CASE("nothing happened, and nothing was sent", "[aggstate]") {
    CoverageReport report = report_of({part_of({})});
    CHECK(report.parts == 1);
    CHECK(report.records == 0);
    CHECK(report.missing.empty());
    CHECK(report_of({}).parts == 0);
}

TEST_CASE("records of two parts would count twice", "[aggstate]") {
    CoverageMerge merge;
    merge.add(part_of({run(1, 5, 0, 50)}), "a.states");
    merge.add(part_of({run(5, 6, 40, 20)}), "b.states");
    auto report = merge.finish();
    REQUIRE(!report.ok());
    CHECK(report.error().code() == ErrorCode::invalid);
    CHECK(report.error().message().find("both have segment 5") != std::string::npos);
}

TEST_CASE("parts of two rings of a boot are said where they were recorded at one time",
          "[aggstate]") {
    StatePart one = part_of({run(1, 3, 0, 30)}), later = one, beside = one;
    later.identity.ring_id = 2;
    later.cpus[0].runs[0].from_ns += 100'000;
    later.cpus[0].runs[0].to_ns += 100'000;
    beside.identity.ring_id = 3;
    CHECK(missing({one, later}).empty());
    const std::vector<std::string> twice{
        "web-1, boot 88776655-4433-2211: parts of rings 1 and 3, recorded at one time: what both "
        "have of a probe counts twice"};
    CHECK(missing({beside, one}) == twice);
    CHECK(missing({one, later, beside}) == twice);
}

TEST_CASE("windows that meet cover the same segments once", "[aggstate]") {
    std::vector<CoveredRun> all{run(1, 6, 0, 60)};
    StatePart a = part_of(all, 0, 3000), b = part_of(all, 3000, 5000), c = part_of(all, 5000);
    CHECK(missing({a, b, c}).empty());
    CHECK(missing({c, a, b}).empty());
    CHECK(missing({a, c}) == std::vector{kWhere + "no part has segments 1 to 6 from 0.000003000 s "
                                                  "to 0.000005000 s"});
    // What was not asked for is not missing.
    CHECK(missing({b}).empty());
    CHECK(missing({a, b}).empty());
    CoverageMerge merge;
    merge.add(a, "a.states");
    merge.add(part_of(all, 2999), "b.states");
    auto report = merge.finish();
    REQUIRE(!report.ok());
    CHECK(report.error().message().find("a.states (part ") != std::string::npos);
    CHECK(report.error().message().find("0.000000..0.000003) and b.states (part ") !=
          std::string::npos);
}

TEST_CASE("files that were cut inside a segment fit together", "[aggstate]") {
    // Cut in segment 5, which ends at 5999; a cut leaves segments on both sides of it.
    StatePart a = part_of({run(1, 6, 0, 60)}, 0, 5500), b = part_of({run(3, 10, 20, 80)}, 5500);
    CHECK(missing(knowing({a, b}, 10, 100)).empty());
    StatePart late = part_of({run(3, 10, 20, 80)}, 5600);
    CHECK(missing(knowing({a, late}, 10, 100)) ==
          std::vector{kWhere + "no part has segments 3 to 6 from 0.000005500 s to 0.000005600 s"});
}

TEST_CASE("segments outside the window are not missing", "[aggstate]") {
    // 1..3 end at 3999, 6..7 begin at 6000.
    std::vector<CoveredRun> runs{run(1, 3, 0, 30), run(6, 7, 50, 5)};
    CHECK(missing({part_of(runs, 6000)}).empty());
    CHECK(missing({part_of(runs, 1000, 3500)}).empty());
    CHECK(missing({part_of(runs, 1000, 6500)}).size() == 1);
}

TEST_CASE("a segment of which records cannot be read is said", "[aggstate]") {
    CHECK(missing({part_of({run(1, 3, 0, 30), run(4, 4, 32, 5)})}) ==
          std::vector{kWhere + "2 records of segment 3 cannot be read"});
}

TEST_CASE("drops, faults and variables are said", "[aggstate]") {
    StatePart a = part_of({run(1, 3, 0, 30)}), b = part_of({run(4, 5, 30, 20)});
    a.cpus[0].drops[DBK_DROP_NESTED] = 2;
    b.cpus[0].drops[DBK_DROP_NESTED] = 3; // a later count of the same
    CHECK(missing({a, b}) ==
          std::vector<std::string>{"web-1, boot 88776655-4433-2211: 3 drops when it was recorded"});
    a = part_of({run(1, 3, 0, 30)});
    a.cpus[0].faults = 1;
    CHECK(missing({a}).empty());
    CHECK(report_of({a}).notes.size() == 1);
    a.drops = 4;
    CHECK(missing({a}).front() == "4 drops when the parts were replayed");
    a.drops = 0;
    b.cpus[0].drops = {};
    a.keeps_thread_state = b.keeps_thread_state = true;
    CHECK(missing({a}).empty());
    CHECK(missing({a, b}).front().find("self->") != std::string::npos);
    StatePart other = a;
    other.identity.boot_id++; // another machine's threads
    CHECK(missing({a, other}).empty());
    a.keeps_thread_state = b.keeps_thread_state = false;
    a.keeps_global_state = true;
    CHECK(missing({a, b}).back().find("keeps variables") != std::string::npos);
    a.keeps_global_state = other.keeps_global_state = other.keeps_thread_state = false;
    a.has_ticks = b.has_ticks = true;
    CHECK(missing({a, b}).empty());
    CHECK(missing({a, other}).back().find("tick-N fired in each boot") != std::string::npos);
}

TEST_CASE("a firing that lies in two parts is said", "[aggstate]") {
    StatePart a = part_of({run(1, 3, 0, 30), run(6, 6, 50, 5)}),
              b = part_of({run(4, 5, 30, 20), run(8, 8, 60, 1)});
    a.cpus[0].runs[0].begins_in_firing = true; // what was before it was overwritten
    a.cpus[0].first_kept = b.cpus[0].first_kept = 1;
    b.cpus[0].runs[1].begins_in_firing = true; // what is before it is said to be missing
    CHECK(missing({a, b}).size() == 1);
    CHECK(missing({b, a}).front().find("segment 7") != std::string::npos);
    b.cpus[0].runs[0].begins_in_firing = true;
    const std::string boot = "web-1, boot 88776655-4433-2211: ";
    CHECK(missing({a, b}).back() == boot +
                                        "1 firing goes on from one part to the next, and each took "
                                        "its records for a firing of its own");
    a.cpus[0].runs[1].begins_in_firing = true;
    CHECK(missing({b, a}).back().starts_with(boot + "2 firings go on"));
    CHECK(missing({b}).back().find("firing") == std::string::npos);
}

TEST_CASE("what speculations held may lie in any part", "[aggstate]") {
    StatePart a = part_of({run(1, 3, 0, 30)}), b = part_of({run(4, 5, 30, 20)}), c = a;
    b.holds_firings = true;
    CHECK(missing({a, b}).back().find("speculations held records") != std::string::npos);
    a.identity.until_ns = c.identity.since_ns = 10; // windows of the same segments
    a.holds_firings = true;
    CHECK(missing({a, c}).empty());
}

TEST_CASE("many holes are counted, not listed", "[aggstate]") {
    std::vector<CoveredRun> runs;
    for (uint64_t i = 1; i <= kHolesReported + 2; i++)
        runs.push_back(run(2 * i, 2 * i, 20 * i, 10));
    std::vector<std::string> holes = missing({part_of(runs)});
    REQUIRE(holes.size() == kHolesReported + 1);
    CHECK(holes.back() == "2 further holes");
}
