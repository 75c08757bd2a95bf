// SPDX-License-Identifier: Apache-2.0
//
// Lowering: what is recognised, and that a lowered form always does what the interpreter does.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/dif/dif.h"
#include "engine/program/program.h"
}

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak::engine_test;

namespace {

/// A loaded program with one DIFO.
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
    dbk_predicate predicate() const {
        dbk_predicate result;
        dbk_predicate_lower(difo, &result);
        return result;
    }
};

/// The way compilers write a comparison as a value.
Difo comparison(uint32_t var, uint32_t op, uint64_t constant, bool swapped = false) {
    return {{ldgs(var, 1), setx(0, 2), swapped ? cmp(2, 1) : cmp(1, 2), branch(op, 6), mov(0, 3),
             branch(DIF_OP_BA, 7), setx(1, 3), ret(3)},
            int_type(4),
            {constant, 1}};
}

Difo is_execname(const std::string& literal, uint32_t op) {
    return {{ldgs(DIF_VAR_EXECNAME, 1), sets(0, 2), DIF_INSTR_FMT(DIF_OP_SCMP, 1, 2, 0),
             branch(op, 6), mov(0, 3), ret(3), setx(0, 3), ret(3)},
            int_type(4),
            {1},
            literal + '\0'};
}

const uint32_t kConditions[] = {DIF_OP_BE,   DIF_OP_BNE, DIF_OP_BG,  DIF_OP_BGU, DIF_OP_BGE,
                                DIF_OP_BGEU, DIF_OP_BL,  DIF_OP_BLU, DIF_OP_BLE, DIF_OP_BLEU};

/// Fires test:::go of a program with this predicate; whether it recorded.
bool holds(const Difo& predicate, bool interpreted, const std::vector<uint64_t>& args) {
    Difo d = predicate;
    if (interpreted) {
        // An addition of zero to the result, and no symbol follows it.
        uint32_t end = static_cast<uint32_t>(d.code.size()) - 1;
        uint32_t reg = DIF_INSTR_RD(d.code[end]);
        for (auto& word : d.code)
            if (DIF_INSTR_OP(word) == DIF_OP_RET)
                word = branch(DIF_OP_BA, end);
        d.code[end] = op3(DIF_OP_ADD, reg, 0, 7);
        d.code.push_back(ret(7));
    }
    std::string name(host.execname);
    Engine engine;
    std::strcpy(host.execname, name.c_str());
    auto& go = engine.probe("test", "m", "f", "go", 2);
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 1 << 15);
    dof.ecb("test:::go", {}, dof.difo(d));
    auto* consumer = engine.start(dof.build());
    engine.fire(go, args);
    return !records(consumer).empty();
}

} // namespace

