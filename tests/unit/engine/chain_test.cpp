// SPDX-License-Identifier: Apache-2.0
//
// Chains of loads: what is one, and that it gives what the interpreter gives, faults included.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/load/program.h"
#include "engine/run/dif.h"
}

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <random>

using namespace daybreak::engine_test;

namespace {

constexpr uint64_t kPage = 0x10000, kPageBytes = 64;
const uint32_t kLoads[] = {DIF_OP_LDSB, DIF_OP_LDSH, DIF_OP_LDSW, DIF_OP_LDUB, DIF_OP_LDUH, DIF_OP_LDUW, DIF_OP_LDX};
const uint32_t kOps[] = {DIF_OP_ADD, DIF_OP_SUB, DIF_OP_AND, DIF_OP_OR, DIF_OP_XOR,
                         DIF_OP_SLL, DIF_OP_SRL, DIF_OP_SRA, DIF_OP_MUL};
const uint32_t kSwaps[] = {DIF_SUBR_NTOHS, DIF_SUBR_NTOHL, DIF_SUBR_NTOHLL,
                           DIF_SUBR_HTONS, DIF_SUBR_HTONL, DIF_SUBR_HTONLL};

uint32_t args_of(uint32_t index, uint32_t rd) {
    return DIF_INSTR_FMT(DIF_OP_LDGA, DIF_VAR_ARGS, index, rd);
}

class Random {
public:
    uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine_() % end); }
    uint64_t word() { return engine_(); }

    /// Register 1 has the base.
    void base(Difo& d) {
        switch (below(5)) {
        case 0: d.code = {ldgs(DIF_VAR_CURTHREAD, 1)}; break;
        case 1: d.code = {var_op(DIF_OP_LDTS, kVar, 1)}; break;
        case 2:
            d.code = {setx(0, 1)};
            d.integers.push_back(kPage + 8 * below(8));
            break;
        case 3:
            d.code = {setx(0, 1), args_of(1, 1)};
            d.integers.push_back(below(3));
            break;
        default: d.code = {ldgs(DIF_VAR_ARG0 + below(3), 1)};
        }
        d.vars = {variable(kVar, DIFV_SCOPE_THREAD)};
    }
    void operate(Difo& d, uint32_t op, uint64_t constant) {
        const auto index = static_cast<uint32_t>(d.integers.size());
        d.integers.push_back(constant);
        d.code.push_back(setx(index, 2));
        d.code.push_back(op == DIF_OP_ADD && below(2) != 0 ? op3(op, 2, 1, 1) : op3(op, 1, 2, 1));
    }
    /// P == 0 ? constant : ..., where compilers load P again, or do not.
    void return_at_null(Difo& d) {
        const auto index = static_cast<uint32_t>(d.integers.size()), at = static_cast<uint32_t>(d.code.size());
        const std::vector<uint32_t> before = d.code;
        d.integers.push_back(word() >> below(64));
        d.code.insert(d.code.end(), {tst(1), branch(DIF_OP_BNE, at + 4), setx(index, 3), ret(3)});
        if (below(2) != 0)
            d.code.insert(d.code.end(), before.begin(), before.end());
    }
    /// @p tested: the link whose value may be NULL.
    Difo chain(uint32_t links, uint32_t tested = ~0u) {
        Difo d{{}, int_type(1u << below(4))};
        base(d);
        for (uint32_t i = 0; i < links; i++) {
            if (below(3) != 0)
                operate(d, below(4) != 0 ? DIF_OP_ADD : DIF_OP_SUB, below(24));
            d.code.push_back(load(i + 1 < links && below(8) != 0 ? uint32_t{DIF_OP_LDX} : kLoads[below(7)], 1, 1));
            if (i == tested)
                return_at_null(d);
        }
        if (below(3) == 0)
            operate(d, kOps[below(9)], word() >> below(64));
        else if (below(2) == 0)
            d.code.insert(d.code.end(), {flushts(), push_value(1), call(kSwaps[below(6)], 1)});
        d.code.push_back(ret(1));
        return d;
    }
    /// Mostly of memory that is there.
    uint64_t address() {
        const uint64_t odd[] = {0, 1, ~0ull, kPage - 1, kPage + kPageBytes - 4, 1ull << 63};
        return below(4) == 0 ? odd[below(6)] : kPage + below(kPageBytes - 24);
    }
    void memory() {
        std::string page(kPageBytes, '\0');
        for (size_t i = 0; i < kPageBytes; i += 8) {
            const uint64_t to = address();
            std::memcpy(page.data() + i, &to, 8);
        }
        host.kernel_memory = {{kPage, page}};
    }

