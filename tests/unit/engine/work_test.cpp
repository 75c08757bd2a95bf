// SPDX-License-Identifier: Apache-2.0
//
// What a firing may cost: the limit, who pays, what is said, and work left to the cleaner.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/lowered.h"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

constexpr uint32_t kBlob = DIF_VAR_OTHER_UBASE;
constexpr uint32_t kBlobs = 64, kBlobBytes = DBK_VAR_BYTES_MAX;
using Values = std::vector<uint64_t>;

/// bcopy(blob, blob, arg0), where all the blobs together are a megabyte.
Difo copy() {
    Difo d{{ldgs(kBlob, 1), push_value(1), push_value(1), ldgs(DIF_VAR_ARG0, 2), push_value(2),
            call(DIF_SUBR_BCOPY, 3), ret(0)},
           no_type()};
    for (uint32_t i = 0; i < kBlobs + 1; i++)
        d.vars.push_back(variable(kBlob + i, DIFV_SCOPE_GLOBAL, bytes_type(kBlobBytes)));
    return d;
}

/// A clause that copies arg0 bytes, and what is said about it.
struct WorkBench {
    Engine engine;
    dbk_probe& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dbk_consumer* consumer = nullptr;

    WorkBench() {
        dof.ecb("dtrace:::ERROR",
                {dof.trace(arg(1)), dof.trace(arg(2)), dof.trace(arg(4)), dof.trace(arg(5))});
        dof.ecb("test:::go", {dof.trace(copy()), dof.trace(constant(7))});
    }
    void start() { consumer = engine.start(dof.build()); }
    uint64_t errors() const { return dbk_consumer_counters(consumer, 0)->errors; }
    /// Whether a firing that copies so much faults.
    bool faults(uint64_t bytes) {
        uint64_t before = errors();
        engine.fire(go, {bytes});
        return errors() != before;
    }
    /// The most bytes that one clause may copy.
    uint64_t limit() {
        uint64_t least = 0, most = DBK_WORK_FIRING;
        while (least < most) {
            uint64_t middle = (least + most + 1) / 2;
            if (faults(middle))
                most = middle - 1;
            else
                least = middle;
        }
        return least;
    }
    Values values() const {
        Values list;
        for (const auto& record : records(consumer))
            list.push_back(record.u64(8));
        return list;
    }
};

} // namespace

TEST_CASE("a firing costs no more than the limit", "[engine][work]") {
    WorkBench bench;
    bench.start();
    uint64_t limit = bench.limit();
    CHECK(limit > DBK_WORK_FIRING - 3000);
    CHECK(limit < DBK_WORK_FIRING);
    CHECK_FALSE(bench.faults(limit));
    CHECK(bench.values().back() == 7);
    CHECK(bench.faults(limit + 1));
    auto said = records(bench.consumer).back();
    CHECK(said.epid == 1);
    CHECK(said.u64(8) == 2);
    CHECK(said.u64(16) == 1);
    CHECK(said.u64(24) == DTRACEFLT_WORK);
    CHECK(said.u64(32) == 0);
    CHECK(drops(bench.consumer, DBK_DROP_WORK) == bench.errors());
    // The next firing begins anew.
    CHECK_FALSE(bench.faults(limit));
}

TEST_CASE("all clauses of a consumer share a firing's limit", "[engine][work]") {
    WorkBench bench;
    bench.dof.ecb("test:::go", {bench.dof.trace(copy()), bench.dof.trace(constant(8))});
    bench.dof.ecb("test:::go", {bench.dof.trace(arg(1))}); // nothing but an argument: not charged
    bench.start();
    Dof other;
    other.ecb("test:::go", {other.trace(copy()), other.trace(constant(9))});
    auto* second = bench.engine.start(other.build(), {"other", 2, true, true, 0});
    bench.engine.fire(bench.go, {DBK_WORK_FIRING * 2 / 3, 5});
    // ERROR's four words come between.
    CHECK(bench.values() == Values{7, 3, 5});
    CHECK(bench.errors() == 1);
    CHECK(records(second).size() == 1);
    CHECK(dbk_consumer_counters(second, 0)->errors == 0);
    CHECK(drops(bench.consumer, DBK_DROP_WORK) == 1);
    CHECK(drops(second, DBK_DROP_WORK) == 0);
}

