// SPDX-License-Identifier: Apache-2.0
//
// Thread-local scalars: the seats that they have, those that find none, and clauses that need no
// interpreter for them.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/load/program.h"
#include "engine/memory/dynvar.h"
#include "engine/memory/dynvar_chunks.h"
#include "engine/memory/speculation.h"
}

#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace daybreak::engine_test;

namespace {

constexpr uint32_t kVars = 3;
constexpr auto kScope = DIFV_SCOPE_THREAD;

std::vector<dif_var_entry> scalars(dif_type type = int_type()) {
    std::vector<dif_var_entry> vars;
    for (uint32_t i = 0; i < kVars; i++)
        vars.push_back(variable(kVar + i, kScope, type));
    return vars;
}

/// self->v = arg0, as compilers write it.
Difo set(uint32_t var = 0, uint32_t from = DIF_VAR_ARG0) {
    return {{ldgs(from, 1), var_op(DIF_OP_STTS, kVar + var, 1), ret(1)},
            no_type(),
            {},
            "",
            scalars()};
}
Difo get(uint32_t var = 0) {
    return {{var_op(DIF_OP_LDTS, kVar + var, 1), ret(1)}, int_type(), {}, "", scalars()};
}
/// arg0 op self->v
Difo with(uint32_t op, uint32_t left = DIF_VAR_ARG0) {
    return {{ldgs(left, 1), var_op(DIF_OP_LDTS, kVar, 2), op3(op, 1, 2, 3), ret(3)},
            int_type(),
            {},
            "",
            scalars()};
}
/// self->v != 0 as a value
Difo is_set() {
    return {{var_op(DIF_OP_LDTS, kVar, 1), tst(1), branch(DIF_OP_BE, 5), setx(0, 2), ret(2),
             setx(1, 2), ret(2)},
            int_type(4),
            {1, 0},
            "",
            scalars()};
}
/// The same by instructions that no symbol follows.
Difo interpreted(Difo d) {
    const uint32_t reg = DIF_INSTR_RD(d.code.back());
    d.code.pop_back();
    d.code.insert(d.code.end(), {op3(DIF_OP_NOT, reg, 0, 7), op3(DIF_OP_NOT, 7, 0, 7), ret(7)});
    return d;
}

/// Free chunks, of all lists; each is there once.
uint32_t free_chunks(const dbk_consumer* consumer) {
    const dbk_dynvars& dynvars = consumer->dynvars;
    std::vector<bool> seen(dynvars.chunk_count + 1);
    uint32_t count = 0;
    for (uint32_t cpu = 0; cpu < dynvars.free_count; cpu++)
        for (auto at = static_cast<uint32_t>(dynvars.free[cpu].head); at != 0; count++) {
            REQUIRE_FALSE(seen.at(at));
            seen[at] = true;
            at = dbk_chunk(&dynvars, at)->next;
        }
    return count;
}
uint32_t elsewhere(const dbk_consumer* consumer) {
    uint32_t count = 0;
    for (uint64_t i = 0; i < 1ull << (64 - consumer->dynvars.line_shift); i++)
        count += consumer->dynvars.lines[i].elsewhere;
    return count;
}

/// Probes that store arg0 into, and trace, each of three variables.
struct Threads {
    Engine engine;
    std::vector<dbk_probe*> sets, gets;
    dbk_consumer* consumer = nullptr;

    explicit Threads(uint64_t bytes, bool by_interpreter = false, uint32_t cpus = 2)
        : engine(cpus) {
        Dof dof;
        dof.option(DTRACEOPT_DYNVARSIZE, bytes);
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
        dof.option(DTRACEOPT_BUFSIZE, 16384);
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        for (uint32_t i = 0; i < kVars; i++) {
            const std::string number = std::to_string(i);
            sets.push_back(&engine.probe("test", "m", "f", strdup(("set" + number).c_str())));
            gets.push_back(&engine.probe("test", "m", "f", strdup(("get" + number).c_str())));
            dof.ecb("test:::set" + number,
                    {dof.trace(by_interpreter ? interpreted(set(i)) : set(i)),
                     dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}})});
            dof.ecb("test:::get" + number,
                    {dof.trace(by_interpreter ? interpreted(get(i)) : get(i))});
        }
        consumer = engine.start(dof.build());
    }
    ~Threads() {
        for (auto* list : {&sets, &gets})
            for (auto* probe : *list)
                std::free(const_cast<char*>(probe->name));
    }
    uint64_t fetch(uint32_t var) {
        engine.fire(*gets[var]);
        return records(consumer).back().u64(8);
    }
};

