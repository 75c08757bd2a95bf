// SPDX-License-Identifier: Apache-2.0
//
// CPUs come and go: memory follows those that are up, and what has none is counted; memory that is
// short or in pieces.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/internal.h"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

std::vector<uint64_t> values(const dbk_consumer* consumer, uint32_t cpu) {
    std::vector<uint64_t> result;
    for (const auto& record : records(consumer, cpu))
        result.push_back(record.u64(8));
    return result;
}

uint64_t region_bytes(const dbk_consumer* consumer) {
    uint64_t bytes = 0;
    dbk_region region;
    for (uint32_t i = 0; dbk_consumer_region(consumer, i, &region); i++)
        bytes += region.pages->bytes;
    return bytes;
}

/// Everything that a CPU may have memory for: locals, a key, cells, a speculation.
std::vector<uint8_t> whole_program(Dof& dof) {
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    dof.option(DTRACEOPT_BUFSIZE, 256 << 10);
    dof.ecb("test:::go", {dof.trace(arg(0))});
    dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_COUNT, {arg(0)}));
    return dof.build();
}

} // namespace

TEST_CASE("a consumer has memory for the CPUs that are up", "[engine][cpus]") {
    auto bytes = [](uint32_t possible, uint32_t up) {
        Engine engine(possible, DBK_CLOCK_MONO_NS, up);
        uint64_t before = host.pages_allocated;
        Dof dof;
        auto* consumer = engine.consumer(whole_program(dof));
        CHECK(region_bytes(consumer) <= host.pages_allocated - before);
        return host.pages_allocated - before;
    };
    // 62 CPUs that may come some day: 320 bytes of counters each.
    CHECK(bytes(64, 2) < bytes(2, 2) + 62 * 1024);
    CHECK(bytes(64, 3) > bytes(64, 2) + (256 << 10));
}

