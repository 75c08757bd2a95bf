// SPDX-License-Identifier: Apache-2.0
//
// Lowering: what is recognised, and that a lowered form always does what the interpreter does.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/load/program.h"
#include "engine/run/dif.h"
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
    const dbk_predicate& predicate() const { return difo->predicate; }
    One(const One&) = delete;
    One& operator=(const One&) = delete;
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

struct Term {
    uint32_t var;
    uint32_t op;
    uint64_t constant;
};

/// Comparisons joined by &&, or with @p any by ||, as compilers write them.
Difo joined(const std::vector<Term>& terms, bool any) {
    Difo d{{}, int_type(4), {1}};
    const auto end = static_cast<uint32_t>(terms.size() * (any ? 4 : 5));
    for (const Term& term : terms) {
        d.code.push_back(ldgs(term.var, 1));
        d.code.push_back(setx(static_cast<uint32_t>(d.integers.size()), 2));
        d.code.push_back(cmp(1, 2));
        d.integers.push_back(term.constant);
        const auto next = static_cast<uint32_t>(d.code.size()) + 2;
        d.code.push_back(branch(term.op, any ? end + 2 : next));
        if (!any)
            d.code.push_back(branch(DIF_OP_BA, end + 2));
    }
    d.code.push_back(any ? mov(0, 3) : setx(0, 3));
    d.code.push_back(ret(3));
    d.code.push_back(any ? setx(0, 3) : mov(0, 3));
    d.code.push_back(ret(3));
    return d;
}

/// The same result by instructions that no symbol follows: it is inverted twice.
Difo interpreted(Difo d) {
    const auto end = static_cast<uint32_t>(d.code.size()) - 1;
    const uint32_t reg = DIF_INSTR_RD(d.code[end]);
    for (auto& word : d.code)
        if (DIF_INSTR_OP(word) == DIF_OP_RET)
            word = branch(DIF_OP_BA, end);
    d.code[end] = op3(DIF_OP_NOT, reg, 0, 7);
    d.code.push_back(op3(DIF_OP_NOT, 7, 0, 7));
    d.code.push_back(ret(7));
    return d;
}

/// What test:::go of a program that traces this expression records.
uint64_t value(const Difo& d, const std::vector<uint64_t>& args) {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go", 2);
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 1 << 15);
    dof.ecb("test:::go", {dof.trace(d)});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, args);
    return records(consumer).at(0).u64(8);
}

/// Fires test:::go of a program with this predicate; whether it recorded.
bool holds(const Difo& predicate, bool by_interpreter, const std::vector<uint64_t>& args) {
    const Difo d = by_interpreter ? interpreted(predicate) : predicate;
    std::string name(host.execname);
    Engine engine;
    std::strcpy(host.execname, name.c_str());
    auto& go = engine.probe("test", "m", "f", "go", 2);
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 1 << 15);
    dof.option(DTRACEOPT_DYNVARSIZE, 1 << 14);
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
    const One literal({{sets(2, 1), ret(1)}, string_type(), {}, {"x\0yz", 5}});
    CHECK(literal.difo->expr.kind == DBK_EXPR_LITERAL);
    CHECK(literal.difo->expr.operand == 2);
    CHECK(std::string(literal.difo->expr.text) == "yz");
}

