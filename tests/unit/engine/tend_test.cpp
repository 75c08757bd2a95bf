// SPDX-License-Identifier: Apache-2.0
//
// What the control path does to a ring beside its writers: seals, closes, lets it grow.
#include "base/crc32c.hpp"
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <cstring>

using namespace daybreak::engine_test;
using daybreak::base::ByteView;

namespace {

constexpr uint64_t kPerSegment = (4096 - DBK_SEGMENT_DATA_OFFSET) / 16;

/// trace(arg0) on test:::go with small segments.
Dof small(uint64_t bufsize = 16384) {
    Dof dof;
    dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, int_type(8)})});
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DTRACEOPT_BUFSIZE, bufsize);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    return dof;
}

bool is_sealed(const dbk_segment_header* header) {
    return (header->flags & DBK_SEGMENT_F_SEALED) != 0;
}

bool seal_holds(const dbk_segment_header* header) {
    dbk_segment_header copy = *header;
    copy.crc32c = 0;
    uint32_t crc =
        daybreak::base::crc32c(ByteView(reinterpret_cast<const std::byte*>(&copy), sizeof(copy)));
    ByteView rest(reinterpret_cast<const std::byte*>(header + 1),
                  header->committed_bytes - sizeof(copy));
    return daybreak::base::crc32c(rest, crc) == header->crc32c;
}

/// Which of the segments that are there are sealed, all of these with the right checksum.
std::vector<uint64_t> sealed(const dbk_consumer* consumer) {
    std::vector<uint64_t> found;
    for (const auto& [sequence, header] : segments(consumer, 0)) {
        if (!is_sealed(header))
            continue;
        CHECK(seal_holds(header));
        found.push_back(sequence);
    }
    return found;
}

using Numbers = std::vector<uint64_t>;

/// A ring that grows from two segments, and is tended every 100 ms.
struct Growing {
    Engine engine;
    dbk_probe& go = engine.probe("test", "m", "f", "go");
    dbk_consumer* consumer;
    const dbk_meta_cpu* facts;
    uint64_t value = 0;

    Growing(uint64_t ringtime_ns, uint64_t segments_max) {
        Dof dof = small(8192);
        dof.option(DBK_OPT_RINGTIME, ringtime_ns);
        dof.option(DBK_OPT_RINGMAX, segments_max * 4096);
        consumer = engine.start(dof.build());
        facts = dbk_consumer_counters(consumer, 0);
    }
    /// Fills so many segments, then tends.
    void pass(uint64_t segments) {
        for (uint64_t i = 0; i < segments * kPerSegment; i++)
            engine.fire(go, {value++});
        host.mono_ns += 100'000'000;
        dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    }
};

} // namespace

TEST_CASE("segments are sealed once they were closed for a while", "[engine][seal]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(small().build());
    auto fill = [&](uint64_t count) {
        for (uint64_t i = 0; i < kPerSegment * count; i++)
            engine.fire(go, {i});
    };
    fill(2);
    engine.fire(go, {1});
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE); // notes that 3 is open
    CHECK(sealed(consumer).empty());
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    CHECK(sealed(consumer) == Numbers{1, 2});
    fill(1);
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    CHECK(sealed(consumer) == Numbers{1, 2, 3});
    fill(9); // the ring wraps, twice over what was sealed
    CHECK(sealed(consumer).empty());
    CHECK(dbk_consumer_seal(consumer, 0, DBK_SEAL_CLOSED) == 3);
    CHECK(sealed(consumer) == Numbers{10, 11, 12});
    CHECK(dbk_consumer_seal(consumer, 0, DBK_SEAL_CLOSED) == 0);
    CHECK(dbk_consumer_seal(consumer, 1, DBK_SEAL_CLOSED) == 0);
    CHECK(dbk_consumer_seal(consumer, 99, DBK_SEAL_CLOSED) == 0);
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    fill(1);
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE); // notes that 14 is open
    fill(9);                     // 13, which is to be sealed, is overwritten
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    CHECK(sealed(consumer) == Numbers{20, 21, 22});
}

TEST_CASE("a stopped ring is sealed whole", "[engine][seal]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(small().build());
    for (uint64_t i = 0; i < kPerSegment * 2 + 5; i++)
        engine.fire(go, {i});
    CHECK(dbk_consumer_stop(consumer) == 0);
    CHECK(sealed(consumer) == Numbers{1, 2, 3});
    CHECK(records(consumer).size() == kPerSegment * 2 + 5);
}

