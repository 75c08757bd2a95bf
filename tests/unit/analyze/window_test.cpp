// SPDX-License-Identifier: Apache-2.0
//
// Windows: where a moment lies, what is in a window, what is missing of it.
#include "analyze/completeness.hpp"
#include "analyze/decode/moment.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/info.hpp"
#include "analyze/list.hpp"
#include "tests/unit/analyze/program_builder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>

using namespace daybreak;
using namespace daybreak::analyze;
using namespace daybreak::test;

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kEvening = 1'770'075'000; // 2026-02-02 23:30:00 UTC

/// Two probes in turn, a record each 10 ms from 1 s on, on CPU 0; a segment has `per_segment`.
formats::Recording ten_ms_apart(unsigned records, unsigned per_segment) {
    ProgramBuilder program;
    size_t even = program.clause("profile", "", "", "tick-1");
    program.trace(even, Member::integer(8));
    size_t odd = program.clause("profile", "", "", "tick-2");
    program.trace(odd, Member::integer(8));
    RecordingOf recording(program, {.start_ticks = 0,
                                    .start_mono_ns = 0,
                                    .start_boot_ns = 5 * uint64_t{kSecond},
                                    .start_wall_ns = uint64_t{kEvening} * kSecond});
    for (unsigned i = 0; i < records; i++) {
        uint64_t at = kSecond + i * 10 * kMs;
        if (i != 0 && i % per_segment == 0)
            recording.ring().open_segment(0, at - kMs);
        recording.fire(0, at, i % 2 ? odd : even, {uint64_t{i}});
        if (i == 25)
            recording.ring().drop(0, DBK_DROP_NESTED, 3);
    }
    return recording.build();
}

uint64_t at(const formats::Recording& recording, Moment::Anchor anchor, int64_t offset_ns,
            const std::string& trigger = "") {
    auto found = mono_ns_of({anchor, offset_ns, trigger, trigger}, recording, {});
    INFO((found.ok() ? "" : found.error().message()));
    REQUIRE(found.ok());
    return *found;
}

} // namespace

TEST_CASE("a moment lies where its anchor says", "[analyze][window]") {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    formats::Recording recording = ten_ms_apart(20, 10);
    using Anchor = Moment::Anchor;
    CHECK(at(recording, Anchor::boot, 6 * kSecond) == kSecond);
    CHECK(at(recording, Anchor::boot, 1) == 0); // before the monotonic clock
    CHECK(at(recording, Anchor::start, 5) == kSecond + 5);
    CHECK(at(recording, Anchor::start, INT64_MIN) == 0);
    CHECK(at(recording, Anchor::end, -int64_t{kMs}) == kSecond + 189 * kMs);
    CHECK(at(recording, Anchor::wall, (kEvening + 2) * kSecond) == 2 * kSecond);
    CHECK(at(recording, Anchor::day, (23 * 3600 + 30 * 60 + 3) * kSecond) == 3 * kSecond);
    // Just before the first record, not a day after it.
    CHECK(at(recording, Anchor::day, (23 * 3600 + 30 * 60) * kSecond) == 0);
    // 00:10 is of the next day.
    CHECK(at(recording, Anchor::day, 10 * 60 * kSecond) == 40 * 60 * kSecond);
    auto error = mono_ns_of({Anchor::panic, 0, ""}, recording, {});
    REQUIRE_FALSE(error.ok());
    CHECK(error.error().message() ==
          "the recording knows of no panic, oops or orderly end of the machine");
    CHECK(mono_ns_of({Anchor::trigger, 0, ""}, recording, {}).error().message() ==
          "the recording has no trigger");

    formats::CrashInfo panic;
    panic.state = DBK_CRASH_PANIC;
    panic.mono_ns = 7 * kSecond;
    recording.machine.ends = {panic};
    for (auto [name, mono_ns] : {std::pair("slow", 2), std::pair("slow", 3), std::pair("oom", 4)}) {
        formats::TriggerInfo trigger;
        trigger.name = name;
        trigger.mono_ns = static_cast<uint64_t>(mono_ns * kSecond);
        recording.machine.triggers.push_back(trigger);
    }
    CHECK(at(recording, Anchor::panic, -5 * kSecond) == 2 * kSecond);
    CHECK(at(recording, Anchor::trigger, 1) == 4 * kSecond + 1);
    CHECK(at(recording, Anchor::trigger, 0, "slow") == 3 * kSecond);
    CHECK(mono_ns_of({Anchor::trigger, 0, "fast"}, recording, {}).error().message() ==
          "the recording has no trigger fast: there are oom, slow");

    formats::Recording empty;
    CHECK(mono_ns_of({Anchor::start, 0, ""}, empty, {}).error().message() ==
          "the recording holds no record");
    CHECK(mono_ns_of({Anchor::wall, 0, ""}, empty, {}).error().message() ==
          "the recording does not know the date");
}

