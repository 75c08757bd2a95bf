// SPDX-License-Identifier: Apache-2.0
//
// The deadman: who is stopped, who is not, and what is left of a ring then.
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;

/// A load that lasts as long as the test says, of an object that needs the interpreter.
Difo slow() {
    return {{setx(0, 1), load(DIF_OP_LDX, 1, 2), op3(DIF_OP_NOT, 2, 0, 2), ret(2)}, int_type(), {0x1000}};
}

struct Bench {
    Engine engine;
    dbk_probe& heavy = engine.probe("test", "m", "f", "heavy");
    dbk_probe& light = engine.probe("test", "m", "f", "light");
    dbk_consumer* consumer = nullptr;
    uint64_t load_ns = kMs;

    explicit Bench(bool destructive = false) {
        Dof dof;
        dof.option(DTRACEOPT_BUFSIZE, 65536);
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
        if (destructive)
            dof.option(DTRACEOPT_DESTRUCTIVE, 1);
        dof.ecb("test:::heavy", {dof.trace(slow())});
        dof.ecb("test:::light",
                {dof.trace({{ldgs(DIF_VAR_ARG0, 1), op3(DIF_OP_ADD, 1, 1, 1), ret(1)}})});
        dof.ecb("dtrace:::END", {dof.trace(arg(0))});
        consumer = engine.start(dof.build());
        host.kernel_memory[0x1000] = std::string(8, '\1');
        host.in_load = [this] { host.ticks += load_ns; };
    }
    bool killed() const { return dbk_consumer_activity(consumer) == DBK_ACTIVITY_KILLED; }
    /// Fires for so long, with a pause after each firing; the time when it was stopped.
    uint64_t run(uint64_t ns, uint64_t pause_ns) {
        uint64_t begin = host.ticks;
        while (!killed() && host.ticks - begin < ns) {
            engine.fire(heavy);
            engine.fire(light);
            host.ticks += pause_ns;
        }
        return host.ticks - begin;
    }
};

} // namespace

TEST_CASE("who takes a CPU for itself is stopped", "[engine][deadman]") {
    Bench bench;
    uint64_t at = bench.run(60 * kSecond, 0);
    REQUIRE(bench.killed());
    CHECK(at > 5 * kSecond); // 8 seconds, as far as samples know
    CHECK(at < 25 * kSecond);
    const auto* counters = dbk_consumer_counters(bench.consumer, 0);
    uint64_t firings = counters->firings;
    bench.engine.fire(bench.heavy);
    bench.engine.fire(bench.light, {}, 1);
    CHECK(counters->firings == firings);
    CHECK(dbk_consumer_counters(bench.consumer, 1)->firings == 0);
    CHECK(dbk_consumer_ring(bench.consumer)->activity == DBK_ACTIVITY_KILLED);
    // Stopping it waits for probes, fires no END, seals everything, and it stays what it is.
    uint32_t waits = host.synchronized;
    CHECK(dbk_consumer_stop(bench.consumer) == 0);
    CHECK(host.synchronized == waits + 1);
    CHECK(bench.killed());
    CHECK(counters->firings == firings);
    for (const auto& [sequence, header] : segments(bench.consumer, 0))
        CHECK((header->flags & DBK_SEGMENT_F_SEALED) != 0);
}

TEST_CASE("a machine on which a clause takes long is not an excuse", "[engine][deadman]") {
    Bench bench;
    bench.load_ns = 200 * kMs;
    bench.run(120 * kSecond, 0);
    CHECK(bench.killed());
}

TEST_CASE("who leaves the CPU a fifth of its time goes on", "[engine][deadman]") {
    Bench bench;
    bench.run(120 * kSecond, kMs);
    CHECK_FALSE(bench.killed());
    bench.load_ns = 10 * kMs;
    bench.run(120 * kSecond, 6 * kMs);
    CHECK_FALSE(bench.killed());
}

TEST_CASE("a machine that stood still is not blamed on a clause", "[engine][deadman]") {
    Bench bench;
    for (int i = 0; i < 50; i++) {
        bench.load_ns = 3600 * kSecond;
        bench.engine.fire(bench.heavy);
        bench.load_ns = 0;
        for (int j = 0; j < 20; j++)
            bench.engine.fire(bench.heavy);
    }
    CHECK_FALSE(bench.killed());
}

TEST_CASE("a destructive program is let alone", "[engine][deadman]") {
    Bench bench(true);
    bench.run(60 * kSecond, 0);
    CHECK_FALSE(bench.killed());
}

TEST_CASE("the deadman ends one consumer and no other", "[engine][deadman]") {
    Bench bench;
    Dof other;
    other.ecb("test:::heavy", {other.trace(arg(0))});
    auto* second = bench.engine.start(other.build(), {"other", 2, true, false, 0});
    bench.run(60 * kSecond, 0);
    REQUIRE(bench.killed());
    CHECK(dbk_consumer_activity(second) == DBK_ACTIVITY_ACTIVE);
    uint64_t firings = dbk_consumer_counters(second, 0)->firings;
    bench.engine.fire(bench.heavy);
    CHECK(dbk_consumer_counters(second, 0)->firings == firings + 1);
}

TEST_CASE("the ring of a consumer that was destroyed says STOPPED, or KILLED after the deadman", "[engine][deadman]") {
    bool aborts = GENERATE(false, true);
    Bench bench;
    if (aborts)
        bench.run(60 * kSecond, 0);
    REQUIRE(bench.killed() == aborts);
    // The block may outlive the consumer: in a bank, or mapped.
    uint32_t left = DBK_ACTIVITY_INACTIVE;
    host.in_synchronize = [&] { left = dbk_consumer_ring(bench.consumer)->activity; };
    bench.engine.destroy(bench.consumer);
    host.in_synchronize = nullptr;
    CHECK(left == (aborts ? DBK_ACTIVITY_KILLED : DBK_ACTIVITY_STOPPED));
}
