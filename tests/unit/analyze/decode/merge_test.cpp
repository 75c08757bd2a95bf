// SPDX-License-Identifier: Apache-2.0
//
// The order of records of several CPUs, with clocks that do what clocks do.
#include "analyze/decode/merge.hpp"
#include "tests/support/segment_builder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace daybreak;
using namespace daybreak::analyze;
using daybreak::test::RingBuilder;

namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kRate = 2 * kNsPerSecond;

/// A ring whose records hold the CLOCK_MONOTONIC of their making.
struct Written {
    RingBuilder ring;
    uint32_t epid;
    std::vector<dbk_meta_trigger> triggers;
    std::vector<std::pair<uint64_t, uint16_t>> truth; ///< time and CPU, in the order of writing

    explicit Written(const test::RingBuilderOptions& options) : ring(options) {
        epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)},
                            16);
    }
    void record(uint16_t cpu, uint64_t ticks) {
        uint64_t now = ring.mono_of(ticks);
        ring.record(cpu, epid, ticks, RingBuilder::words({now}));
        truth.emplace_back(now, cpu);
    }
    void trigger(uint64_t ticks) {
        dbk_meta_trigger entry = {};
        entry.kind = DBK_TRIGGER_SLEEP;
        entry.ticks = ticks;
        entry.mono_ns = ring.mono_of(ticks);
        triggers.push_back(entry);
    }
    formats::Recording build() {
        formats::RecordingBuilder builder;
        base::Bytes metadata = ring.metadata_memory();
        if (!triggers.empty())
            ring.machine_block(metadata, DBK_META_TRIGGERS,
                               RingBuilder::triggers_payload(64, triggers));
        builder.add_owned(metadata, {});
        for (uint16_t cpu = 0; cpu < ring.options().cpu_count; cpu++)
            builder.add_owned(ring.segment_memory(cpu), {});
        return builder.build();
    }
};

std::vector<std::pair<uint64_t, uint16_t>> merged(const formats::Recording& recording) {
    std::vector<std::pair<uint64_t, uint16_t>> result;
    RecordMerge merge(recording);
    MergedRecord record;
    while (merge.next(record))
        result.emplace_back(*record.record.integer(0), record.cpu);
    return result;
}

test::RingBuilderOptions tsc_ring() {
    test::RingBuilderOptions options;
    options.cpu_count = 2;
    options.segments_per_cpu = 64;
    options.clock = DBK_CLOCK_TSC;
    options.ticks_per_second = kRate;
    options.start_ticks = 100 * kNsPerSecond;
    options.start_mono_ns = options.start_boot_ns = 50 * kNsPerSecond;
    return options;
}

} // namespace

TEST_CASE("records of one instant come by ring, then by CPU", "[analyze][merge]") {
    formats::RecordingBuilder builder;
    for (uint16_t ring_id : {2, 1}) {
        RingBuilder ring({.ring_id = ring_id, .cpu_count = 3});
        uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                     {RingBuilder::integer_field(8, 8)}, 16);
        builder.add_owned(ring.metadata_memory(), {});
        for (uint16_t cpu : {2, 0, 1}) {
            for (uint64_t ticks : {1000, 1000, 2000})
                ring.record(cpu, epid, ticks, RingBuilder::words({ticks}));
            builder.add_owned(ring.segment_memory(cpu), {});
        }
    }
    formats::Recording recording = builder.build();
    RecordMerge merge(recording);
    MergedRecord record;
    std::vector<std::tuple<uint64_t, size_t, uint16_t>> got;
    while (merge.next(record))
        got.emplace_back(record.record.ticks, record.ring, record.cpu);
    CHECK(got.size() == 18);
    CHECK(std::is_sorted(got.begin(), got.end()));
    MergeOptions options;
    options.ring = 1;
    RecordMerge alone(recording, options);
    size_t records = 0;
    for (; alone.next(record); records++)
        CHECK(record.ring == 1);
    CHECK(records == 9);
}