private:
    std::mt19937_64 engine_{20261126};
};

/// The same by instructions that no symbol follows; loads are where they were.
Difo interpreted(Difo d) {
    const uint32_t reg = DIF_INSTR_RD(d.code.back());
    d.code.pop_back();
    d.code.insert(d.code.end(), {op3(DIF_OP_NOT, reg, 0, 7), op3(DIF_OP_NOT, 7, 0, 7), ret(7)});
    return d;
}

Difo is(Difo value, uint64_t constant) {
    const uint32_t reg = DIF_INSTR_RD(value.code.back());
    value.code.pop_back();
    const auto index = static_cast<uint32_t>(value.integers.size()), end = static_cast<uint32_t>(value.code.size());
    value.integers.push_back(constant);
    value.integers.push_back(1);
    value.code.insert(value.code.end(), {setx(index, 2), cmp(reg, 2), branch(DIF_OP_BE, end + 5), mov(0, 3),
                                         ret(3), setx(index + 1, 3), ret(3)});
    value.type = int_type(4);
    return value;
}

struct One {
    Loaded loaded;
    const dbk_difo* difo = nullptr;
    explicit One(const Difo& d) {
        Dof dof;
        const uint32_t section = dof.difo(d);
        loaded = load(dof.build());
        INFO(loaded.reason);
        REQUIRE(loaded.error == 0);
        difo = loaded.program->difos[section];
    }
    ~One() { dbk_program_destroy(loaded.program); }
    One(const One&) = delete;
    One& operator=(const One&) = delete;
};

/// What a clause has beside the chain: execname, an argument of 4 bytes, or both in a key.
enum class Beside { name, argument, key };

/// Probes alone, pair and general have the chain in another tier each, twin has it interpreted.
struct Ways {
    Engine engine{1};
    std::vector<dbk_probe*> probes;
    dbk_consumer* consumer = nullptr;

    Ways(const Difo& chain, const Difo& asked, uint32_t lacks, Beside beside) {
        const bool counts = beside == Beside::key;
        Dof dof;
        dof.option(DTRACEOPT_BUFSIZE, 1 << 16);
        dof.option(DBK_OPT_AGGREGATE, counts ? DBK_AGGREGATE_ENGINE : DBK_AGGREGATE_RECORD);
        const Difo name{{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()};
        const Difo argument{{ldgs(DIF_VAR_ARG0 + 1, 1), ret(1)}, int_type(4)};
        const Difo store{{ldgs(DIF_VAR_ARG0 + 2, 1), var_op(DIF_OP_STTS, kVar, 1), ret(1)}, no_type(), {}, "", chain.vars};
        uint32_t id = 0;
        auto clause = [&](const char* way, const Difo& d, uint32_t predicate = DOF_SECIDX_NONE) {
            std::vector<Action> actions = {dof.trace(beside == Beside::name ? name : argument), dof.trace(d)};
            if (counts)
                actions = dof.aggregate(++id, DTRACEAGG_COUNT, {d, name}, d);
            dof.ecb(std::string("test::") + way + ":go", actions, predicate);
        };
        dof.ecb("test::set:go", {dof.trace(store)});
        clause("alone", chain);
        clause("pair", chain);
        clause("general", chain, dof.difo({{ldgs(DIF_VAR_PPID, 1), ret(1)}}));
        clause("twin", interpreted(chain));
        clause("asks", {{ret(0)}}, dof.difo(asked));
        clause("asktwin", {{ret(0)}}, dof.difo(interpreted(asked)));
        dof.ecb("test::pair:go", {});
        dof.ecb("dtrace:::ERROR", {dof.trace({{ldgs(DIF_VAR_ARG0 + 2, 1), ret(1)}}),
                                   dof.trace({{ldgs(DIF_VAR_ARG0 + 3, 1), ret(1)}}),
                                   dof.trace({{ldgs(DIF_VAR_ARG0 + 4, 1), ret(1)}}),
                                   dof.trace({{ldgs(DIF_VAR_ARG0 + 5, 1), ret(1)}})});
        for (const char* name_of : {"set", "alone", "pair", "general", "twin", "asks", "asktwin"})
            probes.push_back(&engine.probe("test", "m", name_of, "go", 3));
        Loaded loaded = load(dof.build());
        INFO(loaded.reason);
        REQUIRE(loaded.error == 0);
        dbk_program_restrict(loaded.program, lacks);
        dbk_reason reason{};
        dbk_consumer_config config{"test", 1, false, false, 0, DBK_PAGES_ANYWHERE};
        REQUIRE(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) == 0);
        uint32_t matched = 0;
        REQUIRE(dbk_consumer_enable(consumer, &reason, &matched) == 0);
        REQUIRE(dbk_consumer_start(consumer) == 0);
    }
    ~Ways() { dbk_consumer_destroy(consumer); }
    Ways(const Ways&) = delete;
    Ways& operator=(const Ways&) = delete;