TEST_CASE("everything else stays interpreted", "[engine][lower]") {
    auto kind = [](const Difo& d) { return One(d).difo->expr.kind; };
    CHECK(kind({{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}}) == DBK_EXPR_DIF); // an address as a number
    CHECK(kind({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, string_type()}) == DBK_EXPR_DIF);
    CHECK(kind({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, bytes_type(8)}) == DBK_EXPR_DIF);
    CHECK(kind({{ldgs(DIF_VAR_PPID, 1), op3(DIF_OP_ADD, 1, 1, 1), ret(1)}}) == DBK_EXPR_DIF);
    CHECK(kind({{ldgs(DIF_VAR_ARG0, 1), op3(DIF_OP_UDIV, 1, 1, 1), ret(1)}}) == DBK_EXPR_DIF);
    CHECK(kind({{ldgs(DIF_VAR_ARG0, 1), op3(DIF_OP_ADD, 1, 1, 1), op3(DIF_OP_ADD, 1, 1, 1),
                 ret(1)}}) == DBK_EXPR_DIF); // three operands
    CHECK(kind({{ldgs(DIF_VAR_ARG0, 1), setx(0, 2), op3(DIF_OP_SUB, 2, 1, 1), ret(1)},
                int_type(),
                {5}}) == DBK_EXPR_DIF); // 5 - arg0
    CHECK(kind(comparison(DIF_VAR_ARG0, DIF_OP_BE, 1)) == DBK_EXPR_DIF);
    CHECK(kind({{sets(0, 1), ret(1)}, int_type(), {}, {"x", 2}}) == DBK_EXPR_DIF);
    CHECK(kind({{ldgs(DIF_VAR_USTACKDEPTH, 1), sets(0, 1), ret(1)}, string_type(), {}, {"x", 2}}) == DBK_EXPR_DIF); // it may fault
    const std::string longest(DBK_SIMPLE_TEXT_MAX, 'x');
    CHECK(kind({{sets(0, 1), ret(1)}, string_type(), {}, longest + '\0'}) == DBK_EXPR_LITERAL);
    CHECK(kind({{sets(0, 1), ret(1)}, string_type(), {}, longest + "x" + '\0'}) == DBK_EXPR_DIF);
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
    // The address of a string beside a number: only the interpreter has it.
    Difo literal = comparison(DIF_VAR_EXECNAME, DIF_OP_BE, 7);
    CHECK(One(literal).predicate().left.kind == DBK_EXPR_DIF);
    CHECK_FALSE(holds(literal, false, {}));
    literal.code[0] = sets(0, 1);
    literal.strings = std::string("x", 2);
    CHECK(One(literal).predicate().left.kind == DBK_EXPR_DIF);
    CHECK_FALSE(holds(literal, false, {}));
}

TEST_CASE("two values put together are recognised", "[engine][lower]") {
    One sum({{ldgs(DIF_VAR_ARG0, 1), ldgs(DIF_VAR_UID, 2), op3(DIF_OP_ADD, 1, 2, 3), ret(3)}});
    CHECK(sum.difo->expr.kind == DBK_EXPR_BINARY);
    CHECK(sum.predicate().early);
    One since({{ldgs(DIF_VAR_TIMESTAMP, 1), ldgs(DIF_VAR_ARG0, 2), op3(DIF_OP_SUB, 1, 2, 3),
                setx(0, 4), cmp(3, 4), branch(DIF_OP_BG, 8), mov(0, 5), ret(5), setx(0, 5), ret(5)},
               int_type(4),
               {1000}});
    CHECK(since.predicate().kind == DBK_PREDICATE_OUTCOME);
    CHECK(since.predicate().left.kind == DBK_EXPR_BINARY);
    CHECK(since.predicate().simple);
    CHECK_FALSE(since.predicate().early); // the clock is read once a firing
}