TEST_CASE("an open segment is closed and sealed, and recording goes on in another",
          "[engine][seal]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(small().build());
    for (uint64_t i = 0; i < 7; i++)
        engine.fire(go, {i});
    CHECK(dbk_consumer_seal(consumer, 0, DBK_SEAL_OPEN) == 1);
    CHECK(sealed(consumer) == Numbers{1});
    // A drop does not touch what is sealed.
    dbk_probe_missed(&go, 3);
    CHECK(drops(consumer, DBK_DROP_MISSED) == 3);
    CHECK(dbk_consumer_counters(consumer, 0)->missed_probe_id == go.id);
    CHECK(sealed(consumer) == Numbers{1});
    for (uint64_t i = 7; i < 9; i++)
        engine.fire(go, {i});
    CHECK(segments(consumer, 0).size() == 2);
    CHECK(sealed(consumer) == Numbers{1});
    auto all = records(consumer);
    REQUIRE(all.size() == 9);
    for (uint64_t i = 0; i < 9; i++)
        CHECK(all[i].u64(8) == i);
    CHECK(dbk_consumer_counters(consumer, 0)->records == 9);
}

TEST_CASE("inside a firing the open segment is only closed, unless no CPU goes on",
          "[engine][seal]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof = small();
    host.kernel_memory[0x7000] = "0123456789abcdef";
    dof.ecb("test:::go", {dof.trace({{setx(0, 1), ret(1)}, bytes_type(12), {0x7000}})});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {1});
    uint32_t open = 9, dead = 9;
    host.in_load = [&] {
        host.in_load = nullptr;
        open = dbk_consumer_seal(consumer, 0, DBK_SEAL_OPEN);
    };
    engine.fire(go, {2});
    CHECK(open == 0);
    CHECK(sealed(consumer).empty());
    engine.fire(go, {3});
    auto all = records(consumer);
    REQUIRE(all.size() == 6);
    CHECK(all[4].u64(8) == 3);
    CHECK(segments(consumer, 0).size() == 2);
    CHECK(dbk_consumer_seal(consumer, 0, DBK_SEAL_CLOSED) == 1);
    host.in_load = [&] {
        host.in_load = nullptr;
        dead = dbk_consumer_seal(consumer, 0, DBK_SEAL_DEAD);
    };
    engine.fire(go, {4});
    CHECK(dead == 1);
}

TEST_CASE("policies that do not overwrite keep their room", "[engine][seal]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof = small();
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL);
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {1});
    CHECK(dbk_consumer_seal(consumer, 0, DBK_SEAL_OPEN) == 0);
    engine.fire(go, {2});
    CHECK(segments(consumer, 0).size() == 1);
    CHECK(dbk_consumer_seal(consumer, 0, DBK_SEAL_DEAD) == 1);
    CHECK(sealed(consumer) == Numbers{1});
}