    /// What a firing of a probe leaves: records without their EPIDs, faults, cells.
    std::vector<std::vector<uint8_t>> said(size_t probe, const std::vector<uint64_t>& args) {
        const size_t before = records(consumer).size();
        engine.fire(*probes[probe], args);
        std::vector<std::vector<uint8_t>> list;
        auto all = records(consumer);
        for (size_t i = before; i < all.size(); i++) {
            CHECK(all[i].same_firing == (i != before));
            if (all[i].bytes.size() > sizeof(dbk_record_header)) // but the empty one of pair
                list.emplace_back(all[i].bytes.begin() + sizeof(dbk_record_header), all[i].bytes.end());
        }
        return list;
    }
    /// Keys and cells of each probe's first ECB, since the last time.
    std::vector<std::vector<std::pair<std::vector<uint8_t>, std::vector<uint64_t>>>> cells() {
        std::vector<std::vector<std::pair<std::vector<uint8_t>, std::vector<uint64_t>>>> list(probes.size());
        for (const auto& entry : snapshot(consumer))
            for (size_t i = 0; i < probes.size(); i++)
                if (probes[i]->ecbs->epid == entry.header.epid)
                    list[i].emplace_back(entry.key, entry.cells);
        return list;
    }
};

} // namespace

TEST_CASE("chains of loads are recognised", "[engine][chain]") {
    auto kind = [](std::vector<uint32_t> code) { return One({std::move(code), int_type(), {8, 1}}).difo->expr.kind; };
    const uint32_t arg0 = ldgs(DIF_VAR_ARG0, 1), first = load(DIF_OP_LDX, 1, 1), last = load(DIF_OP_LDUH, 1, 1);
    CHECK(kind({arg0, last, ret(1)}) == DBK_EXPR_CHAIN);
    CHECK(kind({arg0, first, first, last, ret(1)}) == DBK_EXPR_CHAIN);
    CHECK(kind({setx(1, 1), args_of(1, 1), setx(0, 2), op3(DIF_OP_ADD, 1, 2, 1), first, last, flushts(),
                push_value(1), call(DIF_SUBR_NTOHS, 1), ret(1)}) == DBK_EXPR_CHAIN);
    CHECK(kind({arg0, load(DIF_OP_LDX, 1, 2), load(DIF_OP_LDX, 1, 3), load(DIF_OP_LDX, 2, 1), ret(1)}) ==
          DBK_EXPR_CHAIN); // what was loaded once is loaded again
    // Too long; what is loaded is not what is returned; two loads of one address; of an address that is a sum.
    CHECK(kind({arg0, first, first, first, last, ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, load(DIF_OP_LDX, 1, 2), ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, load(DIF_OP_LDX, 1, 2), setx(0, 1), ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, load(DIF_OP_LDX, 1, 2), load(DIF_OP_LDX, 2, 3), ret(2)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, load(DIF_OP_LDX, 1, 2), load(DIF_OP_LDUB, 1, 1), op3(DIF_OP_ADD, 1, 2, 1), ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, load(DIF_OP_LDX, 1, 2), load(DIF_OP_LDUB, 1, 1), ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, first, load(DIF_OP_LDX, 1, 2), load(DIF_OP_LDUB, 1, 1), ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, ldgs(DIF_VAR_ARG0 + 1, 2), op3(DIF_OP_ADD, 1, 2, 1), last, ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, setx(0, 2), op3(DIF_OP_OR, 1, 2, 1), last, ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, last, op3(DIF_OP_ADD, 1, 1, 1), ret(1)}) == DBK_EXPR_DIF);
    CHECK(kind({arg0, last, push_value(1), push_value(1), ret(1)}) == DBK_EXPR_DIF);
    // A constant where it is NULL, and nothing is loaded after that.
    auto null = [&](uint32_t condition, std::vector<uint32_t> at_null) {
        std::vector<uint32_t> code = {arg0, first, tst(1), branch(condition, 4 + static_cast<uint32_t>(at_null.size()))};
        code.insert(code.end(), at_null.begin(), at_null.end());
        code.insert(code.end(), {last, ret(1)});
        return kind(code);
    };
    CHECK(null(DIF_OP_BNE, {ret(0)}) == DBK_EXPR_CHAIN);
    CHECK(null(DIF_OP_BNE, {setx(0, 3), ret(3)}) == DBK_EXPR_CHAIN);
    CHECK(null(DIF_OP_BG, {ret(0)}) == DBK_EXPR_DIF);
    CHECK(null(DIF_OP_BE, {ret(0)}) == DBK_EXPR_DIF);
    CHECK(null(DIF_OP_BNE, {ret(1)}) == DBK_EXPR_DIF);
    CHECK(null(DIF_OP_BNE, {last, setx(0, 1), ret(1)}) == DBK_EXPR_DIF);
    // As a predicate only what is loaded before the one comparison.
    CHECK(One(is({{arg0, last, ret(1)}}, 5)).difo->predicate.left.kind == DBK_EXPR_CHAIN);
    One late({{arg0, tst(1), branch(DIF_OP_BNE, 4), ret(0), last, setx(0, 1), ret(1)}, int_type(), {1}});
    CHECK(late.difo->predicate.left.kind == DBK_EXPR_DIF);
}