TEST_CASE("what is divided by a constant is what the interpreter says", "[engine][lower][property]") {
    host = HostState{};
    const uint64_t divisors[] = {1, 2, 3, 1000, 0xffffffff, 0x100000000, 0, ~0ull, 1ull << 63};
    const std::vector<uint32_t> dividends[] = {
        {ldgs(DIF_VAR_ARG0, 1)},
        {ldgs(DIF_VAR_PID, 1)},
        {ldgs(DIF_VAR_TIMESTAMP, 1), ldgs(DIF_VAR_ARG0, 2), op3(DIF_OP_SUB, 1, 2, 1)}};
    for (uint32_t op : {DIF_OP_SDIV, DIF_OP_UDIV, DIF_OP_SREM, DIF_OP_UREM})
        for (uint64_t divisor : divisors)
            for (const std::vector<uint32_t>& dividend : dividends) {
                Difo d{dividend, int_type(), {divisor}};
                d.code.insert(d.code.end(), {setx(0, 3), op3(op, 1, 3, 4), ret(4)});
                INFO("op " << op << " by " << divisor << " of " << dividend.size());
                const bool fits = divisor != 0 && divisor <= UINT32_MAX;
                CHECK(One(d).difo->expr.kind == (fits ? DBK_EXPR_DIVIDED : DBK_EXPR_DIF));
                for (uint64_t arg : {0ull, 1ull, 12345ull, 1ull << 63, ~0ull}) // by 0 nothing is recorded
                    CHECK((divisor == 0 || value(d, {arg}) == value(interpreted(d), {arg})));
            }
    Difo predicate{{ldgs(DIF_VAR_ARG0, 1), setx(0, 2), op3(DIF_OP_UDIV, 1, 2, 1), ret(1)}, int_type(), {2}};
    CHECK(One(predicate).predicate().simple);
    CHECK_FALSE(One(predicate).predicate().early);
}

TEST_CASE("two values put together are what the interpreter says", "[engine][lower][property]") {
    const uint32_t ops[] = {DIF_OP_ADD, DIF_OP_SUB, DIF_OP_AND, DIF_OP_OR, DIF_OP_XOR,
                            DIF_OP_SLL, DIF_OP_SRL, DIF_OP_SRA, DIF_OP_MUL};
    const uint32_t vars[] = {DIF_VAR_ARG0, DIF_VAR_ARG1, DIF_VAR_ARG3,      DIF_VAR_PID,
                             DIF_VAR_UID,  DIF_VAR_CPU,  DIF_VAR_TIMESTAMP, DIF_VAR_CURTHREAD};
    host = HostState{};
    for (uint32_t op : ops)
        for (uint32_t left : vars) {
            for (uint32_t right : vars) {
                Difo d{{ldgs(left, 1), ldgs(right, 2), op3(op, 1, 2, 3), ret(3)}};
                INFO("op " << op << " of " << left << " and " << right);
                CHECK(One(d).difo->expr.kind == DBK_EXPR_BINARY);
                CHECK(value(d, {~0ull, 67}) == value(interpreted(d), {~0ull, 67}));
            }
            for (bool swapped : {false, true}) {
                Difo d{{ldgs(left, 1), setx(0, 2), swapped ? op3(op, 2, 1, 3) : op3(op, 1, 2, 3),
                        ret(3)},
                       int_type(),
                       {0x8000000000000041}};
                INFO("op " << op << " of " << left << " and a constant, " << swapped);
                CHECK(value(d, {5, 6}) == value(interpreted(d), {5, 6}));
            }
        }
    Difo constants{{setx(0, 1), setx(1, 2), op3(DIF_OP_SUB, 1, 2, 3), ret(3)}, int_type(), {7, 9}};
    CHECK(One(constants).difo->expr.kind == DBK_EXPR_CONST);
    CHECK(value(constants, {}) == ~0ull - 1);
}

TEST_CASE("joined comparisons hold when the interpreter says so", "[engine][lower][property]") {
    auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t vars[] = {DIF_VAR_ARG0, DIF_VAR_ARG1, DIF_VAR_ARG3, DIF_VAR_UID, DIF_VAR_CPU};
    const uint64_t edges[] = {0, 1, 5, ~0ull, 1ull << 63};
    host = HostState{};
    for (int round = 0; round < 200; round++) {
        std::vector<Term> terms;
        for (size_t count = 2 + random() % 3; terms.size() < count;)
            terms.push_back({vars[random() % 5], kConditions[random() % 10], edges[random() % 5]});
        const bool any = random() % 2 != 0;
        const Difo d = joined(terms, any);
        CHECK(One(interpreted(d)).predicate().kind == DBK_PREDICATE_EXPR);
        for (uint64_t a : edges)
            for (uint64_t b : edges)
                CHECK(holds(d, false, {a, b}) == holds(d, true, {a, b}));
    }
}

