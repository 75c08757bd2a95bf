// SPDX-License-Identifier: Apache-2.0
//
// What must be as at the start after thousands of firings; and what is counted, where and when.
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

/// arg0 == value
Difo is_value(uint64_t value) {
    return {{ldgs(DIF_VAR_ARG0, 1), setx(0, 2), cmp(1, 2), branch(DIF_OP_BE, 6), mov(0, 3),
             branch(DIF_OP_BA, 7), setx(1, 3), ret(3)},
            int_type(4),
            {value, 1}};
}
Difo join() {
    return {
        {sets(1, 1), push_string(1), push_string(1), call(DIF_SUBR_STRJOIN, 2), flushts(), ret(2)},
        string_type(),
        {},
        std::string("\0half\0", 6)};
}
Dof ring() {
    Dof dof;
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 16);
    return dof;
}

} // namespace

TEST_CASE("scratch memory is whole again in every clause", "[engine][time]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof = ring();
    dof.ecb("test:::go", {dof.trace(join())});
    dof.ecb("test:::go", {dof.trace(join())}, dof.difo(join()));
    auto* consumer = engine.start(dof.build());
    for (int i = 0; i < 20000; i++)
        engine.fire(go);
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 0);
    CHECK(dbk_consumer_counters(consumer, 0)->records == 40000);
    CHECK(records(consumer).back().tail(12) == "halfhalf");
}

TEST_CASE("the counters are those of the records, however they were made", "[engine][time]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});      // quick
    dof.ecb("test:::go", {dof.trace(constant(1))}); // fast
    dof.ecb("test:::go", {dof.trace(join())});
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < 100; i++)
        engine.fire(go, {i});
    uint64_t bytes = 0;
    auto all = records(consumer);
    for (const auto& record : all)
        bytes += record.bytes.size();
    const auto* counters = dbk_consumer_counters(consumer, 0);
    CHECK(counters->records == all.size());
    CHECK(counters->records == 300);
    CHECK(counters->bytes == bytes);
    CHECK(counters->firings == 300);
}

TEST_CASE("nothing fires and nothing is counted before the start and after the stop",
          "[engine][time]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))}, dof.difo(is_value(7)));
    dof.ecb("dtrace:::BEGIN", {dof.trace(constant(1))});
    dof.ecb("dtrace:::END", {dof.trace(constant(2))});
    auto* consumer = engine.consumer(dof.build());
    const auto* counters = dbk_consumer_counters(consumer, 0);
    auto fire_all = [&] {
        engine.fire(go, {7});
        engine.fire(go, {8});
        for (uint32_t own = 0; own < 3; own++) // BEGIN, END and ERROR, by their own hand
            engine.fire(*dbk_engine_probe_at(engine.get(), own));
    };
    fire_all();
    CHECK(counters->firings == 0);
    REQUIRE(dbk_consumer_start(consumer) == 0);
    CHECK(counters->firings == 1);
    engine.fire(go, {7});
    engine.fire(go, {8});
    CHECK(counters->firings == 3);
    for (uint32_t own = 0; own < 2; own++)
        engine.fire(*dbk_engine_probe_at(engine.get(), own));
    CHECK(counters->firings == 3);
    REQUIRE(dbk_consumer_stop(consumer) == 0);
    CHECK(counters->firings == 4);
    fire_all();
    CHECK(counters->firings == 4);
    CHECK(records(consumer).size() == 3);
}

TEST_CASE("END fires when all others have left", "[engine][time]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});
    dof.ecb("dtrace:::END", {dof.trace(constant(99))});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {1});
    uint32_t waits = 0;
    host.in_synchronize = [&] {
        waits++;
        engine.fire(go, {2}); // the gates are closed by now
        CHECK(records(consumer).size() == 1);
        CHECK(dbk_consumer_activity(consumer) == DBK_ACTIVITY_COOLDOWN);
    };
    REQUIRE(dbk_consumer_stop(consumer) == 0);
    host.in_synchronize = nullptr;
    CHECK(waits == 1);
    CHECK(records(consumer).back().u64(8) == 99);
    CHECK(records(consumer).size() == 2);
}