TEST_CASE("memory comes from where its caller says", "[engine][cpus]") {
    Engine engine(3, DBK_CLOCK_MONO_NS, 1);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DBK_OPT_RINGTIME, 1'000'000'000);
    dbk_consumer_config config{"test", 1, true, true, 0, DBK_PAGES_BANK};
    host.bank_bytes = 4 << 20;
    uint64_t elsewhere = host.pages_allocated, banked = 0;
    auto grew = [&](bool in_bank, bool outside) {
        const bool here = host.bank_allocated > banked,
                   there = host.pages_allocated - host.bank_allocated > elsewhere;
        banked = host.bank_allocated;
        elsewhere = host.pages_allocated - banked;
        return here == in_bank && there == outside;
    };
    auto* consumer = engine.start(whole_program(dof), config);
    CHECK(region_bytes(consumer) < banked + host.bank_allocated + (64 << 10));
    banked = host.bank_allocated; // and blocks of ECBs, which come when it is enabled
    elsewhere = host.pages_allocated - banked;
    REQUIRE(dbk_engine_cpu_up(engine.get(), 1));
    CHECK(grew(false, true));
    auto burst = [&](dbk_pages_from from) {
        for (int i = 0; i < 100'000; i++)
            engine.fire(go, {1});
        host.mono_ns += 1000;
        dbk_consumer_tend(consumer, from);
    };
    burst(DBK_PAGES_BANK);
    CHECK(grew(true, false));
    host.bank_bytes = host.bank_allocated; // full
    burst(DBK_PAGES_BANK);
    CHECK(grew(false, false));
    CHECK(dbk_consumer_counters(consumer, 0)->growths_refused == 1);
    for (int i = 0; i < 11; i++)
        burst(DBK_PAGES_ANYWHERE);
    CHECK(grew(false, true));
}

TEST_CASE("what a CPU writes is asked for on its memory node", "[engine][cpus]") {
    Engine engine(3, DBK_CLOCK_MONO_NS, 2);
    Dof dof;
    dof.option(DBK_OPT_RINGTIME, 1'000'000'000);
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(whole_program(dof));
    REQUIRE(dbk_engine_cpu_up(engine.get(), 2));
    for (int i = 0; i < 100'000; i++)
        engine.fire(go, {1}, 2);
    host.mono_ns += 1000;
    const uint64_t before = region_bytes(consumer);
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    CHECK(region_bytes(consumer) > before);
    std::map<uint32_t, int> counts; // of segments, by CPU
    dbk_region region;
    for (uint32_t i = 0; dbk_consumer_region(consumer, i, &region); i++) {
        const bool segments = region.kind == 1; // ioctl.h: DBK_REGION_SEGMENTS
        counts[region.cpu] += segments;
        CHECK(host.pages_of.at(static_cast<const uint8_t*>(region.pages->address)) ==
              (segments ? region.cpu : DBK_CPU_NONE));
    }
    CHECK((counts[0] > 0 && counts[1] > 0 && counts[2] > counts[1]));
    for (uint32_t cpu = 0; cpu < 3; cpu++)
        for (const auto& aggbuf : consumer->buffers[cpu].aggbufs)
            CHECK(host.pages_of.at(static_cast<const uint8_t*>(aggbuf.pages.address)) == cpu);
}

TEST_CASE("a ring that is to lie in a bank without room is not made", "[engine][cpus]") {
    Engine engine(1);
    Dof dof;
    dof.option(DTRACEOPT_BUFRESIZE, DBK_BUFRESIZE_MANUAL);
    Loaded loaded = load(whole_program(dof));
    REQUIRE(loaded.error == 0);
    const uint64_t before = host.pages_allocated;
    dbk_consumer_config config{"test", 1, true, true, 0, DBK_PAGES_BANK};
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;
    for (host.bank_bytes = 0; host.bank_bytes <= 256 << 10; host.bank_bytes += 64 << 10)
        CHECK(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) == -ENOMEM);
    CHECK(host.bank_allocated != 0);
    CHECK(host.pages_allocated - host.bank_allocated == before);
    dbk_program_destroy(loaded.program);
}

TEST_CASE("without aggregations there are no aggregation buffers", "[engine][cpus]") {
    Engine engine;
    uint64_t before = host.pages_allocated;
    Dof dof;
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    dof.option(DTRACEOPT_BUFSIZE, 64 << 10);
    dof.ecb("test:::go", {dof.trace(arg(0))});
    auto* consumer = engine.start(dof.build());
    CHECK(host.pages_allocated - before < 2 * (64 << 10) + (256 << 10));
    CHECK(dbk_consumer_ring(consumer)->aggregate == DBK_AGGREGATE_RECORD);
    uint32_t size;
    const void* image;
    CHECK(dbk_consumer_agg_snapshot(consumer, 0, &size, &image) == -ENODATA);
}

TEST_CASE("what only counts has little room for records, unless it asks", "[engine][cpus]") {
    auto bytes = [](bool traces, uint64_t bufsize) {
        Engine engine;
        Dof dof;
        dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
        if (bufsize != 0)
            dof.option(DTRACEOPT_BUFSIZE, bufsize);
        dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_COUNT, {arg(0)}));
        dof.ecb("dtrace:::ERROR", {dof.trace(arg(1))}); // as every program that was compiled
        if (traces)
            dof.ecb("test:::go", {dof.trace(arg(0))});
        return region_bytes(engine.consumer(dof.build()));
    };
    const uint64_t room = bytes(true, 0) - bytes(false, 0);
    CHECK(room == 2 * (DBK_BUFSIZE_DEFAULT - (128 << 10)));
    CHECK(bytes(false, 1 << 20) == bytes(true, 1 << 20));
    CHECK(bytes(false, 64 << 10) == bytes(true, 64 << 10));
}

TEST_CASE("a CPU that comes up later records from its first firing on", "[engine][cpus]") {
    Engine engine(4, DBK_CLOCK_MONO_NS, 2);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    auto* consumer = engine.start(whole_program(dof));
    REQUIRE(dbk_engine_cpu_up(engine.get(), 3));
    engine.fire(go, {7}, 3);
    CHECK(values(consumer, 3) == std::vector<uint64_t>{7});
    CHECK(snapshot(consumer, 3).size() == 1);
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL, 3) == 0);
    uint64_t bytes = region_bytes(consumer);
    // It goes and comes again: what it had is there, and is enough.
    dbk_engine_cpu_down(engine.get(), 3);
    CHECK(values(consumer, 3) == std::vector<uint64_t>{7});
    REQUIRE(dbk_engine_cpu_up(engine.get(), 3));
    engine.fire(go, {8}, 3);
    CHECK(values(consumer, 3) == std::vector<uint64_t>{7, 8});
    CHECK(region_bytes(consumer) == bytes);
    // After the end nothing opens.
    REQUIRE(dbk_consumer_stop(consumer) == 0);
    REQUIRE(dbk_engine_cpu_up(engine.get(), 2));
    engine.fire(go, {9}, 2);
    CHECK(values(consumer, 2).empty());
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL, 2) == 0);
}