TEST_CASE("chains of loads are what the interpreter says", "[engine][chain][property]") {
    Random random;
    host = HostState{};
    const uint32_t lacks = GENERATE(0u, uint32_t{DBK_LACKS_KERNEL});
    const Beside beside = GENERATE(Beside::name, Beside::argument);
    size_t faults = 0, values = 0, held = 0;
    for (int round = 0; round < 150; round++) {
        const Difo chain = random.chain(1 + random.below(3), random.below(4));
        const Difo asked = is(random.chain(1 + random.below(3)), random.below(2) ? 0 : kPage);
        CHECK(One(chain).difo->expr.kind == DBK_EXPR_CHAIN);
        CHECK(One(interpreted(chain)).difo->expr.kind == DBK_EXPR_DIF);
        CHECK(One(asked).difo->predicate.left.kind == DBK_EXPR_CHAIN);
        Ways ways(chain, asked, lacks, beside);
        const bool is_member = beside == Beside::argument && One(chain).difo->chain.base_kind == DBK_EXPR_ARG;
        CHECK(ways.probes[1]->ecbs->tier == (lacks != 0  ? DBK_TIER_GENERAL
                                             : is_member ? DBK_TIER_MEMBERS
                                                         : DBK_TIER_CELLS));
        CHECK(ways.probes[3]->ecbs->tier == DBK_TIER_GENERAL);
        for (int i = 0; i < 5; i++) {
            random.memory();
            host.curthread = random.address();
            const std::vector<uint64_t> args = {random.address(), random.address(), random.address()};
            ways.said(0, args);
            INFO("round " << round << ", firing " << i);
            const auto expected = ways.said(4, args);
            REQUIRE(expected.size() == 1);
            for (size_t way = 1; way < 4; way++)
                CHECK(ways.said(way, args) == expected);
            const auto asks = ways.said(6, args);
            CHECK(ways.said(5, args) == asks);
            (expected[0].size() == 32 ? faults : values)++;
            held += asks.size();
        }
        const auto* counters = dbk_consumer_counters(ways.consumer, 0);
        CHECK(counters->firings == 5 * 8 + counters->errors);
        const auto all = records(ways.consumer);
        CHECK(counters->records == all.size());
        CHECK(counters->bytes == std::accumulate(all.begin(), all.end(), uint64_t{0}, [](uint64_t sum, const Record& one) {
                  return sum + one.bytes.size();
              }));
    }
    CHECK(faults > 100);
    CHECK((lacks != 0 || values > 100));
    CHECK(held > 20);
    host = HostState{};
}

