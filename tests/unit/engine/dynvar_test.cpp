// SPDX-License-Identifier: Apache-2.0
//
// Dynamic variables: self->, associative arrays, running out of room, several CPUs at once.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/memory/dynvar.h"
#include "engine/memory/dynvar_chunks.h"
}

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

std::vector<dif_var_entry> threads(dif_type type = int_type()) {
    return {variable(kVar, DIFV_SCOPE_THREAD, type)};
}
std::vector<dif_var_entry> arrays(uint8_t scope, dif_type type = int_type()) {
    return {variable(kVar, scope, type, DIFV_KIND_ARRAY)};
}

/// test:::set stores arg1 under arg0 (or for this thread), test:::get traces it.
struct Table {
    Engine engine;
    dbk_probe& set = engine.probe("test", "m", "f", "set");
    dbk_probe& get = engine.probe("test", "m", "f", "get");
    dbk_consumer* consumer = nullptr;

    Table(uint32_t store, uint32_t fetch, const std::vector<dif_var_entry>& vars, bool keyed,
          uint64_t bytes = 1 << 16) {
        Dof dof;
        dof.option(DTRACEOPT_DYNVARSIZE, bytes);
        dof.option(DTRACEOPT_BUFSIZE, 1 << 16);
        std::vector<uint32_t> key;
        if (keyed)
            key = {ldgs(DIF_VAR_ARG0, 1), push_value(1)};
        Difo put{key, no_type(), {}, "", vars}, fetched{key, int_type(), {}, "", vars};
        put.code.insert(put.code.end(),
                        {ldgs(DIF_VAR_ARG1, 2), var_op(store, kVar, 2), flushts(), ret(0)});
        fetched.code.insert(fetched.code.end(), {var_op(fetch, kVar, 2), flushts(), ret(2)});
        dof.ecb("test:::set", {dof.trace(put)});
        dof.ecb("test:::get", {dof.trace(fetched)});
        consumer = engine.start(dof.build());
    }
    void store(uint64_t key, uint64_t value) { engine.fire(set, {key, value}); }
    uint64_t fetch(uint64_t key) {
        engine.fire(get, {key});
        auto all = records(consumer);
        REQUIRE_FALSE(all.empty());
        return all.back().u64(8);
    }
};

} // namespace

TEST_CASE("self-> belongs to the thread", "[engine][dynvar]") {
    Table t(DIF_OP_STTS, DIF_OP_LDTS, threads(), false);
    CHECK(t.fetch(0) == 0);
    t.store(0, 11);
    host.tid = 202;
    CHECK(t.fetch(0) == 0);
    t.store(0, 22);
    CHECK(t.fetch(0) == 22);
    host.tid = 101;
    CHECK(t.fetch(0) == 11);
    t.store(0, 0);
    CHECK(t.fetch(0) == 0);
}

TEST_CASE("associative arrays keep what is stored under a key", "[engine][dynvar]") {
    for (auto [store, fetch, scope] : {std::tuple{DIF_OP_STGAA, DIF_OP_LDGAA, DIFV_SCOPE_GLOBAL},
                                       {DIF_OP_STTAA, DIF_OP_LDTAA, DIFV_SCOPE_THREAD}}) {
        Table t(store, fetch, arrays(static_cast<uint8_t>(scope)), true);
        for (uint64_t key = 0; key < 100; key++)
            t.store(key, key + 1000);
        for (uint64_t key = 0; key < 100; key++)
            CHECK(t.fetch(key) == key + 1000);
        t.store(50, 0);
        t.store(51, 7);
        CHECK(t.fetch(50) == 0);
        CHECK(t.fetch(51) == 7);
        CHECK(t.fetch(52) == 1052);
        CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 0);
    }
}