struct One {
    Loaded loaded;
    dbk_difo* difo = nullptr;

    explicit One(const Difo& d) {
        Dof dof;
        uint32_t section = dof.difo(d);
        loaded = load(dof.build());
        INFO(loaded.reason);
        REQUIRE(loaded.error == 0);
        difo = loaded.program->difos[section];
    }
    ~One() { dbk_program_destroy(loaded.program); }
    One(const One&) = delete;
};

} // namespace

TEST_CASE("thread-local scalars need no interpreter", "[engine][thread][lower]") {
    CHECK(One(get()).difo->expr.kind == DBK_EXPR_THREAD);
    CHECK(One(get()).difo->predicate.simple);
    CHECK(One(get()).difo->predicate.early);
    CHECK(One(is_set()).difo->predicate.kind == DBK_PREDICATE_OUTCOME);
    CHECK(One(is_set()).difo->predicate.early);
    One since(with(DIF_OP_SUB, DIF_VAR_TIMESTAMP));
    CHECK(since.difo->expr.kind == DBK_EXPR_BINARY);
    CHECK(since.difo->expr.right == DBK_EXPR_THREAD);
    CHECK(since.difo->predicate.simple);
    CHECK_FALSE(since.difo->predicate.early); // one of its values may lie elsewhere
    One stored(set());
    CHECK(stored.difo->stores);
    CHECK(stored.difo->stored.kind == DBK_EXPR_ARG);
    CHECK(stored.difo->expr.kind == DBK_EXPR_DIF);
    CHECK_FALSE(One(get()).difo->stores);
}

TEST_CASE("what an object does besides one store stays interpreted", "[engine][thread][lower]") {
    auto stores = [](std::vector<uint32_t> code, dif_type type = int_type()) {
        return One({std::move(code), no_type(), {1}, "", scalars(type)}).difo->stores;
    };
    const uint32_t load0 = var_op(DIF_OP_LDTS, kVar, 2), put0 = var_op(DIF_OP_STTS, kVar, 1),
                   put1 = var_op(DIF_OP_STTS, kVar + 1, 1);
    CHECK(stores({load0, setx(0, 1), op3(DIF_OP_ADD, 1, 2, 1), put0, ret(1)})); // self->v++
    CHECK_FALSE(stores({setx(0, 1), put0, put1, ret(1)}));
    CHECK_FALSE(stores({setx(0, 1), put0, load0, ret(2)}));
    CHECK_FALSE(stores({ldgs(DIF_VAR_ERRNO, 1), put0, ret(1)}));
    CHECK_FALSE(stores({call(DIF_SUBR_RAND, 1), put0, ret(1)}));
    CHECK_FALSE(stores({setx(0, 1), put0, ret(1)}, bytes_type(16)));
    CHECK_FALSE(stores({setx(0, 1), put0, ret(1)}, string_type()));
    CHECK(One({{load0, ret(2)}, int_type(), {}, "", scalars(bytes_type(16))}).difo->expr.kind ==
          DBK_EXPR_DIF);
}