TEST_CASE("an execname is compared to its end", "[engine][time]") {
    auto matches = [](const std::string& name, const std::string& literal) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Difo same{{ldgs(DIF_VAR_EXECNAME, 1), sets(0, 2), op3(DIF_OP_SCMP, 1, 2, 0),
                   branch(DIF_OP_BE, 6), mov(0, 3), ret(3), setx(0, 3), ret(3)},
                  int_type(4),
                  {1},
                  literal + '\0'};
        Dof dof;
        dof.ecb("test:::go", {dof.trace(constant(1))}, dof.difo(same));
        auto* consumer = engine.start(dof.build());
        std::memset(host.execname, 'x', sizeof(host.execname)); // what lies after the NUL
        std::memcpy(host.execname, name.c_str(), name.size() + 1);
        engine.fire(go);
        return !records(consumer).empty();
    };
    CHECK(matches("abcdefghij", "abcdefghij"));
    CHECK_FALSE(matches("abcdefghij", "abcdefghik"));
    CHECK_FALSE(matches("abcdefgh", "abcdefghi"));
    CHECK_FALSE(matches("abcdefghi", "abcdefgh"));
    CHECK(matches("abcdefghijklmno", "abcdefghijklmno"));
    CHECK_FALSE(matches("abcdefghijklmno", "abcdefghijklmnp"));
    CHECK(matches("a", "a"));
    CHECK_FALSE(matches("b", "a"));
}

TEST_CASE("drops before the first record are in the first segment", "[engine][time]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});
    auto* consumer = engine.start(dof.build());
    dbk_probe_missed(&go, 3);
    CHECK(segments(consumer, 0).empty());
    engine.fire(go, {1});
    REQUIRE(segments(consumer, 0).size() == 1);
    CHECK(losses(segments(consumer, 0).at(1)).drops[DBK_DROP_MISSED] == 3);
    dbk_probe_missed(&go, 2);
    CHECK(losses(segments(consumer, 0).at(1)).drops[DBK_DROP_MISSED] == 5);
}

TEST_CASE("a reader that releases what was never written does no harm", "[engine][time]") {
    for (uint64_t released : {uint64_t{50}, uint64_t{1} << 40, ~uint64_t{0}}) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.ecb("test:::go", {dof.trace(arg(0))});
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH);
        dof.option(DTRACEOPT_BUFSIZE, 4 * 4096);
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        auto* consumer = engine.start(dof.build());
        engine.fire(go, {1});
        dbk_consumer_release(consumer, 0, released);
        for (uint64_t i = 0; i < 700; i++) // three segments
            engine.fire(go, {i});
        CHECK(drops(consumer, DBK_DROP_PRINCIPAL) == 0);
        CHECK(records(consumer).size() == 701);
    }
}

TEST_CASE("what END commits of other CPUs is in the ring", "[engine][time]") {
    Engine engine;
    auto& ask = engine.probe("test", "m", "f", "ask");
    auto& speculate = engine.probe("test", "m", "f", "speculate");
    Dof dof;
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    dof.ecb("test:::speculate", {{DTRACEACT_SPECULATE, dof.difo(constant(1))}, dof.trace(arg(0))});
    dof.ecb("dtrace:::END", {{DTRACEACT_COMMIT, dof.difo(constant(1))}});
    auto* consumer = engine.start(dof.build());
    engine.fire(ask);
    engine.fire(speculate, {70}, 0);
    engine.fire(speculate, {71}, 1);
    REQUIRE(dbk_consumer_stop(consumer) == 0);
    REQUIRE(records(consumer, 1).size() == 1);
    CHECK(records(consumer, 1)[0].u64(8) == 71);
    CHECK(records(consumer, 0).back().u64(8) == 70);
}