TEST_CASE("a full table drops, and freeing makes room", "[engine][dynvar]") {
    // As in DTrace: 64 bytes, 8 of data, 8 of key, and 64 in the table: two variables.
    Table t(DIF_OP_STGAA, DIF_OP_LDGAA, arrays(DIFV_SCOPE_GLOBAL), true, 2 * 144);
    t.store(1, 1);
    t.store(2, 2);
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 0);
    t.store(3, 3);
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 1);
    CHECK(t.fetch(3) == 0);
    t.store(2, 20); // in place
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 1);
    t.store(1, 0);
    t.store(3, 3);
    CHECK(t.fetch(3) == 3);
    CHECK(t.fetch(2) == 20);
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 1);
}

TEST_CASE("a store looks at some CPUs' free chunks, and the next one goes on from there",
          "[engine][dynvar][work]") {
    constexpr uint32_t cpus = 200;
    Engine engine(cpus);
    engine.probe("test", "m", "f", "set");
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 1 << 16);
    dof.option(DTRACEOPT_DYNVARSIZE, 2 * 144); // two variables: of CPUs 0 and 100
    dof.ecb("test:::set", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), push_value(1),
                                       var_op(DIF_OP_STGAA, kVar, 1), flushts(), ret(0)},
                                      no_type(),
                                      {},
                                      "",
                                      arrays(DIFV_SCOPE_GLOBAL)})});
    auto* consumer = engine.start(dof.build());
    dbk_dynvars* table = &consumer->dynvars;
    REQUIRE(table->chunk_count == 2);
    CHECK(dbk_chunk_take(table, 0) == 1);
    const uint32_t looks = DBK_CHUNK_LOOKS_MAX, before = (100 - 1) / looks;
    for (uint32_t i = 0; i < before; i++)
        CHECK(dbk_chunk_take(table, 0) == DBK_CHUNK_NONE);
    CHECK(dbk_chunk_take(table, 0) == 2);
    CHECK(dbk_chunk_take(table, 0) == DBK_CHUNK_NONE);
    // Where it was found last it is looked for first; and a CPU that comes near finds it at once.
    table->free[0].search = 100;
    dbk_chunk_give(table, 100, 2);
    CHECK(dbk_chunk_take(table, 0) == 2);
    CHECK(table->free[0].search == 100);
    dbk_chunk_give(table, 100, 2);
    CHECK(dbk_chunk_take(table, 100 - looks) == 2);
}

TEST_CASE("there is always room for one variable", "[engine][dynvar]") {
    Table t(DIF_OP_STGAA, DIF_OP_LDGAA, arrays(DIFV_SCOPE_GLOBAL), true, 31);
    t.store(1, 1);
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 0);
    t.store(2, 2);
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 1);
    // The clause ends there: nothing of it is recorded.
    CHECK(dbk_consumer_counters(t.consumer, 0)->errors == 0);
    CHECK(t.fetch(2) == 0);
}

TEST_CASE("strings as values and as keys", "[engine][dynvar]") {
    for (uint8_t scope : {DIFV_SCOPE_GLOBAL, DIFV_SCOPE_THREAD}) {
        uint32_t store = scope == DIFV_SCOPE_GLOBAL ? DIF_OP_STGAA : DIF_OP_STTAA;
        uint32_t fetch = scope == DIFV_SCOPE_GLOBAL ? DIF_OP_LDGAA : DIF_OP_LDTAA;
        auto vars = arrays(scope, string_type());
        std::string strings("\0key\0other\0value\0", 17);
        auto program = [&](uint32_t put_key, uint32_t get_key) {
            return run(
                {{sets(put_key, 1), push_string(1), push_value(1), sets(11, 2),
                  var_op(store, kVar, 2), flushts(), sets(get_key, 1), push_string(1),
                  sets(put_key, 1), push_value(1), var_op(fetch, kVar, 3), flushts(), ret(3)},
                 string_type(),
                 {},
                 strings,
                 vars});
        };
        CHECK(program(1, 1).text() == "value");
        CHECK(program(1, 5).text() == "<fault>"); // nothing there: NULL is not a string
    }
}