TEST_CASE("a speculation's number is stored without the interpreter", "[engine][thread][lower]") {
    const uint32_t put = var_op(DIF_OP_STTS, kVar, 1), ask = call(DIF_SUBR_SPECULATION, 1);
    auto lowered = [](std::vector<uint32_t> code) {
        One one({std::move(code), no_type(), {1}, "", scalars()});
        return one.difo->stores ? one.difo->stored : dbk_expr{};
    };
    CHECK(lowered({ask, put, ret(1)}).kind == DBK_EXPR_SPECULATION);
    CHECK(lowered({flushts(), ask, put, ret(1)}).operand == 1);
    CHECK(lowered({ask, setx(0, 1), put, ret(1)}).kind != DBK_EXPR_SPECULATION);
    CHECK(lowered({ask, ask, put, ret(1)}).kind != DBK_EXPR_SPECULATION);
    CHECK(lowered({call(DIF_SUBR_RAND, 1), put, ret(1)}).kind != DBK_EXPR_SPECULATION);
    for (bool by_interpreter : {false, true}) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.option(DTRACEOPT_NSPEC, 2);
        Difo store{{ask, put, ret(1)}, no_type(), {}, "", scalars()};
        dof.ecb("test:::go", {dof.trace(by_interpreter ? interpreted(store) : store),
                              dof.trace(get()), {DTRACEACT_DISCARD, dof.difo(get(1))}});
        dof.ecb("test:::go", {{DTRACEACT_SPECULATE, dof.difo(get())}, dof.trace(get())});
        auto* consumer = engine.start(dof.build());
        for (host.tid = 1; host.tid <= 3; host.tid++)
            engine.fire(go);
        auto found = records(consumer);
        REQUIRE(found.size() == 3);
        for (uint64_t i = 0; i < 3; i++)
            CHECK(found[i].u64(8) == (i + 1) % 3);
        CHECK(drops(consumer, DBK_DROP_SPECUNAVAIL) == 1);
        CHECK(consumer->speculations[0].state == DBK_SPECULATION_ACTIVE_ONE);
    }
}

TEST_CASE("thread-locals are what a map says, with a seat and without",
          "[engine][thread][property]") {
    auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    // The least number of lines, 16 with 32 seats, and in DTrace's bytes about as many variables.
    const bool by_interpreter = GENERATE(false, true);
    Threads t(30 * 136, by_interpreter);
    const uint32_t room = t.consumer->dynvars.chunk_count;
    REQUIRE(t.consumer->dynvars.line_shift == 64 - 4);
    REQUIRE(room > 25);
    REQUIRE(free_chunks(t.consumer) == room);
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> model;
    uint64_t dropped = 0, most_elsewhere = 0, recorded = 0;
    for (int round = 0; round < 4000; round++) {
        const uint32_t tid = 1 + static_cast<uint32_t>(random() % 20), var = random() % kVars;
        const uint32_t cpu = random() % 2;
        const std::pair key{tid + 100 * cpu, var};
        host.tid = tid; // of another CPU it is another thread
        if (random() % 3 == 0) {
            t.engine.fire(*t.gets[var], {}, cpu);
            REQUIRE(records(t.consumer, cpu).back().u64(8) == (model.count(key) ? model[key] : 0));
            continue;
        }
        const uint64_t value = random() % 3 == 0 ? 0 : 1 + random() % 1000;
        const bool fits = value == 0 || model.count(key) != 0 || model.size() < room;
        t.engine.fire(*t.sets[var], {value}, cpu);
        recorded += fits;
        if (!fits)
            dropped++;
        else if (value == 0)
            model.erase(key);
        else
            model[key] = value;
        REQUIRE(drops(t.consumer, DBK_DROP_DYNAMIC, 0) + drops(t.consumer, DBK_DROP_DYNAMIC, 1) ==
                dropped);
        REQUIRE(free_chunks(t.consumer) == room - model.size());
        most_elsewhere = std::max<uint64_t>(most_elsewhere, elsewhere(t.consumer));
    }
    CHECK(dropped > 0);
    CHECK(most_elsewhere > 0);
    CHECK(dbk_consumer_counters(t.consumer, 0)->errors == 0);
    for (uint32_t cpu = 0; cpu < 2; cpu++)
        for (uint32_t tid = 1; tid <= 20; tid++)
            for (uint32_t var = 0; var < kVars; var++) {
                host.tid = tid;
                t.engine.fire(*t.sets[var], {0}, cpu);
            }
    CHECK(elsewhere(t.consumer) == 0);
    CHECK(free_chunks(t.consumer) == room);
}