TEST_CASE("exit() by a CPU that came up first closes what is opened after it", "[engine][cpus]") {
    Engine engine(2, DBK_CLOCK_MONO_NS, 1);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0)), {DTRACEACT_EXIT, dof.difo(arg(0))}});
    auto* consumer = engine.consumer(dof.build());
    bool came = false;
    host.in_cpus_lock = [&] { // recording has begun, and the other CPU's gates are not open yet
        if (came || dbk_consumer_activity(consumer) != DBK_ACTIVITY_ACTIVE)
            return;
        came = true;
        REQUIRE(dbk_engine_cpu_up(engine.get(), 1));
        engine.fire(go, {7}, 1);
    };
    REQUIRE(dbk_consumer_start(consumer) == 0);
    host.in_cpus_lock = nullptr;
    REQUIRE(values(consumer, 1) == std::vector<uint64_t>{7});
    engine.fire(go, {8});
    CHECK(values(consumer, 0).empty());
    CHECK(dbk_consumer_ring(consumer)->activity == DBK_ACTIVITY_DRAINING);
}

TEST_CASE("a consumer made while a CPU is away has no memory for it", "[engine][cpus]") {
    Engine engine(2);
    auto& go = engine.probe("test", "m", "f", "go");
    dbk_engine_cpu_down(engine.get(), 1);
    Dof dof;
    auto* consumer = engine.start(whole_program(dof));
    uint64_t bytes = region_bytes(consumer);
    REQUIRE(dbk_engine_cpu_up(engine.get(), 1));
    CHECK(region_bytes(consumer) > bytes);
    engine.fire(go, {1}, 1);
    CHECK(values(consumer, 1) == std::vector<uint64_t>{1});
}

TEST_CASE("option cpu: the others get nothing when they come up", "[engine][cpus]") {
    Engine engine(3, DBK_CLOCK_MONO_NS, 1);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DTRACEOPT_CPU, 2);
    auto* consumer = engine.start(whole_program(dof));
    uint64_t bytes = region_bytes(consumer);
    REQUIRE(dbk_engine_cpu_up(engine.get(), 1));
    CHECK(region_bytes(consumer) == bytes);
    engine.fire(go, {1}, 1);
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL, 1) == 0);
    REQUIRE(dbk_engine_cpu_up(engine.get(), 2));
    engine.fire(go, {2}, 2);
    CHECK(values(consumer, 2) == std::vector<uint64_t>{2});
}

TEST_CASE("a CPU without memory loses only what a predicate would have let through", "[engine][cpus]") {
    Engine engine(2, DBK_CLOCK_MONO_NS, 1);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    uint32_t is_seven = dof.difo({{ldgs(DIF_VAR_ARG0, 1), setx(0, 2), cmp(1, 2), branch(DIF_OP_BE, 5), ret(0), setx(1, 3),
                                   ret(3)},
                                  int_type(4),
                                  {7, 1}});
    for (int clause = 0; clause < 2; clause++)
        dof.ecb("test:::go", {dof.trace(arg(0))}, is_seven);
    auto* consumer = engine.start(dof.build());
    host.allocations_left = 0;
    REQUIRE_FALSE(dbk_engine_cpu_up(engine.get(), 1));
    host.allocations_left = -1;
    engine.fire(go, {1}, 1);
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL, 1) == 0);
    engine.fire(go, {7}, 1);
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL, 1) == 2);
}

// Every allocation on the way fails once: the CPU's firings are drops, tending finds the memory
// later, and nothing is allocated twice.
TEST_CASE("a CPU without memory counts drops until there is some", "[engine][cpus]") {
    uint64_t complete = 0;
    for (int fail_at = 64; fail_at >= 0; fail_at--) {
        INFO("allocation " << fail_at << " fails");
        Engine engine(2, DBK_CLOCK_MONO_NS, 1);
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        auto* consumer = engine.start(whole_program(dof));
        host.allocations_left = fail_at;
        bool up = dbk_engine_cpu_up(engine.get(), 1);
        host.allocations_left = -1;
        if (up) {
            complete = region_bytes(consumer);
            continue;
        }
        engine.fire(go, {1}, 1);
        CHECK(values(consumer, 1).empty());
        CHECK(drops(consumer, DBK_DROP_PRINCIPAL, 1) == 2); // a record, a count
        CHECK(dbk_consumer_counters(consumer, 1)->firings == 0);
        dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
        engine.fire(go, {2}, 1);
        CHECK(values(consumer, 1) == std::vector<uint64_t>{2});
        CHECK(snapshot(consumer, 1).size() == 1);
        CHECK(drops(consumer, DBK_DROP_PRINCIPAL, 1) == 2);
        CHECK(region_bytes(consumer) == complete);
    }
    CHECK(complete != 0);
}