TEST_CASE("a key that is too long is a drop, not another key", "[engine][dynvar]") {
    const std::string same(DBK_KEY_BYTES_MAX, 'x'), strings = '\0' + same + 'a' + '\0' + same + 'b' + '\0';
    Engine engine(1);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DTRACEOPT_STRSIZE, 2 * DBK_KEY_BYTES_MAX);
    dof.option(DTRACEOPT_DYNVARSIZE, 1 << 16);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 16);
    const auto vars = arrays(DIFV_SCOPE_GLOBAL);
    dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_ARG0, 2), sets(1, 1), push_string(1), var_op(DIF_OP_STGAA, kVar, 2), flushts(), ret(0)},
                                     no_type(), {}, strings, vars})});
    dof.ecb("test:::go", {dof.trace({{sets(static_cast<uint32_t>(same.size()) + 3, 1), push_string(1), var_op(DIF_OP_LDGAA, kVar, 2),
                                      flushts(), ret(2)},
                                     int_type(), {}, strings, vars})});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {7});
    CHECK(drops(consumer, DBK_DROP_DYNAMIC) == 2);
    for (const Record& record : records(consumer))
        CHECK(record.u64(8) != 7);
}

TEST_CASE("bytes by reference as keys", "[engine][dynvar]") {
    auto at = [](uint64_t size) {
        return run(
            {{setx(0, 1), setx(1, 2), push_bytes(2, 1), setx(2, 3), var_op(DIF_OP_STGAA, kVar, 3),
              flushts(), push_bytes(2, 1), var_op(DIF_OP_LDGAA, kVar, 4), flushts(), ret(4)},
             int_type(),
             {0x7000, size, 99},
             "",
             arrays(DIFV_SCOPE_GLOBAL)});
    };
    host = HostState{};
    host.kernel_memory[0x7000] = std::string(5000, 'k');
    CHECK(at(13).value() == 99);
    CHECK(at(4096).value() == 99);
    CHECK(at(4097).value() == 0); // a key beyond what fits is a drop
    host.kernel_memory.clear();
    CHECK(at(8).errors == 1);
}

TEST_CASE("a thread's structure can be written through its address", "[engine][dynvar]") {
    Difo d{{setx(0, 1), load(DIF_OP_ALLOCS, 1, 2), var_op(DIF_OP_STTS, kVar, 2),
            var_op(DIF_OP_LDTS, kVar, 3), setx(1, 4), load(DIF_OP_STX, 4, 3),
            var_op(DIF_OP_LDTS, kVar, 5), load(DIF_OP_LDX, 5, 6), ret(6)},
           int_type(),
           {16, 4711},
           "",
           threads(bytes_type(16))};
    CHECK(run(d).value() == 4711);
    SECTION("but not beyond its data") {
        d.code.insert(d.code.begin() + 4, {op3(DIF_OP_ADD, 3, 1, 3)});
        CHECK(run(d).errors == 1);
        d.code[4] = op3(DIF_OP_SUB, 3, 1, 3);
        CHECK(run(d).errors == 1);
    }
}

