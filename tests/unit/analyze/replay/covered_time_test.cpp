// SPDX-License-Identifier: Apache-2.0
#include "analyze/replay/covered_time.hpp"
#include "analyze/replay/replayed_probes.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;
using test::RingBuilder;

namespace {

/// A recording with records from `from` to `to`, and where it lies in the common time.
struct Recorded {
    formats::Recording recording;

    Recorded(uint64_t from, uint64_t to) {
        RingBuilder ring({.start_ticks = from, .start_mono_ns = from});
        uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                     {RingBuilder::integer_field(8, 8)}, 16);
        for (uint64_t at : {from, to})
            ring.record(0, epid, at, RingBuilder::words({at}));
        formats::RecordingBuilder builder;
        builder.add_owned(ring.metadata_memory(), {.origin = "metadata"});
        base::ByteView segments = ring.segment_memory(0);
        builder.add_owned({segments.begin(), segments.end()}, {.origin = "ring"});
        recording = builder.build();
    }
    ReplayedRecording at(uint64_t shift_ns) const {
        ReplayedRecording one;
        one.recording = &recording;
        one.shift_ns = shift_ns;
        return one;
    }
};

/// A timer that is due then.
sim::SimProbe timer(uint64_t due_ns, uint64_t interval_ns) {
    sim::SimProbe probe;
    probe.timer.emplace();
    probe.timer->interval_ns = interval_ns;
    probe.due_mono_ns = due_ns;
    return probe;
}

} // namespace

TEST_CASE("timers pass over the time between recordings", "[analyze][replay]") {
    Recorded one(1000, 2000);
    std::vector<ReplayedRecording> all = {one.at(0), one.at(10'000), one.at(500)};
    CoveredTime covered(all); // 1000 to 2500, 11000 to 12000
    CHECK(covered.begin_ns() == 1000);
    sim::SimProbe fast = timer(2510, 10), slow = timer(11'500, 9000), off = timer(0, 10);
    std::vector<sim::SimProbe*> timers = {&fast, &slow, &off};
    CHECK_FALSE(covered.skip(1500, timers));
    CHECK_FALSE(covered.skip(2500, timers));
    CHECK_FALSE(covered.skip(11'000, timers));
    CHECK_FALSE(covered.skip(12'001, timers)); // after the last there is nothing to go to
    CHECK(fast.due_mono_ns == 2510);
    CHECK(covered.skip(2510, timers));
    CHECK(fast.due_mono_ns == 11'000);
    CHECK(slow.due_mono_ns == 11'500);
    CHECK(off.due_mono_ns == 0);
    fast = timer(2505, 10);
    CHECK(covered.skip(2505, timers));
    CHECK(fast.due_mono_ns == 11'005);
}

TEST_CASE("a timer that cannot be due again ends", "[analyze][replay]") {
    Recorded one(1000, 2000);
    std::vector<ReplayedRecording> all = {one.at(0), one.at(UINT64_MAX - 1500)};
    CoveredTime covered(all);
    sim::SimProbe slow = timer(3000, UINT64_MAX / 3 * 2);
    std::vector<sim::SimProbe*> timers = {&slow};
    CHECK(covered.skip(3000, timers));
    CHECK(slow.due_mono_ns == 0);
}

TEST_CASE("no recording covers no time", "[analyze][replay]") {
    CoveredTime covered(std::span<const ReplayedRecording>{});
    CHECK(covered.begin_ns() == 0);
    CHECK_FALSE(covered.skip(5, {}));
}