TEST_CASE("threads whose keys hash alike share a line and nothing else", "[engine][thread]") {
    Threads t(1 << 16);
    t.consumer->dynvars.secret = {0, 0}; // as if it were known: all are in line 0
    for (uint32_t tid = 1; tid <= 6; tid++)
        for (uint32_t var = 0; var < kVars; var++) {
            host.tid = tid;
            t.engine.fire(*t.sets[var], {tid * 10 + var});
        }
    CHECK(elsewhere(t.consumer) == 6 * kVars - DBK_THREAD_SEATS);
    for (uint32_t tid = 1; tid <= 7; tid++)
        for (uint32_t var = 0; var < kVars; var++) {
            host.tid = tid;
            CHECK(t.fetch(var) == (tid == 7 ? 0 : tid * 10 + var));
        }
    // Who has a seat gives it back; who is elsewhere is found there all the same, and changed.
    host.tid = 1;
    t.engine.fire(*t.sets[0], {0});
    t.engine.fire(*t.sets[2], {77});
    CHECK(t.fetch(0) == 0);
    CHECK(t.fetch(1) == 11);
    CHECK(t.fetch(2) == 77);
}

TEST_CASE("a predicate finds what has no seat", "[engine][thread]") {
    Engine engine;
    auto& put = engine.probe("test", "m", "f", "put");
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::put", {dof.trace(set())});
    dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}})},
            dof.difo(GENERATE(0, 1) != 0 ? is_set() : get()));
    auto* consumer = engine.start(dof.build());
    consumer->dynvars.secret = {0, 0};
    for (host.tid = 1; host.tid <= 4; host.tid++)
        engine.fire(put, {1});
    for (host.tid = 1; host.tid <= 6; host.tid++)
        engine.fire(go, {host.tid});
    auto found = records(consumer);
    REQUIRE(found.size() == 4);
    for (uint64_t i = 0; i < 4; i++)
        CHECK(found[i].u64(8) == i + 1);
    CHECK(dbk_consumer_counters(consumer, 0)->firings == 10);
}

TEST_CASE("a clause whose variable finds no room records nothing", "[engine][thread]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DTRACEOPT_DYNVARSIZE, 31); // one variable
    dof.ecb("test:::go",
            {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}}),
             dof.trace(GENERATE(false, true) ? interpreted(set()) : set()), dof.trace(set(1)),
             dof.trace(get())});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {5});
    CHECK(records(consumer).empty());
    CHECK(drops(consumer, DBK_DROP_DYNAMIC) == 1);
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 0);
    engine.fire(go, {0}); // it stores none
    REQUIRE(records(consumer).size() == 1);
    CHECK(records(consumer)[0].u64(16) == 0);
    CHECK(free_chunks(consumer) == 1);
}

TEST_CASE("lowered and interpreted thread-locals agree", "[engine][thread][property]") {
    for (uint32_t op : {DIF_OP_ADD, DIF_OP_SUB, DIF_OP_AND, DIF_OP_OR, DIF_OP_XOR, DIF_OP_SLL,
                        DIF_OP_SRL, DIF_OP_SRA, DIF_OP_MUL}) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.ecb("test:::go", {dof.trace(set(0, DIF_VAR_ARG0 + 1)), dof.trace(with(op)),
                              dof.trace(interpreted(with(op))),
                              dof.trace(with(op, DIF_VAR_TIMESTAMP)),
                              dof.trace(interpreted(with(op, DIF_VAR_TIMESTAMP)))});
        auto* consumer = engine.start(dof.build());
        for (uint64_t a : {0ull, 5ull, ~0ull, 1ull << 63})
            for (uint64_t b : {0ull, 1ull, 67ull, ~0ull})
                engine.fire(go, {a, b});
        REQUIRE(records(consumer).size() == 16);
        for (const auto& record : records(consumer)) {
            CHECK(record.u64(8) == record.u64(16));
            CHECK(record.u64(24) == record.u64(32));
        }
    }
}

