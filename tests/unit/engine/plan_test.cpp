// SPDX-License-Identifier: Apache-2.0
//
// Making a consumer of many clauses: planned once, whatever the sizes come to, and killable.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/internal.h"
#include "engine/types/lowered.h"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

constexpr uint32_t kClauses = 1000;

/// A program of many clauses, loaded, and the consumer that is made of it.
struct Bench {
    Engine engine{1};
    Dof dof;
    Loaded loaded;
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;

    Bench() {
        for (uint32_t i = 0; i < kClauses; i++)
            dof.ecb("test:::go", {dof.trace(arg(0))});
    }
    ~Bench() {
        host.allocations_left = -1;
        host.pauses_left = -1;
        if (consumer != nullptr)
            dbk_consumer_destroy(consumer);
        else
            dbk_program_destroy(loaded.program);
    }
    int create() {
        const dbk_consumer_config config{"test", 1, false, false, 0};
        return dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer);
    }
    void load_it() {
        loaded = load(dof.build());
        REQUIRE(loaded.error == 0);
    }
    uint64_t bufsize() const {
        uint64_t bytes = 0;
        dbk_consumer_size(consumer, DTRACEOPT_BUFSIZE, &bytes);
        return bytes;
    }
};

} // namespace

TEST_CASE("making a consumer ends when its process is killed", "[engine][plan]") {
    Bench bench;
    bench.load_it();
    const uint32_t before = host.pauses;
    host.pauses_left = kClauses / 2;
    CHECK(bench.create() == -EINTR);
    CHECK(host.pauses - before == kClauses / 2 + 1);
}

TEST_CASE("it ends between two sizes as well", "[engine][plan]") {
    Bench bench;
    bench.dof.option(DTRACEOPT_BUFSIZE, 1ull << 45);
    bench.load_it();
    host.pauses_left = kClauses + 3;
    CHECK(bench.create() == -EINTR);
}

TEST_CASE("clauses are planned once, however often sizes are halved", "[engine][plan]") {
    Bench bench;
    bench.dof.option(DTRACEOPT_BUFSIZE, 1ull << 45);
    bench.dof.option(DBK_OPT_SEGMENTSIZE, DBK_SEGMENT_BYTES_MAX);
    bench.load_it();
    // Steps, fields and aggregations of each; what else there is does not depend on the clauses.
    host.allocations_left = 4 * kClauses;
    const uint32_t before = host.pauses;
    SECTION("until the machine may have so much") {
        CHECK(bench.create() == 0);
        CHECK(bench.bufsize() == host.pages_max);
    }
    SECTION("until there is nothing left to halve") {
        host.pages_largest = DBK_SEGMENT_BYTES_MAX / 2;
        CHECK(bench.create() == -ENOMEM);
        CHECK(std::string(bench.reason.text) == "Cannot allocate memory");
    }
    CHECK(host.pauses - before > kClauses);
    CHECK(host.pauses - before < kClauses + 50);
}

TEST_CASE("a buffer that was halved until it is counted has general clauses", "[engine][plan]") {
    Bench bench;
    bench.dof.option(DTRACEOPT_BUFSIZE, 1ull << 30);
    bench.load_it();
    host.pages_max = 16 << 10;
    REQUIRE(bench.create() == 0);
    CHECK(bench.bufsize() == 16 << 10);
    REQUIRE(bench.consumer->counted);
    for (uint32_t i = 0; i < kClauses; i++)
        REQUIRE(bench.consumer->plans[i].tier == DBK_TIER_GENERAL);
}

TEST_CASE("variables stay while buffers are halved", "[engine][plan]") {
    Bench bench;
    bench.dof.option(DTRACEOPT_BUFSIZE, 1ull << 45);
    bench.dof.option(DTRACEOPT_DYNVARSIZE, 1ull << 50);
    Difo with_variable = arg(0);
    with_variable.vars.push_back(variable(DIF_VAR_OTHER_UBASE, DIFV_SCOPE_THREAD, int_type()));
    bench.dof.ecb("test:::go", {bench.dof.trace(with_variable)});
    bench.load_it();
    host.alloc_max = 1 << 26;
    REQUIRE(bench.create() == 0);
    CHECK(bench.bufsize() == host.pages_max);
    uint64_t bytes = 0;
    REQUIRE(dbk_consumer_size(bench.consumer, DTRACEOPT_DYNVARSIZE, &bytes));
    CHECK(bytes == host.alloc_max);
    CHECK(bench.consumer->dynvars.chunks != nullptr);
}