TEST_CASE("plain expressions are recognised", "[engine][lower]") {
    CHECK(One({{ldgs(DIF_VAR_ARG0, 1), ret(1)}}).difo->expr.kind == DBK_EXPR_ARG);
    CHECK(One({{ldgs(DIF_VAR_ARG9, 1), nop(), mov(1, 2), ret(2)}}).difo->expr.operand == 9);
    CHECK(One({{ldgs(DIF_VAR_PID, 1), ret(1)}}).difo->expr.kind == DBK_EXPR_VARIABLE);
    CHECK(One({{setx(0, 1), ret(1)}, int_type(), {5}}).difo->expr.constant == 5);
    CHECK(One({{ret(0)}}).difo->expr.kind == DBK_EXPR_CONST);
    CHECK(One({{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()}).difo->expr.kind ==
          DBK_EXPR_NAME);
    CHECK(One({{ldgs(DIF_VAR_PROBEFUNC, 1), ret(1)}, string_type()}).difo->expr.kind ==
          DBK_EXPR_NAME);
}

TEST_CASE("everything else stays interpreted", "[engine][lower]") {
    auto kind = [](const Difo& d) { return One(d).difo->expr.kind; };
    CHECK(kind({{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}}) == DBK_EXPR_DIF); // an address as a number
    CHECK(kind({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, string_type()}) == DBK_EXPR_DIF);
    CHECK(kind({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, bytes_type(8)}) == DBK_EXPR_DIF);
    CHECK(kind({{ldgs(DIF_VAR_ARG0, 1), op3(DIF_OP_ADD, 1, 1, 1), ret(1)}}) == DBK_EXPR_DIF);
    CHECK(kind(comparison(DIF_VAR_ARG0, DIF_OP_BE, 1)) == DBK_EXPR_DIF);
    CHECK(kind({{sets(0, 1), ret(1)}, string_type(), {}, {"x", 2}}) == DBK_EXPR_DIF);
}

TEST_CASE("plain predicates are recognised", "[engine][lower]") {
    CHECK(One(comparison(DIF_VAR_ARG0, DIF_OP_BE, 7)).predicate().kind == DBK_PREDICATE_EQUAL_ARG);
    CHECK(One(comparison(DIF_VAR_PID, DIF_OP_BE, 7)).predicate().kind == DBK_PREDICATE_EQUAL_PID);
    CHECK(One(comparison(DIF_VAR_TID, DIF_OP_BE, 7)).predicate().kind == DBK_PREDICATE_OUTCOME);
    CHECK(One(comparison(DIF_VAR_ARG0, DIF_OP_BNE, 7)).predicate().kind == DBK_PREDICATE_OUTCOME);
    CHECK(One(is_execname("bash", DIF_OP_BE)).predicate().kind == DBK_PREDICATE_EXECNAME);
    CHECK(One(is_execname("bash", DIF_OP_BNE)).predicate().inverted);
    CHECK(One(is_execname("bash", DIF_OP_BG)).predicate().kind == DBK_PREDICATE_EXPR);
    CHECK(One(is_execname(std::string(15, 'x'), DIF_OP_BE)).predicate().kind ==
          DBK_PREDICATE_EXECNAME);
    CHECK(One(is_execname(std::string(16, 'x'), DIF_OP_BE)).predicate().kind == DBK_PREDICATE_EXPR);
    CHECK(One({{ldgs(DIF_VAR_ARG0, 1), ret(1)}}).predicate().simple);
    CHECK_FALSE(One({{ldgs(DIF_VAR_ERRNO, 1), ret(1)}}).predicate().simple);
    dbk_predicate none;
    dbk_predicate_lower(nullptr, &none);
    CHECK(none.kind == DBK_PREDICATE_NONE);
}

TEST_CASE("lowered comparisons hold when the interpreter says so", "[engine][lower][property]") {
    const uint64_t edges[] = {0, 1, 5, ~0ull, 1ull << 63, (1ull << 63) - 1};
    host = HostState{};
    for (uint32_t op : kConditions) {
        for (uint64_t constant : {5ull, 1ull << 63, ~0ull}) {
            for (uint64_t value : edges) {
                for (bool swapped : {false, true}) {
                    Difo d = comparison(DIF_VAR_ARG0, op, constant, swapped);
                    INFO("op " << op << " constant " << constant << " value " << value);
                    CHECK(holds(d, false, {value}) == holds(d, true, {value}));
                }
            }
        }
        // An argument that only the host knows, and built-ins.
        for (uint32_t var : {DIF_VAR_ARG3, DIF_VAR_PID, DIF_VAR_UID, DIF_VAR_ERRNO, DIF_VAR_CPU})
            for (uint64_t constant : {0ull, 100ull, 9003ull})
                CHECK(holds(comparison(var, op, constant), false, {1}) ==
                      holds(comparison(var, op, constant), true, {1}));
    }
}

TEST_CASE("lowered names hold when the interpreter says so", "[engine][lower][property]") {
    host = HostState{};
    for (const char* name : {"", "bash", "bas", "bashx", "Bash", "xxxxxxxxxxxxxxx"}) {
        std::strcpy(host.execname, name);
        for (const char* literal : {"", "bash", "xxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxx"}) {
            for (uint32_t op : {DIF_OP_BE, DIF_OP_BNE, DIF_OP_BL, DIF_OP_BG}) {
                Difo d = is_execname(literal, op);
                INFO(name << " and " << literal);
                CHECK(holds(d, false, {}) == holds(d, true, {}));
            }
        }
    }
    SECTION("bytes after the NUL do not count") {
        std::memcpy(host.execname, "bash\0rest......", 16);
        CHECK(holds(is_execname("bash", DIF_OP_BE), false, {}));
    }
}

TEST_CASE("random programs of branches and constants", "[engine][lower][property]") {
    auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    host = HostState{};
    int lowered = 0;
    for (int round = 0; round < 300; round++) {
        Difo d;
        d.integers = {0, 1, 5};
        const uint32_t length = 4 + random() % 10;
        auto reg = [&] { return static_cast<uint32_t>(1 + random() % 4); };
        for (uint32_t pc = 0; pc < length; pc++) {
            switch (random() % 6) {
            case 0:
                d.code.push_back(setx(static_cast<uint32_t>(random() % 3), reg()));
                break;
            case 1:
                d.code.push_back(mov(reg(), reg()));
                break;
            case 2:
                d.code.push_back(cmp(reg(), reg()));
                break;
            case 3:
                d.code.push_back(tst(reg()));
                break;
            case 4:
                d.code.push_back(ldgs(DIF_VAR_ARG0, reg()));
                break;
            default:
                d.code.push_back(branch(kConditions[random() % 10],
                                        pc + 1 + static_cast<uint32_t>(random() % (length - pc))));
            }
        }
        d.code.push_back(ret(reg()));
        // A branch on codes that nothing set is the one thing compilers do not write.
        d.code.insert(d.code.begin(), tst(0));
        for (auto& word : d.code)
            if (DIF_INSTR_OP(word) >= DIF_OP_BA && DIF_INSTR_OP(word) <= DIF_OP_BLEU)
                word++;
        lowered += One(d).predicate().kind != DBK_PREDICATE_EXPR;
        for (uint64_t value : {0ull, 1ull, 5ull, ~0ull})
            CHECK(holds(d, false, {value}) == holds(d, true, {value}));
    }
    CHECK(lowered > 0);
}

TEST_CASE("a native translation takes an expression's place", "[engine][lower]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    uint32_t section = dof.difo({{ldgs(DIF_VAR_ARG0, 1), op3(DIF_OP_ADD, 1, 1, 2), ret(2)}});
    dof.ecb("test:::go", {Action{DTRACEACT_DIFEXPR, section}});
    Loaded loaded = load(dof.build());
    REQUIRE(loaded.error == 0);
    dbk_difo* difo = loaded.program->difos[section];
    difo->expr.kind = DBK_EXPR_NATIVE;
    difo->expr.native = [](dbk_cpu* cpu, const dbk_difo* interpreted) {
        return dbk_dif_exec(cpu, interpreted) + 1;
    };
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;
    dbk_consumer_config config{"test", 1, true, false, 0};
    REQUIRE(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) == 0);
    uint32_t matched;
    REQUIRE(dbk_consumer_enable(consumer, &reason, &matched) == 0);
    REQUIRE(dbk_consumer_start(consumer) == 0);
    engine.fire(go, {21});
    CHECK(records(consumer).at(0).u64(8) == 43);
    dbk_consumer_destroy(consumer);
}