TEST_CASE("CPUs share the seats without losing or mixing values", "[engine][thread][parallel]") {
    constexpr uint32_t cpus = 4;
    Engine engine(cpus);
    auto& churn = engine.probe("test", "m", "f", "churn");
    Dof dof;
    dof.option(DTRACEOPT_DYNVARSIZE, 136 * 64);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    // self->a = arg0; self->b = arg1; trace(self->a); trace(self->b)
    dof.ecb("test:::churn", {dof.trace(set(0)), dof.trace(set(1, DIF_VAR_ARG0 + 1)),
                             dof.trace(get(0)), dof.trace(get(1)),
                             dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}}),
                             dof.trace({{ldgs(DIF_VAR_ARG0 + 1, 1), ret(1)}})});
    auto* consumer = engine.start(dof.build());
    const uint32_t room = consumer->dynvars.chunk_count;
    Engine::fire_at_once(churn, cpus, 20000, [](uint32_t cpu, uint64_t i) {
        return std::array{i % 3 == 0 ? 0 : i * cpus + cpu, i % 5 == 0 ? 0 : i * cpus + cpu};
    });
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        CHECK(drops(consumer, DBK_DROP_DYNAMIC, cpu) == 0);
        for (const auto& record : records(consumer, cpu)) {
            CHECK(record.u64(8) == record.u64(24));
            CHECK(record.u64(16) == record.u64(32));
        }
        host_cpu = cpu;
        engine.fire(churn, {0, 0}, cpu);
    }
    host_cpu = 0;
    CHECK(free_chunks(consumer) == room);
}

TEST_CASE("threads take the seats that others give back", "[engine][thread][parallel]") {
    constexpr uint32_t cpus = DBK_THREAD_SEATS; // so that none is without
    Engine engine(cpus);
    auto& churn = engine.probe("test", "m", "f", "churn");
    Dof dof;
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    // self->a = arg0; trace(self->a); trace(arg0); self->a = arg1, which is 0
    dof.ecb("test:::churn",
            {dof.trace(set()), dof.trace(get()), dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}}),
             dof.trace(set(0, DIF_VAR_ARG0 + 1))});
    auto* consumer = engine.start(dof.build());
    consumer->dynvars.secret = {0, 0}; // all are in line 0
    Engine::fire_at_once(churn, cpus, 20000, [](uint32_t cpu, uint64_t i) {
        return std::array{(i + 1) * cpus + cpu, uint64_t{0}};
    });
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        CHECK(drops(consumer, DBK_DROP_DYNAMIC, cpu) == 0);
        for (const auto& record : records(consumer, cpu))
            CHECK(record.u64(8) == record.u64(16));
    }
    CHECK(elsewhere(consumer) == 0);
}

TEST_CASE("CPUs' lists, chunks and seats share no line of the cache", "[engine][thread]") {
    Threads t(1 << 20, false, 4);
    const dbk_dynvars& dynvars = t.consumer->dynvars;
    CHECK(sizeof(dbk_thread_line) == DBK_CACHE_LINE_BYTES);
    CHECK(sizeof(dbk_free_list) == DBK_CACHE_LINE_BYTES);
    CHECK(dynvars.chunk_bytes % DBK_CACHE_LINE_BYTES == 0);
    for (const void* memory : {static_cast<const void*>(dynvars.chunks),
                               static_cast<const void*>(dynvars.free),
                               static_cast<const void*>(dynvars.lines)})
        CHECK(reinterpret_cast<uintptr_t>(memory) % DBK_CACHE_LINE_BYTES == 0);
    // At first each CPU has neighbours.
    uint32_t end = 1;
    for (uint32_t cpu = 0; cpu < dynvars.free_count; cpu++)
        for (auto at = static_cast<uint32_t>(dynvars.free[cpu].head); at != 0; end++) {
            REQUIRE(at == end);
            at = dbk_chunk(&dynvars, at)->next;
        }
    CHECK(end == dynvars.chunk_count + 1);
}