TEST_CASE("a ring with ringtime grows while its segments are younger", "[engine][grow]") {
    Growing ring(1'000'000'000, 64);
    auto* consumer = ring.consumer;
    const dbk_meta_cpu* facts = ring.facts;
    CHECK(dbk_consumer_grows(consumer));
    CHECK(dbk_consumer_ring(consumer)->ringtime_ns == 1'000'000'000);
    CHECK(dbk_consumer_ring(consumer)->ringmax_bytes == 64 * 4096);
    CHECK(facts->segment_slots == 2);
    ring.pass(1);
    for (int i = 0; i < 30; i++)
        ring.pass(1);
    // 10 or 11 segments reach into a second, the open one, and room for what may come.
    CHECK(facts->segment_slots >= 11);
    CHECK(facts->segment_slots <= 16);
    CHECK(segments(consumer, 0).size() >= 11);
    uint64_t kept = segments(consumer, 0).begin()->second->base_mono_ns;
    CHECK(host.mono_ns - kept > 1'000'000'000);
    CHECK(facts->growths_refused == 0);
    CHECK(dbk_consumer_counters(consumer, 1)->segment_slots == 2);
    uint64_t regions = 0;
    dbk_region region;
    while (dbk_consumer_region(consumer, static_cast<uint32_t>(regions), &region))
        regions++;
    SECTION("up to ringmax") {
        for (int i = 0; i < 30; i++)
            ring.pass(20);
        CHECK(facts->segment_slots == 64);
        CHECK(segments(consumer, 0).size() == 64);
        CHECK(facts->growths_refused == 0);
        CHECK(dbk_consumer_region(consumer, static_cast<uint32_t>(regions), &region));
        auto all = records(consumer);
        for (size_t i = 1; i < all.size(); i++)
            REQUIRE(all[i].u64(8) == all[i - 1].u64(8) + 1);
        CHECK(all.back().u64(8) == ring.value - 1);
        CHECK(facts->oldest_sequence == segments(consumer, 0).begin()->first);
    }
    SECTION("unless there is no memory, which is counted, and tried again") {
        host.allocations_left = 0;
        for (int i = 0; i < 9; i++)
            ring.pass(4);
        CHECK(facts->growths_refused == 1);
        for (int i = 0; i < 9; i++)
            ring.pass(4);
        CHECK(facts->growths_refused == 2);
        uint64_t slots = facts->segment_slots;
        host.allocations_left = -1;
        for (int i = 0; i < 12; i++)
            ring.pass(4);
        CHECK(facts->segment_slots > slots);
    }
}

TEST_CASE("a ring that grows forgets a burst after a while", "[engine][grow]") {
    Growing ring(3'000'000'000, 256);
    ring.pass(10); // room for 20 more at once
    CHECK(ring.facts->segment_slots >= 20);
    CHECK(ring.facts->segment_slots <= 32);
    for (int i = 0; i < 100; i++)
        ring.pass(0);
    // 30 segments reach into three seconds; with the burst in mind 20 more would be wanted.
    for (int i = 0; i < 40; i++)
        ring.pass(1);
    CHECK(ring.facts->segment_slots >= 31);
    CHECK(ring.facts->segment_slots <= 40);
}

TEST_CASE("ringtime and what goes with it", "[engine][grow]") {
    Engine engine;
    auto refusal = [&](std::initializer_list<std::pair<uint32_t, uint64_t>> options) {
        Dof dof;
        dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, int_type(8)})});
        for (auto [option, value] : options)
            dof.option(option, value);
        Loaded loaded = load(dof.build());
        REQUIRE(loaded.program != nullptr);
        dbk_consumer_config config{"test", 9, false, true, 0};
        dbk_reason reason{};
        dbk_consumer* consumer = nullptr;
        if (dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) == 0) {
            std::string made = "ring " + std::to_string(dbk_consumer_ring(consumer)->policy) + " " +
                               std::to_string(dbk_consumer_ring(consumer)->ringmax_bytes >> 10);
            dbk_consumer_destroy(consumer);
            return made;
        }
        dbk_program_destroy(loaded.program);
        return std::string(reason.text);
    };
    constexpr uint64_t kSecond = 1'000'000'000;
    // The policy is ring then, also where it would be switch; an eighth of 256 MiB for each of 2.
    CHECK(refusal({{DBK_OPT_RINGTIME, kSecond}}) == "ring 0 65536");
    CHECK(refusal({{DBK_OPT_RINGTIME, kSecond}, {DBK_OPT_RINGMAX, 1 << 20}}) == "ring 0 1024");
    CHECK(refusal({{DBK_OPT_RINGTIME, kSecond}, {DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL}}) ==
          "option ringtime needs bufpolicy=ring, it is bufpolicy=fill");
    CHECK(refusal({{DBK_OPT_RINGTIME, kSecond}, {DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH}}) ==
          "option ringtime needs bufpolicy=ring, it is bufpolicy=switch");
    CHECK(refusal({{DBK_OPT_RINGMAX, 1 << 20}}) ==
          "option ringmax is set, and option ringtime is not");
    CHECK(refusal({{DBK_OPT_RINGTIME, kSecond},
                   {DBK_OPT_RINGMAX, 1 << 20},
                   {DTRACEOPT_BUFSIZE, 2 << 20}}) ==
          "option bufsize is 2097152, and ringmax is 1048576");
    CHECK(refusal({{DBK_OPT_RINGTIME, 999'999}}) ==
          "option ringtime is 999999, it must be 1000000 to 31622400000000000");
    CHECK(refusal({{DBK_OPT_RINGTIME, kSecond}, {DBK_OPT_RINGMAX, 1}}) ==
          "option ringmax is 1, it must be 32768 to 68719476736");
    CHECK(refusal({{DBK_OPT_USTACKBYTES, 8193}}) ==
          "option ustackbytes is 8193, segmentsize must be twice that at least, it is 16384");
    CHECK(refusal({{DBK_OPT_USTACKBYTES, 32769}, {DBK_OPT_SEGMENTSIZE, 1 << 17}}) ==
          "option ustackbytes is 32769, it must be 0 to 32768");
}