TEST_CASE("joined comparisons are recognised, as far as they are simple", "[engine][lower]") {
    const Term a{DIF_VAR_ARG0, DIF_OP_BE, 1}, b{DIF_VAR_UID, DIF_OP_BG, 2},
        c{DIF_VAR_ARG1, DIF_OP_BNE, 3}, d{DIF_VAR_TID, DIF_OP_BL, 4};
    for (bool any : {false, true}) {
        One two(joined({a, b}, any));
        CHECK(two.predicate().kind == DBK_PREDICATE_ALL);
        CHECK(two.predicate().early);
        CHECK(two.predicate().inverted == any);
        CHECK(One(joined({a, b, c}, any)).predicate().term_count == 3);
        CHECK(One(joined({a, b, a}, any)).predicate().term_count == 2);
        CHECK(One(joined({a, b, c, d}, any)).predicate().kind == DBK_PREDICATE_EXPR);
        One timed(joined({a, {DIF_VAR_TIMESTAMP, DIF_OP_BG, 9}}, any));
        CHECK(timed.predicate().simple);
        CHECK_FALSE(timed.predicate().early);
        CHECK(One(joined({a, {DIF_VAR_ERRNO, DIF_OP_BE, 2}}, any)).predicate().kind ==
              DBK_PREDICATE_EXPR);
    }
    // a && b || c: neither all of them nor any.
    Difo mixed = joined({a, b}, false);
    mixed.code[11] = ret(3);
    mixed.code[12] = ldgs(DIF_VAR_ARG1, 1);
    mixed.code[13] = setx(1, 2);
    for (uint32_t word : {cmp(1, 2), branch(DIF_OP_BE, 18), mov(0, 3), ret(3), setx(0, 3), ret(3)})
        mixed.code.push_back(word);
    CHECK(One(mixed).predicate().kind == DBK_PREDICATE_EXPR);
    host = HostState{};
    for (uint64_t arg0 : {0, 1})
        for (uint64_t arg1 : {0, 1})
            CHECK(holds(mixed, false, {arg0, arg1}) == holds(mixed, true, {arg0, arg1}));
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
            switch (random() % 7) {
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
                d.code.push_back(ldgs(random() % 2 ? DIF_VAR_ARG0 : DIF_VAR_ARG1, reg()));
                break;
            case 5:
                d.code.push_back(op3(random() % 2 ? DIF_OP_ADD : DIF_OP_SUB, reg(), reg(), reg()));
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
            for (uint64_t other : {0ull, 5ull, 1ull << 63})
                CHECK(holds(d, false, {value, other}) == holds(d, true, {value, other}));
    }
    CHECK(lowered > 0);
}

namespace {

/// copyinstr(variable); by the interpreter when something is compared as well.
Difo copied(bool by_interpreter, uint32_t var = DIF_VAR_ARG0) {
    Difo d{{ldgs(var, 1), flushts(), setx(0, 2), push_value(1), call(DIF_SUBR_COPYINSTR, 1), ret(1)},
           string_type(),
           {8}};
    if (by_interpreter)
        d.code.insert(d.code.begin() + 1, tst(1));
    return d;
}

/// All that a program records of copyinstr() and of its faults, and its drops.
struct Copies {
    Engine engine;
    dbk_probe& go = engine.probe("test", "m", "f", "go", 2);
    dbk_consumer* consumer = nullptr;