TEST_CASE("a probe's first record is that of all rings and CPUs", "[analyze][window][probe]") {
    formats::Recording recording = ten_ms_apart(40, 10);
    REQUIRE(recording.rings.size() == 1);
    // Another CPU, and another ring, whose records are earlier.
    formats::Recording other = ten_ms_apart(4, 10);
    auto probes_named = [&](const char* name) {
        WantedProbes probes(name);
        for (const formats::RingRecording& ring : recording.rings)
            for (const auto& [id, probe] : ring.probes)
                if (probe.name == name)
                    probes.add(ring.ring_id, id);
        return probes;
    };
    CHECK(first_record_ns(recording, probes_named("tick-1")) == uint64_t{kSecond});
    CHECK(first_record_ns(recording, probes_named("tick-2")) == kSecond + 10 * kMs);
    CHECK_FALSE(first_record_ns(recording, WantedProbes("none")));
    // Segments in another order than time: the earlier record is found in the later one.
    formats::RingRecording& ring = recording.rings[0];
    formats::CpuInfo late = ring.cpus[0];
    late.cpu = 1;
    std::swap(ring.cpus[0], late);
    ring.cpus[0].cpu = 0;
    ring.cpus.push_back(late);
    ring.cpus[0].segments = {};
    CHECK(first_record_ns(recording, probes_named("tick-2")) == kSecond + 10 * kMs);
    other.rings[0].ring_id = 9;
    recording.rings.insert(recording.rings.begin(), other.rings[0]);
    recording.rings[0].cpus[0].segments = {};
    CHECK(first_record_ns(recording, probes_named("tick-1")) == uint64_t{kSecond});
}

TEST_CASE("what lies in a window is counted, both ends in it", "[analyze][window]") {
    formats::Recording recording = ten_ms_apart(30, 10);
    const formats::RingRecording& ring = recording.rings[0];
    auto count = [&](uint64_t from_ms, uint64_t to_ms) {
        return records_in({kSecond + from_ms * kMs, kSecond + to_ms * kMs}, ring, ring.cpus[0]);
    };
    CHECK(count(0, 290).records == 30);
    CHECK(count(100, 200).records == 11);
    CHECK(count(101, 199).records == 9);
    CHECK(count(101, 199).span.first_mono_ns == kSecond + 110 * kMs);
    CHECK(count(101, 199).span.last_mono_ns == kSecond + 190 * kMs);
    CHECK(count(101, 109).records == 0);
    CHECK(count(110, 110).probes.size() == 1);
    CHECK(count(110, 120).probes.size() == 2);
    StringSink all, one;
    print_probe_list(recording, false, all);
    print_probe_list(recording, false, one, {kSecond + 110 * kMs, kSecond + 110 * kMs});
    CHECK(all.text.find("tick-1\n") != std::string::npos);
    CHECK(one.text.find("tick-1\n") == std::string::npos);
    CHECK(one.text.find("tick-2\n") != std::string::npos);
}