TEST_CASE("chains of loads are the interpreter's in keys of the engine's aggregations", "[engine][chain][aggregate]") {
    Random random;
    size_t counted = 0;
    host = HostState{};
    for (int round = 0; round < 60; round++) {
        const Difo chain = random.chain(1 + random.below(3));
        Ways ways(chain, is(chain, 0), 0, Beside::key);
        CHECK(ways.probes[1]->ecbs->tier == DBK_TIER_CELLS);
        for (int i = 0; i < 5; i++) {
            random.memory();
            const std::vector<uint64_t> args = {random.address(), random.address(), random.address()};
            ways.said(0, args);
            const auto expected = ways.said(4, args);
            for (size_t way = 1; way < 4; way++)
                CHECK(ways.said(way, args) == expected);
        }
        const auto cells = ways.cells();
        for (size_t way = 1; way < 4; way++)
            CHECK(cells[way] == cells[4]);
        counted += cells[4].size();
    }
    CHECK(counted > 20);
    host = HostState{};
}

TEST_CASE("a clause that loads and stores, and all but the first that load, are general", "[engine][chain]") {
    host = HostState{};
    Engine engine(1);
    auto &go = engine.probe("test", "m", "f", "go", 3), &many = engine.probe("test", "m", "f", "many", 3);
    Dof dof;
    const Difo chain{{ldgs(DIF_VAR_ARG0, 1), load(DIF_OP_LDX, 1, 1), ret(1)}};
    const Difo store{{ldgs(DIF_VAR_ARG0 + 1, 1), var_op(DIF_OP_STTS, kVar, 1), ret(1)},
                     no_type(), {}, "", {variable(kVar, DIFV_SCOPE_THREAD)}};
    dof.ecb("test:::go", {dof.trace(chain), dof.trace(store)});
    for (uint32_t i = 0; i <= DBK_CHAIN_ECBS_MAX; i++)
        dof.ecb("test:::many", {dof.trace(chain)});
    auto* consumer = engine.start(dof.build());
    CHECK(go.ecbs->tier == DBK_TIER_GENERAL);
    engine.fire(go, {kPage});
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 1);
    uint32_t quick = 0;
    for (const dbk_ecb* ecb = many.ecbs; ecb != nullptr; ecb = ecb->next)
        quick += ecb->tier == DBK_TIER_MEMBERS;
    CHECK(quick == DBK_CHAIN_ECBS_MAX);
}

TEST_CASE("what is not charged is not charged at a segment's end either", "[engine][chain]") {
    std::string page(kPageBytes, '\0');
    std::memcpy(page.data(), &kPage, sizeof(kPage)); // it leads to itself
    Engine engine(1);
    host.kernel_memory = {{kPage, page}};
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 20);
    std::vector<Action> actions;
    for (uint32_t links : {3, 3, 3, 2}) {
        Difo chain{{ldgs(DIF_VAR_ARG0, 1)}};
        chain.code.insert(chain.code.end(), links, load(DIF_OP_LDX, 1, 1));
        chain.code.push_back(ret(1));
        actions.push_back(dof.trace(chain));
    }
    dof.ecb("test:::go", actions);
    auto* consumer = engine.start(dof.build());
    CHECK(go.ecbs->tier == DBK_TIER_MEMBERS);
    for (int i = 0; i < 1000; i++)
        engine.fire(go, {kPage});
    CHECK(records(consumer).size() == 1000);
    CHECK(drops(consumer, DBK_DROP_WORK) == 0);
}
