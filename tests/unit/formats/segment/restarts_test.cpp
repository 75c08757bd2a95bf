// SPDX-License-Identifier: Apache-2.0
//
// A TSC that restarts: times and order against a clock that the test keeps.
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::RingBuilder;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 100 * kSecond; // CLOCK_MONOTONIC when the ring was made

/// A ring whose records hold the time that they were made at.
struct Machine {
    RingBuilder ring;
    uint64_t rate, now_ns = kStart, fallen_ticks = 0;
    uint32_t epid;
    std::set<uint16_t> awake; ///< have recorded since the last sleep

    explicit Machine(uint16_t cpus, uint64_t ticks_per_second)
        : ring({.cpu_count = cpus,
                .segments_per_cpu = 32,
                .clock = DBK_CLOCK_TSC,
                .ticks_per_second = ticks_per_second,
                .start_ticks = ticks_at(kStart, ticks_per_second),
                .start_mono_ns = kStart}),
          rate(ticks_per_second) {
        epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)},
                            16);
    }
    static uint64_t ticks_at(uint64_t ns, uint64_t rate) {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(ns) * rate / kSecond);
    }
    uint64_t ticks() const { return ticks_at(now_ns, rate) - fallen_ticks; }
    /// The first record of a CPU after a sleep begins a segment, as in the kernel.
    void record(uint16_t cpu) {
        if (awake.insert(cpu).second)
            ring.open_segment(cpu, ticks());
        ring.record(cpu, epid, ticks(), RingBuilder::words({now_ns}));
    }
    /// The TSC is at a hundredth of a second when CLOCK_MONOTONIC goes on.
    void sleep() {
        uint64_t fall = ticks() - rate / 100;
        fallen_ticks += fall;
        ring.sleep(ticks() + fall, ticks());
        awake.clear();
    }
    Recording build(uint16_t cpus) {
        RecordingBuilder builder;
        builder.add_owned(ring.metadata_memory(), {"metadata"});
        for (uint16_t cpu = 0; cpu < cpus; cpu++)
            builder.add_owned(ring.segment_memory(cpu), {"ring"});
        return builder.build();
    }
};

/// Of all records: (ticks, the time that the clock model makes of them, the time they hold).
struct Read {
    uint64_t ticks, mono_ns, true_ns;
};
std::vector<Read> read_all(const Recording& recording) {
    std::vector<Read> result;
    const RingRecording& ring = recording.rings.at(0);
    for (const CpuInfo& cpu : ring.cpus)
        for (const SegmentInfo& segment : cpu.segments) {
            RecordCursor cursor = records_of(segment, ring);
            RecordView record;
            while (cursor.next(record))
                result.push_back({record.ticks, ring.clock.mono_ns(record.ticks),
                                  record.integer(0).value()});
        }
    std::sort(result.begin(), result.end(),
              [](const Read& a, const Read& b) { return a.true_ns < b.true_ns; });
    return result;
}

void check_times(const Recording& recording, size_t count) {
    std::vector<Read> all = read_all(recording);
    CHECK(all.size() == count);
    uint64_t wrong_order = 0, wrong_time = 0;
    for (size_t i = 0; i < all.size(); i++) {
        wrong_order += i > 0 && all[i - 1].true_ns < all[i].true_ns && all[i - 1].ticks >= all[i].ticks;
        uint64_t off = all[i].mono_ns - all[i].true_ns;
        wrong_time += std::min(off, -off) > 1000;
    }
    CHECK(wrong_order == 0);
    CHECK(wrong_time == 0);
}

} // namespace

TEST_CASE("after a sleep two CPUs are in the order of time", "[segment][restarts]") {
    Machine machine(2, 2 * kSecond);
    for (int i = 0; i < 20; i++) {
        if (i == 10)
            machine.sleep();
        machine.record(static_cast<uint16_t>(i % 2));
        machine.now_ns += kSecond / 2;
    }
    Recording recording = machine.build(2);
    check_times(recording, 20);
}

TEST_CASE("a CPU that was idle since before the sleep does not hide it", "[segment][restarts]") {
    Machine machine(2, 2 * kSecond);
    machine.record(0);
    machine.now_ns += 40 * kSecond;
    machine.record(1);
    machine.sleep();
    machine.now_ns += 120 * kSecond; // its ticks are above its own last ones, below the other's
    machine.record(0);
    check_times(machine.build(2), 3);
}

TEST_CASE("what is left after rotation is compared with the ring's start", "[segment][restarts]") {
    Machine machine(1, 3 * kSecond);
    machine.sleep();
    machine.now_ns += kSecond;
    machine.record(0);
    machine.now_ns += kSecond;
    machine.record(0);
    check_times(machine.build(1), 2);
}

TEST_CASE("without a restart ticks are as they were read", "[segment][restarts]") {
    Machine machine(2, 2 * kSecond);
    for (int i = 0; i < 20; i++) {
        machine.record(static_cast<uint16_t>(i % 2));
        machine.now_ns += 20 * kSecond;
    }
    Recording recording = machine.build(2);
    check_times(recording, 20);
}

TEST_CASE("a TSC that went on through a sleep gives right times after it", "[segment][restarts]") {
    Machine machine(1, 2 * kSecond);
    size_t count = 0;
    for (int i = 0; i < 248 * 8; i++, count++) { // eight segments
        if (i == 248 * 4) {
            uint64_t before = machine.ticks();
            machine.fallen_ticks -= 3600 * machine.rate; // it counted an hour
            machine.ring.sleep(before, machine.ticks());
            machine.awake.clear();
        }
        machine.record(0);
        machine.now_ns += kSecond / 100;
    }
    check_times(machine.build(1), count);
}

TEST_CASE("many sleeps of many CPUs", "[segment][restarts]") {
    for (uint32_t seed = 1; seed <= 200; seed++) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        uint16_t cpus = static_cast<uint16_t>(1 + random() % 4);
        Machine machine(cpus, kSecond + random() % (3 * kSecond));
        uint64_t sleeps = random() % 4;
        size_t count = 0;
        for (uint64_t epoch = 0; epoch <= sleeps; epoch++) {
            if (epoch > 0)
                machine.sleep();
            // Every CPU begins each time with a record, and some stay with it.
            for (uint64_t i = 0, n = cpus + random() % 40; i < n; i++, count++) {
                machine.record(static_cast<uint16_t>(i < cpus ? i : random() % cpus));
                machine.now_ns += 2000 + random() % (2 * kSecond);
            }
            machine.now_ns += 5 * kSecond;
        }
        Recording recording = machine.build(cpus);
        check_times(recording, count);
    }
}