TEST_CASE("CPUs share a table without losing or mixing values", "[engine][dynvar][parallel]") {
    constexpr uint32_t cpus = 4;
    Engine engine(cpus);
    auto& churn = engine.probe("test", "m", "f", "churn");
    Dof dof;
    dof.option(DTRACEOPT_DYNVARSIZE, 144 * 64);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    auto vars = arrays(DIFV_SCOPE_GLOBAL);
    // x[arg0] = arg1; trace(x[arg0]): no other CPU stores under this key.
    Difo put{{ldgs(DIF_VAR_ARG0, 1), push_value(1), ldgs(DIF_VAR_ARG1, 2),
              var_op(DIF_OP_STGAA, kVar, 2), flushts(), push_value(1),
              var_op(DIF_OP_LDGAA, kVar, 3), flushts(), ret(3)},
             int_type(),
             {},
             "",
             vars};
    dof.ecb("test:::churn", {dof.trace(put), dof.trace({{ldgs(DIF_VAR_ARG1, 1), ret(1)}})});
    auto* consumer = engine.start(dof.build());
    Engine::fire_at_once(churn, cpus, 20000, [](uint32_t cpu, uint64_t i) {
        return std::array{(i % 12) * cpus + cpu, i % 3 == 0 ? 0 : i * cpus + cpu};
    });
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        // The host may stop a thread inside a bucket, as the kernel never does: the others wait for
        // so long only.  A store then is a drop and ends its clause; a load is a drop and 0.
        uint64_t unread = 0, dropped = drops(consumer, DBK_DROP_DYNAMIC, cpu);
        for (const auto& record : records(consumer, cpu)) {
            bool read = record.u64(8) == record.u64(16);
            CHECK((read || record.u64(8) == 0));
            unread += !read;
        }
        CHECK(dbk_consumer_counters(consumer, cpu)->records + dropped >= 20000 + unread);
    }
    // However many those were, no chunk is lost: there is one for each key.
    for (uint64_t key = 0; key < 12 * cpus; key++) {
        uint64_t before = drops(consumer, DBK_DROP_DYNAMIC);
        engine.fire(churn, {key, 1});
        CHECK(drops(consumer, DBK_DROP_DYNAMIC) == before);
    }
}

namespace {

/// The longest chain of the consumer's table.
uint32_t longest_chain(const dbk_consumer* consumer) {
    const dbk_dynvars& dynvars = consumer->dynvars;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < dynvars.bucket_count; i++) {
        uint32_t length = 0;
        for (uint32_t at = dynvars.buckets[i].first; at != 0; length++)
            at = reinterpret_cast<const dbk_dynvar*>(dynvars.chunks + uint64_t{at - 1} *
                                                                          dynvars.chunk_bytes)
                     ->next;
        longest = std::max(longest, length);
    }
    return longest;
}

/// `x[arg0, arg1] = 1` in test:::set.
struct Pairs {
    Engine engine;
    dbk_probe& set = engine.probe("test", "m", "f", "set");
    dbk_consumer* consumer = nullptr;

    Pairs() {
        Dof dof;
        dof.option(DTRACEOPT_DYNVARSIZE, 1 << 20);
        Difo put{{ldgs(DIF_VAR_ARG0, 1), push_value(1), ldgs(DIF_VAR_ARG1, 2), push_value(2),
                  ldgs(DIF_VAR_ARG0 + 2, 2), var_op(DIF_OP_STGAA, kVar, 2), flushts(), ret(0)},
                 no_type(),
                 {},
                 "",
                 arrays(DIFV_SCOPE_GLOBAL)};
        dof.ecb("test:::set", {dof.trace(put)});
        consumer = engine.start(dof.build());
    }
    void store(uint64_t a, uint64_t b) { engine.fire(set, {a, b, 1}); }
};

} // namespace

// The second word was the unkeyed hash of the first, so that all keys met in one chain.
TEST_CASE("chosen keys make no longer chains than others", "[engine][dynvar][hash]") {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ull;
    Pairs t;
    for (uint64_t i = 1; i <= 4000; i++) {
        uint64_t hash = (1 ^ i) * kGolden; // variable 0
        hash ^= hash >> 32;
        t.store(i, hash);
    }
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 0);
    CHECK(longest_chain(t.consumer) >= 1);
    CHECK(longest_chain(t.consumer) < 16);
}

TEST_CASE("a chain that is too long is a dynamic variable drop", "[engine][dynvar][hash]") {
    Pairs t;
    t.engine.get()->cpus[0]->secret = {0, 1}; // as if it were known: the hash is linear
    for (uint64_t i = 0; i < 100; i++)
        t.store(i, i);
    CHECK(longest_chain(t.consumer) == 64);
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 100 - 64);
    for (uint64_t i = 0; i < 64; i++)
        t.store(i, i); // those are there still
    CHECK(drops(t.consumer, DBK_DROP_DYNAMIC) == 100 - 64);
}