TEST_CASE("of a window only what is missing in it counts", "[analyze][window]") {
    // Four segments are kept of six; the drops lie in the third.
    formats::Recording recording = ten_ms_apart(60, 10);
    auto verdict = [&](uint64_t from_ms, uint64_t to_ms) {
        return completeness_of(recording, {kSecond + from_ms * kMs, kSecond + to_ms * kMs});
    };
    const std::string whole = "complete: every record of the window is here";
    CHECK(completeness_of(recording).verdict().starts_with("not complete: CPU 0: 20 oldest"));
    CHECK(verdict(300, 400).verdict() == whole);
    CHECK(verdict(300, 400).advised_status() == kStatusComplete);
    CHECK(verdict(100, 150).verdict() == "not complete: CPU 0: 20 records overwritten");
    CHECK(verdict(100, 150).advised_status() == kStatusComplete);
    CHECK(verdict(250, 260).verdict() ==
          "not complete: CPU 0: 3 probes fired inside another probe");
    CHECK(verdict(250, 260).advised_status() == kStatusLosses);

    auto& segments = recording.rings[0].cpus[0].segments;
    REQUIRE(segments.size() == 4);
    formats::SegmentList others; // the third was lost on the way, of which its neighbours know
    for (size_t i : {0, 1, 3})
        others.push_back(segments[i]);
    segments = others;
    recording.rings[0].cpus[0].gaps.push_back({5, 5, 10, true, false, false});
    CHECK(verdict(300, 380).verdict() == whole);
    CHECK(verdict(410, 420).verdict() == "not complete: CPU 0: 10 records lost");
    CHECK(verdict(410, 420).advised_status() == kStatusLosses);
    CHECK(verdict(510, 520).verdict() == whole);

    StringSink sink;
    print_info(recording, sink,
               {.log_lines = {}, .window = {kSecond + 400 * kMs, std::nullopt}, .probes = {}});
    INFO(sink.text);
    CHECK(sink.text.find("asked      0.190000 s, from 6.400000 s to 6.590000 s after boot\n") !=
          std::string::npos);
    CHECK(sink.text.find("  CPU HERE OVERWRITTEN LOST DROPS  FROM    TO\n"
                         "    0   10           0   10     0 6.500 6.590\n") != std::string::npos);
}

TEST_CASE("of some probes only their records count", "[analyze][window][probe]") {
    formats::Recording recording = ten_ms_apart(30, 10);
    const formats::RingRecording& ring = recording.rings[0];
    WantedProbes wanted("tick-2"), none("none");
    for (const auto& [id, probe] : ring.probes)
        if (probe.name == "tick-2")
            wanted.add(ring.ring_id, id);
    CHECK(records_in({}, ring, ring.cpus[0], wanted).records == 15);
    CHECK(records_in({kSecond, kSecond + 40 * kMs}, ring, ring.cpus[0], wanted).records == 2);
    CHECK(records_in({}, ring, ring.cpus[0], none).records == 0);
    StringSink list, info;
    print_probe_list(recording, false, list, {}, wanted);
    CHECK(list.text.find("tick-1\n") == std::string::npos);
    CHECK(list.text.find("tick-2\n") != std::string::npos);
    print_info(recording, info, {.log_lines = {}, .window = {}, .probes = wanted});
    INFO(info.text);
    CHECK(info.text.find("asked      records of tick-2; what is missing is known per CPU, of all "
                         "probes\n") != std::string::npos);
    CHECK(info.text.find("  probes   2, with 2 ECBs; asked: 1\n") != std::string::npos);
    // All three drops, whose probe is not known.
    CHECK(info.text.find("  CPU HERE OVERWRITTEN LOST DROPS  FROM    TO\n"
                         "    0   15           0    0     3 6.010 6.290\n") != std::string::npos);
}