TEST_CASE("refused memory is asked for again later, and counted", "[engine][cpus]") {
    Engine engine(2, DBK_CLOCK_MONO_NS, 1);
    Dof dof;
    auto* consumer = engine.start(whole_program(dof));
    host.allocations_left = 0;
    CHECK_FALSE(dbk_engine_cpu_up(engine.get(), 1));
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    const dbk_meta_cpu* counters = dbk_consumer_counters(consumer, 1);
    CHECK(counters->growths_refused == 1);
    dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    CHECK(counters->growths_refused == 1);
    host.allocations_left = -1;
    for (int i = 0; i < 20; i++)
        dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
    CHECK(counters->growths_refused == 1);
    CHECK(counters->segment_slots != 0);
}

TEST_CASE("BEGIN and END on a CPU without memory are drops", "[engine][cpus]") {
    Engine engine(2, DBK_CLOCK_MONO_NS, 1);
    Dof dof;
    dof.ecb("dtrace:::BEGIN", {dof.trace(arg(0))});
    auto* consumer = engine.consumer(dof.build());
    host.allocations_left = 0;
    CHECK_FALSE(dbk_engine_cpu_up(engine.get(), 1));
    host.allocations_left = -1;
    host_cpu = 1;
    REQUIRE(dbk_consumer_start(consumer) == 0);
    host_cpu = 0;
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL, 1) == 1);
    CHECK(values(consumer, 1).empty());
}

TEST_CASE("metadata goes into smaller blocks when memory is in pieces", "[engine][cpus][memory]") {
    Engine engine;
    host.pages_largest = 16384; // a segment; blocks of metadata are 64 and 256 KiB
    for (int i = 0; i < 600; i++)
        engine.probe("test", "m", "f", "go");
    Dof dof;
    auto* consumer = engine.start(whole_program(dof));
    CHECK(ecb_info(consumer, 1200));
}

TEST_CASE("sizes beyond a share of the memory are lowered, and it is said", "[engine][memory]") {
    Engine engine;
    host.alloc_max = 3 << 20;
    Dof dof;
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    dof.option(DTRACEOPT_AGGSIZE, 4 << 20);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 30);
    dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_COUNT, {arg(0)}));
    auto* consumer = engine.consumer(dof.build());
    uint64_t bytes = 0;
    // Half of 256 MiB for two CPUs; two buffers of a CPU and half as much index each.
    CHECK(std::string(dbk_consumer_lowered(consumer, DBK_SIZE_BUFFER, &bytes)) == "buffer size");
    CHECK(bytes == 128 << 20);
    CHECK(std::string(dbk_consumer_lowered(consumer, DBK_SIZE_AGGREGATION, &bytes)) ==
          "aggregation size");
    CHECK(bytes == 512 << 10);
    CHECK(dbk_consumer_lowered(consumer, DBK_SIZE_DYNAMIC, &bytes) == nullptr);
    CHECK(dbk_consumer_lowered(consumer, DBK_SIZE_SPECULATION, &bytes) == nullptr);
}

TEST_CASE("a size that is not a whole number of words is not one that memory was short for", "[engine][cpus]") {
    Engine engine;
    Dof dof;
    for (uint32_t option : {DTRACEOPT_BUFSIZE, DTRACEOPT_AGGSIZE, DTRACEOPT_DYNVARSIZE})
        dof.option(option, (64 << 10) + 4);
    dof.ecb("test:::go", {dof.trace(arg(0))});
    auto* consumer = engine.start(dof.build());
    uint64_t bytes = 0;
    for (int size = 0; size < DBK_SIZE_COUNT; size++)
        CHECK(dbk_consumer_lowered(consumer, static_cast<dbk_size>(size), &bytes) == nullptr);
}