TEST_CASE("what is not charged finds its segment though a firing has no work left",
          "[engine][work]") {
    auto [value, bytes] = GENERATE(std::pair(DIF_VAR_ARG0 + 1, 8), std::pair(DIF_VAR_PID, 4));
    Engine engine(1);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    for (int i = 0; i < 2; i++)
        dof.ecb("test:::go", {dof.trace(copy())});
    dof.ecb("test:::go", {dof.trace({{ldgs(value, 1), ret(1)}, int_type(bytes)})});
    auto* consumer = engine.start(dof.build());
    // Each firing's copies are too much together; segments fill up meanwhile.
    for (int i = 0; i < 2000; i++)
        engine.fire(go, {DBK_WORK_FIRING * 2 / 3, 5});
    CHECK(dbk_consumer_counters(consumer, 0)->segments > 4);
    CHECK(dbk_consumer_counters(consumer, 0)->records == 2000);
    CHECK(drops(consumer, DBK_DROP_WORK) == 2000);
}

TEST_CASE("after a fault the other clauses have what they had, not what ERROR has left", "[engine][work]") {
    WorkBench bench;
    bench.dof.ecb("test:::go", {bench.dof.trace({{setx(0, 1), load(DIF_OP_LDX, 1, 2), ret(2)}, int_type(), {1}})});
    bench.dof.ecb("test:::go", {bench.dof.trace(copy()), bench.dof.trace(constant(8))});
    bench.start();
    bench.engine.fire(bench.go, {DBK_WORK_ERROR * 3 / 2});
    CHECK(bench.values() == Values{7, 3, 8});
    CHECK(bench.errors() == 1);
    CHECK(drops(bench.consumer, DBK_DROP_WORK) == 0);
}

TEST_CASE("a clause of simple stores pays too", "[engine][work]") {
    WorkBench bench;
    std::vector<Action> many(2000, bench.dof.trace(constant(1)));
    for (int i = 0; i < 8; i++)
        bench.dof.ecb("test:::go", many);
    bench.start();
    bench.engine.fire(bench.go, {0});
    CHECK(bench.errors() >= 1);
    CHECK(bench.errors() < 8);
}

TEST_CASE("ERROR has an account of its own, and it ends too", "[engine][work]") {
    WorkBench bench;
    constexpr uint64_t kClauses = 500;
    for (uint64_t i = 0; i < kClauses; i++)
        bench.dof.ecb(
            "test:::go",
            {bench.dof.trace({{setx(0, 1), load(DIF_OP_LDX, 1, 2), ret(2)}, int_type(), {1}})});
    bench.start();
    bench.engine.fire(bench.go, {0});
    CHECK(bench.errors() == kClauses);
    uint64_t reported = bench.values().size() - 1;
    CHECK(reported > 20);
    CHECK(reported < DBK_WORK_ERROR / DBK_WORK_FAULT);
    CHECK(reported + drops(bench.consumer, DBK_DROP_DBLERROR) == kClauses);
    // Once the first account is used up, too, the rest is not even tried.
    std::map<uint64_t, int> codes;
    for (const auto& record : records(bench.consumer))
        if (record.epid == 1)
            codes[record.u64(24)]++;
    CHECK(codes[DTRACEFLT_BADADDR] > 20);
    // Whether ERROR could still say so or not.
    CHECK(drops(bench.consumer, DBK_DROP_WORK) > 0);
    CHECK(drops(bench.consumer, DBK_DROP_WORK) < kClauses - static_cast<uint64_t>(codes[DTRACEFLT_BADADDR]) + 1);
}