    Copies(bool by_interpreter, uint32_t strsize, uint32_t strings, uint32_t lacks) {
        Dof dof;
        dof.option(DTRACEOPT_STRSIZE, strsize);
        // Long strings run out of scratch memory, the others of a segment's room.
        dof.option(DTRACEOPT_BUFSIZE, 1 << 20);
        dof.option(DBK_OPT_SEGMENTSIZE, strsize == 8000 ? 1 << 17 : 1 << 14);
        auto arg = [](uint32_t i) { return Difo{{ldgs(DIF_VAR_ARG0 + i, 1), ret(1)}}; };
        dof.ecb("dtrace:::ERROR", {dof.trace(arg(1)), dof.trace(arg(2)), dof.trace(arg(3)),
                                   dof.trace(arg(4)), dof.trace(arg(5))});
        std::vector<Action> actions{dof.trace(arg(0))};
        for (uint32_t i = 0; i < strings; i++)
            actions.push_back(dof.trace(copied(by_interpreter)));
        dof.ecb("test:::go", actions);
        Loaded loaded = load(dof.build());
        INFO(loaded.reason);
        REQUIRE(loaded.error == 0);
        dbk_program_restrict(loaded.program, lacks);
        dbk_reason reason{};
        dbk_consumer_config config{"test", 1, true, false, 0};
        uint32_t matched;
        REQUIRE(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) == 0);
        REQUIRE(dbk_consumer_enable(consumer, &reason, &matched) == 0);
        REQUIRE(dbk_consumer_start(consumer) == 0);
    }
    ~Copies() { dbk_consumer_destroy(consumer); }
    /// The fault's instruction is one further on where there is the comparison.
    std::vector<std::string> said(bool by_interpreter) const {
        std::vector<std::string> lines;
        for (const auto& record : records(consumer)) {
            std::string line = std::to_string(record.epid) + " ";
            if (record.epid == 1) {
                for (size_t at = 8; at < 48; at += 8) {
                    const uint64_t value = record.u64(at);
                    const bool moved = by_interpreter && at == 24 && value + 1 > 1;
                    line += std::to_string(moved ? value - 4 : value) + " ";
                }
            } else {
                line.append(record.bytes.begin() + 8, record.bytes.end());
            }
            lines.push_back(line);
        }
        for (uint32_t cause = 0; cause < 4; cause++)
            lines.push_back(std::to_string(drops(consumer, cause)));
        return lines;
    }
};

} // namespace

TEST_CASE("strings of the process that are recorded at once are recognised", "[engine][lower]") {
    CHECK(One(copied(false)).difo->expr.kind == DBK_EXPR_COPYINSTR);
    CHECK(One(copied(false)).difo->expr.operand == 4);
    CHECK(One(copied(false)).difo->stored.kind == DBK_EXPR_ARG);
    CHECK(One(copied(false)).predicate().left.kind == DBK_EXPR_DIF);
    CHECK(One(copied(true)).difo->expr.kind == DBK_EXPR_DIF);
    CHECK(One(copied(false, DIF_VAR_ERRNO)).difo->expr.kind == DBK_EXPR_DIF);
    Difo sized = copied(false);
    sized.code.insert(sized.code.begin() + 4, push_value(2));
    CHECK(One(sized).difo->expr.kind == DBK_EXPR_DIF);
}

TEST_CASE("strings of the process are what the interpreter records", "[engine][lower][property]") {
    const uint32_t strsize = GENERATE(2u, 8u, 256u, 1000u, 8000u), strings = GENERATE(1u, 3u, 40u);
    const uint32_t lacks = GENERATE(0u, uint32_t{DBK_LACKS_PROC});
    std::vector<std::string> said[2];
    for (bool by_interpreter : {false, true}) {
        Copies copies(by_interpreter, strsize, strings, lacks);
        for (uint64_t length : {0, 1, 7, 8, 9, 255, 256, 257, 600, 5000, 9000})
            host.user_memory[0x100000 * (1 + length)] = std::string(length, 'a') + '\0';
        for (int round = 0; round < 4; round++)
            for (uint64_t length : {0, 1, 7, 8, 9, 255, 256, 257, 600, 5000, 9000, 4711})
                copies.engine.fire(copies.go, {0x100000 * (1 + length)});
        said[by_interpreter] = copies.said(by_interpreter);
    }
    INFO("strsize " << strsize << ", " << strings << " strings, lacks " << lacks);
    CHECK(said[0] == said[1]);
    CHECK(said[0].size() > 4);
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