TEST_CASE("rings whose clocks tick differently are merged by time", "[analyze][merge]") {
    test::RingBuilderOptions options = tsc_ring();
    options.ring_id = 2;
    Written tsc(options), mono({.cpu_count = 2});
    for (uint64_t i = 0; i < 200; i++) { // 5 us and 10 us apart
        tsc.record(i % 2, options.start_ticks + 10'000 * i);
        mono.record(i % 2, options.start_mono_ns + 10'000 * i);
    }
    formats::RecordingBuilder builder;
    for (Written* one : {&tsc, &mono}) {
        builder.add_owned(one->ring.metadata_memory(), {});
        for (uint16_t cpu : {0, 1})
            builder.add_owned(one->ring.segment_memory(cpu), {});
    }
    auto got = merged(builder.build());
    CHECK(got.size() == 400);
    CHECK(std::is_sorted(got.begin(), got.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; }));
}

TEST_CASE("a CPU whose clock goes back keeps its own order and holds up no other",
          "[analyze][merge]") {
    Written w({.cpu_count = 2});
    for (uint64_t ticks : {1000, 400, 700, 1100})
        w.record(0, ticks);
    for (uint64_t ticks : {500, 1000, 1050})
        w.record(1, ticks);
    using Order = std::vector<std::pair<uint64_t, uint16_t>>;
    CHECK(merged(w.build()) ==
          Order{{500, 1}, {1000, 0}, {400, 0}, {700, 0}, {1000, 1}, {1050, 1}, {1100, 0}});
}

TEST_CASE("CPUs stay merged by time when the TSC restarts, or runs on while the machine sleeps",
          "[analyze][merge][prop]") {
    uint64_t seed = GENERATE(range(1, 41));
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    bool has_triggers = random() % 2;
    Written w(tsc_ring());
    uint64_t ticks = 100 * kNsPerSecond;
    size_t sleeps = random() % 4;
    std::vector<uint64_t> woke;
    for (size_t sleep = 0; sleep <= sleeps; sleep++) {
        if (!has_triggers)
            for (uint16_t cpu : {0, 1})
                w.ring.open_segment(cpu, ticks += 100);
        for (uint64_t i = 1 + random() % 500; i > 0; i--) {
            ticks += 1000 + random() % (random() % 50 ? 200'000'000 : 20 * kNsPerSecond);
            w.record(static_cast<uint16_t>(random() % 2), ticks);
        }
        if (sleep == sleeps)
            break;
        ticks += 5000;
        if (has_triggers)
            w.trigger(ticks);
        uint64_t after = random() % 2 ? random() % kRate : ticks + (1 + random() % 5000) * kRate;
        w.ring.sleep(ticks, after);
        ticks = after + 5000;
        if (has_triggers)
            w.trigger(ticks);
        woke.push_back(w.ring.mono_of(ticks));
    }
    formats::Recording recording = w.build();
    CHECK(merged(recording) == w.truth);
    const formats::RingRecording& ring = recording.rings[0];
    REQUIRE(ring.clock.epochs().size() == sleeps + 1);
    for (size_t i = 0; i < sleeps; i++)
        CHECK(std::abs(static_cast<int64_t>(ring.clock.epochs()[i + 1].from_mono_ns - woke[i])) <
              1'000'000);
    RecordMerge merge(recording);
    MergedRecord record;
    while (merge.next(record)) {
        auto off = static_cast<int64_t>(ring.clock.mono_ns(record.record.ticks) -
                                        *record.record.integer(0));
        REQUIRE(std::abs(off) < 1'000'000);
    }
}

TEST_CASE("a merge goes on where the one before ended at its horizon", "[analyze][merge]") {
    Written w({.cpu_count = 2});
    for (uint64_t ticks : {1000, 1000, 2000, 4000})
        w.record(0, ticks);
    w.ring.open_segment(0, 5000);
    w.record(0, 5000);
    for (uint64_t ticks : {1500, 3000})
        w.record(1, ticks);
    formats::Recording recording = w.build();
    auto clock_ns = [&](uint64_t ticks) { return recording.rings[0].clock.mono_ns(ticks); };
    for (MergeOrder order : {MergeOrder::arrival, MergeOrder::made}) {
        MergeStarts starts;
        std::vector<uint64_t> got;
        std::vector<size_t> counts;
        for (std::optional<uint64_t> horizon :
             {std::optional(clock_ns(999)), std::optional(clock_ns(1000)),
              std::optional(clock_ns(3000)), std::optional(uint64_t{0}),
              std::optional(clock_ns(4999)), std::optional<uint64_t>(),
              std::optional<uint64_t>()}) {
            MergeOptions options;
            options.starts = starts;
            options.order = order;
            options.horizon_mono_ns = horizon;
            RecordMerge merge(recording, options);
            MergedRecord record;
            size_t before = got.size();
            while (merge.next(record))
                got.push_back(record.record.ticks);
            merge.put_ends(starts);
            counts.push_back(got.size() - before);
        }
        CHECK(got == std::vector<uint64_t>{1000, 1000, 1500, 2000, 3000, 4000, 5000});
        CHECK(counts == std::vector<size_t>{0, 2, 3, 0, 1, 1, 0});
    }
}

// ---- firings ------------------------------------------------------------------------------------

namespace {

constexpr uint32_t kSame = DBK_RECORD_F_SAME_FIRING;

/// The firings of a recording as they are read: of each the values of its records.
using Firings = std::vector<std::vector<uint64_t>>;

Firings firings(Written& written, MergeOrder order = MergeOrder::arrival) {
    formats::Recording recording = written.build();
    RecordMerge merge(recording, {.starts = {}, .order = order, .horizon_mono_ns = {}});
    Firings result;
    MergedRecord record, before;
    for (; merge.next(record); before = record) {
        if (result.empty() || !is_same_firing(before, record))
            result.emplace_back();
        result.back().push_back(*record.record.integer(0));
    }
    return result;
}

DividedFirings divided(Written& written, const YieldedEcbs* yielded = nullptr) {
    formats::Recording recording = written.build();
    MergeOptions options;
    options.order = MergeOrder::made;
    options.yielded = yielded;
    options.ring = 0;
    options.notes_divided = true;
    RecordMerge merge(recording, options);
    for (MergedRecord record; merge.next(record);)
        continue;
    return merge.divided();
}

/// A record whose value is its time, with what its EPID's word has besides.
void put(Written& written, uint16_t cpu, uint64_t ticks, uint32_t mark = 0) {
    written.ring.record(cpu, written.epid | mark, ticks, RingBuilder::words({ticks}));
}

} // namespace

TEST_CASE("the records of a firing stay together, whatever other CPUs recorded meanwhile",
          "[analyze][merge][firing]") {
    Written written({.cpu_count = 3});
    put(written, 0, 1000);
    put(written, 0, 1004, kSame);
    put(written, 0, 1009, kSame);
    put(written, 0, 1020);
    put(written, 1, 1002);
    put(written, 1, 1002);
    put(written, 1, 1008, kSame);
    put(written, 2, 1000, kSame); // there is nothing before it
    put(written, 2, 1030, kSame);
    CHECK(firings(written) ==
          Firings{{1000, 1004, 1009}, {1000, 1030}, {1002}, {1002, 1008}, {1020}});
}

TEST_CASE("in version 1 a firing has one probe and one time", "[analyze][merge][firing]") {
    Written written({.version = DBK_SEGMENT_VERSION_FIRST});
    uint32_t other = written.ring.add_ecb(written.ring.add_probe("p", "m", "f", "other"),
                                          {RingBuilder::integer_field(8, 8)}, 16);
    put(written, 0, 1000);
    put(written, 0, 1000);
    put(written, 0, 1001);
    written.ring.record(0, other, 1001, RingBuilder::words({7}));
    written.ring.record(0, other, 1001, RingBuilder::words({8}));
    CHECK(firings(written) == Firings{{1000, 1000}, {1001}, {7, 8}});
    put(written, 0, 1002, kSame); // an EPID of 32 bits, of which nothing is known
    CHECK(written.build().rings[0].cpus[0].segments[0].damaged);
}

TEST_CASE("a firing goes over from one segment to the next, but not over one that is missing",
          "[analyze][merge][firing]") {
    Written written({.segments_per_cpu = 8});
    for (uint64_t ticks = 1000; ticks < 1003; ticks++) {
        put(written, 0, ticks * 10);
        written.ring.open_segment(0, ticks * 10 + 1);
        put(written, 0, ticks * 10 + 2, kSame);
    }
    CHECK(firings(written) == Firings{{10000, 10002}, {10010, 10012}, {10020, 10022}});
    CHECK(divided(written).cut.empty());
    // The second and third segment have a record of each of two firings.
    std::memset(written.ring.segment_memory(0).data() + 4096, 0, 4);
    CHECK(firings(written) == Firings{{10000}, {10012}, {10020, 10022}});
    CHECK(divided(written).cut == std::vector{CutFiring{0, 3}});
}

namespace {

/// Two clauses of one probe, of which the second speculates, and a third one.
struct Speculated : Written {
    uint32_t held, last;

    explicit Speculated(uint16_t version = DBK_SEGMENT_VERSION)
        : Written({.version = version, .segments_per_cpu = 8}) {
        uint32_t probe = ring.add_probe("p", "m", "f", "n");
        std::vector<dbk_meta_field> fields = {RingBuilder::integer_field(8, 8)};
        epid = ring.add_ecb(probe, fields, 16);
        held = ring.add_ecb(probe, fields, 16, DBK_ECB_F_SPECULATES);
        last = ring.add_ecb(probe, fields, 16);
        ring.open_segment(0, 0);
    }
    void put(uint32_t word, uint64_t ticks) {
        ring.record(0, word, ticks, RingBuilder::words({ticks}));
    }
    void commit(uint64_t now, const std::vector<std::pair<uint32_t, uint64_t>>& records) {
        auto bytes = static_cast<uint32_t>(16 * records.size()); // no time base is needed
        dbk_control_commit control = {{0, DBK_CONTROL_COMMIT, sizeof(control)}, now, bytes, 1};
        base::Bytes raw;
        RingBuilder::append(raw, &control, sizeof(control));
        ring.raw(0, raw);
        for (auto [word, ticks] : records)
            put(word, ticks);
    }
};

constexpr uint32_t kElsewhere = DBK_RECORD_F_FIRING_ELSEWHERE;

} // namespace

TEST_CASE("a firing is whole in the order in which its records were made, however it was committed",
          "[analyze][merge][firing]") {
    Speculated written;
    written.put(written.epid, 1000); // 1000 1001 | 1010 1012 | 1020 1021 1022 | 1030 | 1041 1041
    written.put(written.epid, 1010);
    written.put(written.last | kSame, 1012);
    written.put(written.epid, 1020);
    written.commit(1021, {{written.held | kElsewhere, 1001}, {written.held | kElsewhere, 1021}});
    written.put(written.last | kSame, 1022);
    written.put(written.last, 1030);
    written.put(written.last, 1041);
    written.commit(1050, {{written.held, 1041}});
    CHECK(firings(written, MergeOrder::made) ==
          Firings{{1000, 1001}, {1010, 1012}, {1020, 1021, 1022}, {1030}, {1041, 1041}});
    CHECK(firings(written) ==
          Firings{{1000}, {1010, 1012}, {1020}, {1001}, {1021}, {1022}, {1030}, {1041}, {1041}});
    CHECK(divided(written).held);
    CHECK(divided(written).cut.empty());
    SECTION("what is elsewhere may be gone") {
        written.commit(1070, {{written.held, 1060}, {written.held | kElsewhere, 1064}});
        CHECK(firings(written, MergeOrder::made).size() == 7);
    }
    SECTION("not over a segment that is missing") {
        written.ring.open_segment(0, 0);
        written.put(written.last, 1081);
        written.ring.open_segment(0, 0);
        written.commit(1091, {{written.held, 1040}});
        written.put(written.last | kSame, 1092);
        std::memset(written.ring.segment_memory(0).data() + 4096, 0, 4);
        CHECK(firings(written, MergeOrder::made).back() == std::vector<uint64_t>{1092});
        CHECK(divided(written).cut == std::vector{CutFiring{0, 3}});
        YieldedEcbs none{{false, false, false, false}};
        CHECK(divided(written, &none).cut.empty());
        CHECK_FALSE(divided(written, &none).held);
    }
}

TEST_CASE("in version 2 a commit divides its firing, and joins clauses in their order",
          "[analyze][merge][firing]") {
    Speculated written(DBK_SEGMENT_VERSION_DIVIDED);
    written.put(written.epid, 1000);
    written.commit(1002, {{written.held, 1001}, {written.held, 990}});
    written.put(written.last, 1003);
    written.put(written.last | kSame, 1004);
    CHECK(firings(written, MergeOrder::made) == Firings{{990}, {1000, 1001, 1003, 1004}});
    CHECK(firings(written) == Firings{{1000}, {1001}, {990}, {1003, 1004}});
}

TEST_CASE("a firing has its most records, whatever a file says", "[analyze][merge][firing]") {
    Written written({.segments_per_cpu = 128});
    constexpr uint64_t kCount = 3 * DBK_FIRING_RECORDS_MAX + 5;
    for (uint64_t i = 0; i < kCount; i++)
        put(written, 0, 1000 + i, kSame);
    for (MergeOrder order : {MergeOrder::arrival, MergeOrder::made}) {
        std::vector<size_t> sizes;
        for (const auto& firing : firings(written, order))
            sizes.push_back(firing.size());
        CHECK(sizes == std::vector<size_t>{DBK_FIRING_RECORDS_MAX, DBK_FIRING_RECORDS_MAX,
                                           DBK_FIRING_RECORDS_MAX, 5});
    }
}

TEST_CASE("records of ECBs that are not yielded are not there", "[analyze][merge][probe]") {
    RingBuilder ring({.cpu_count = 1});
    auto field = RingBuilder::integer_field(8, 8);
    uint32_t probe = ring.add_probe("p", "m", "f", "n");
    uint32_t error = ring.add_probe("dtrace", "", "", "ERROR");
    uint32_t kept = ring.add_ecb(probe, {field}, 16), other = ring.add_ecb(error, {field}, 16);
    constexpr uint32_t kSame = DBK_RECORD_F_SAME_FIRING;
    // A fault in the middle of a firing, one that begins a firing, and one after the last record.
    const std::pair<uint32_t, uint64_t> records[] = {
        {kept, 10},         {other | kSame, 11}, {kept | kSame, 12}, {other, 20},
        {kept | kSame, 21}, {kept | kSame, 22},  {other, 30}};
    for (auto [word, ticks] : records)
        ring.record(0, word, ticks, RingBuilder::words({ticks}));
    formats::RecordingBuilder builder;
    builder.add_owned(ring.metadata_memory(), {});
    builder.add_owned(ring.segment_memory(0), {});
    formats::Recording recording = builder.build();
    YieldedEcbs yielded(1);
    for (const formats::EcbInfo& ecb : recording.rings[0].ecbs.all())
        yielded[0].push_back(ecb.epid == kept);
    MergeOptions options;
    options.yielded = &yielded;
    RecordMerge merge(recording, options);
    std::vector<std::tuple<uint64_t, bool, uint32_t>> got,
        expected = {{10, false, kept}, {12, true, kept}, {21, false, kept}, {22, true, 0}};
    MergedRecord record;
    while (merge.next(record))
        got.emplace_back(record.record.ticks, record.same_firing, record.next_epid);
    CHECK(got == expected);
}