TEST_CASE("what the host reads and may not find is paid as a fault", "[engine][work]") {
    // Each reading may be an exception of the processor's, of which nothing is said.
    auto reads = [](const std::vector<uint32_t>& each, uint32_t action = DTRACEACT_DIFEXPR) {
        WorkBench bench;
        Difo d{{setx(0, 2)}, int_type(), {500}};
        for (uint32_t i = 0; i < 8000; i++)
            d.code.insert(d.code.end(), each.begin(), each.end());
        d.code.insert(d.code.end(), {op3(DIF_OP_NOT, 1, 0, 1), ret(1)}); // not to be lowered
        std::vector<Action> actions(action == DTRACEACT_DIFEXPR ? 1 : 2000,
                                    Action{action, DOF_SECIDX_NONE, 2, 0, 1});
        if (action == DTRACEACT_DIFEXPR)
            actions[0] = bench.dof.trace(d);
        bench.dof.ecb("test:::read", actions);
        auto& read = bench.engine.probe("test", "m", "f", "read");
        bench.start();
        host.silent_reads = 0;
        bench.engine.fire(read, {0});
        CHECK(bench.errors() == 1);
        return host.silent_reads;
    };
    constexpr uint64_t kMost = DBK_WORK_FIRING / DBK_WORK_FAULT;
    CHECK(reads({DIF_INSTR_FMT(DIF_OP_LDGA, DIF_VAR_ARGS, 2, 1)}) <= kMost);
    CHECK(reads({ldgs(DIF_VAR_UCALLER, 1)}) <= kMost);
    CHECK(reads({}, DTRACEACT_USTACK) <= kMost);
    // The stack is there.
    CHECK(reads({ldgs(DIF_VAR_ARG9, 1)}) <= DBK_WORK_FIRING / DBK_WORK_CALL);
}

TEST_CASE("a probe takes so many clauses of a program and no more", "[engine][work]") {
    for (uint32_t more : {0u, 1u}) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        auto probe = dof.probe("test:::go");
        auto actions = dof.actions({dof.trace(arg(0))});
        for (uint32_t i = 0; i < DBK_PROBE_ECBS_MAX + more; i++) {
            dof_ecbdesc desc{};
            desc.probes = probe;
            desc.actions = actions;
            desc.predicate = DOF_SECIDX_NONE;
            dof.section(DOF_SECT_ECBDESC, &desc, sizeof(desc), 8, 0);
        }
        Loaded loaded = load(dof.build());
        REQUIRE(loaded.error == 0);
        dbk_reason reason{};
        dbk_consumer* consumer = nullptr;
        dbk_consumer_config config{"test", 1, false, false, 0};
        REQUIRE(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) ==
                0);
        uint32_t matched = 0;
        int error = dbk_consumer_enable(consumer, &reason, &matched);
        CHECK(error == (more == 0 ? 0 : -E2BIG));
        if (more == 0) {
            REQUIRE(dbk_consumer_start(consumer) == 0);
            engine.fire(go, {1});
            CHECK(dbk_consumer_counters(consumer, 0)->records == DBK_PROBE_ECBS_MAX);
        } else {
            CHECK(std::string(reason.text) == "more than 4096 clauses on probe test:m:f:go");
        }
        dbk_consumer_destroy(consumer);
    }
}

TEST_CASE("a commit of more than a firing may move is left to the cleaner", "[engine][work]") {
    Engine engine;
    auto& ask = engine.probe("test", "m", "f", "ask");
    auto& speculate = engine.probe("test", "m", "f", "speculate");
    auto& commit = engine.probe("test", "m", "f", "commit");
    Dof dof;
    dof.option(DTRACEOPT_SPECSIZE, 1 << 20);
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    dof.ecb("test:::speculate", {{DTRACEACT_SPECULATE, dof.difo(constant(1))}, dof.trace(arg(0))});
    dof.ecb("test:::commit", {{DTRACEACT_COMMIT, dof.difo(constant(1))}});
    auto* consumer = engine.start(dof.build());
    engine.fire(ask);
    for (uint64_t i = 0; i < 10000; i++)
        engine.fire(speculate, {i});
    engine.fire(commit);
    CHECK(records(consumer).size() == 1);
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 0);
    CHECK(dbk_consumer_clean(consumer));
    auto all = records(consumer);
    REQUIRE(all.size() == 10001);
    CHECK(all.back().u64(8) == 9999);
    // The speculation is free again.
    engine.fire(ask);
    CHECK(records(consumer).back().u64(8) == 1);
}
