// SPDX-License-Identifier: Apache-2.0
//
// Native programs: translated to C, compiled and bound, they leave what the interpreter leaves
#include "engine/translate/library.hpp"
#include "engine/translate/translate.hpp"
#include "engine/translate/expressions.hpp"
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak;
using namespace daybreak::engine_test;

extern "C" void dbk_fire(dbk_probe* probe, const uint64_t* args, void* frame); // engine/run/fire.h

namespace {

std::vector<dif_var_entry> variables() {
    return {variable(kVar, DIFV_SCOPE_GLOBAL), variable(kVar + 1, DIFV_SCOPE_LOCAL),
            variable(kVar + 2, DIFV_SCOPE_THREAD)};
}

/// Clauses of everything that can be whole, and of some that cannot.
class Clauses {
public:
    uint32_t below(uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_); }
    uint64_t word() { return (random_() << 32 ^ random_()) >> below(64); }

    /// A few instructions on registers 1 to 3, which may skip some, divide by zero, store and load.
    Difo expression(dif_type type) {
        Difo difo{{}, type, {word(), 7}, "", variables()};
        auto& code = difo.code;
        code = {ldgs(DIF_VAR_ARG0 + below(6), 1), ldgs(kBuiltins[below(6)], 2), setx(below(2), 3)};
        for (uint32_t count = below(8); count > 0; count--) {
            const uint32_t a = 1 + below(3), b = 1 + below(3), to = 1 + below(3);
            switch (below(12)) {
            case 0: code.push_back(var_op(DIF_OP_STGS, kVar, a)); break;
            case 1: code.push_back(var_op(DIF_OP_LDGS, kVar, to)); break;
            case 2: code.push_back(var_op(DIF_OP_STLS, kVar + 1, a)); break;
            case 3: code.push_back(var_op(DIF_OP_LDLS, kVar + 1, to)); break;
            case 4: code.push_back(var_op(DIF_OP_LDTS, kVar + 2, to)); break;
            case 5:
                if (below(4) == 0) {
                    code.push_back(divide(a, b, to));
                } else { // by a constant, unless its setx is skipped
                    if (below(4) == 0)
                        code.insert(code.end(), {tst(a), branch(DIF_OP_BE, static_cast<uint32_t>(code.size()) + 3)});
                    code.insert(code.end(), {setx(below(2), below(4) == 0 ? to : b), divide(a, b, to)});
                }
                break;
            case 6:
            case 7:
                code.push_back(below(2) != 0 ? cmp(a, b) : tst(a));
                code.push_back(branch(kBranches[below(11)], static_cast<uint32_t>(code.size()) + 2));
                code.push_back(mov(b, to));
                break;
            case 8: code.push_back(below(2) != 0 ? op3(DIF_OP_NOT, a, 0, to) : push_value(a)); break;
            default: code.push_back(op3(kOperations[below(9)], a, b, to)); break;
            }
        }
        code.push_back(ret(1 + below(3)));
        return difo;
    }
    uint32_t divide(uint32_t a, uint32_t b, uint32_t to) {
        static constexpr uint32_t kOps[] = {DIF_OP_UDIV, DIF_OP_SDIV, DIF_OP_UREM, DIF_OP_SREM};
        return op3(kOps[below(4)], a, b, to);
    }
    /// By 7: what needs no interpreter.
    Difo quotient(dif_type type) {
        const uint32_t dividend = below(2) != 0 ? var_op(DIF_OP_LDTS, kVar + 2, 1) : ldgs(DIF_VAR_ARG0 + below(6), 1);
        Difo difo{{dividend, setx(0, 3), divide(1, 3, 1), ret(1)}, type, {7}, "", variables()};
        if (below(2) != 0)
            difo.code.insert(difo.code.begin() + 1, {ldgs(DIF_VAR_TIMESTAMP, 2), op3(DIF_OP_SUB, 2, 1, 1)});
        return difo;
    }
    Difo value() {
        const uint32_t bytes = 1u << below(4);
        if (below(3) == 0)
            return {{ldgs(DIF_VAR_ARG0 + below(6), 1), ret(1)}, int_type(bytes)};
        if (below(4) == 0)
            return quotient(int_type(bytes));
        return expression(int_type(bytes));
    }
    Difo text() {
        static constexpr uint32_t kNames[] = {DIF_VAR_EXECNAME, DIF_VAR_PROBEPROV, DIF_VAR_PROBEMOD,
                                              DIF_VAR_PROBEFUNC, DIF_VAR_PROBENAME};
        if (below(2) != 0)
            return {{ldgs(kNames[below(5)], 1), ret(1)}, string_type()};
        std::string characters;
        for (uint32_t count = below(40); count > 0; count--)
            characters += static_cast<char>(1 + below(255));
        return {{sets(0, 1), ret(1)}, string_type(), {}, characters + '\0'};
    }
    Action action(Dof& dof) {
        switch (below(8)) {
        case 7:
            return dof.trace(text());
        case 0: return dof.trace({{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()});
        case 1:
            return dof.trace({{ldgs(DIF_VAR_ARG0 + below(5), 1), var_op(DIF_OP_STTS, kVar + 2, 1), ret(1)},
                              no_type(),
                              {},
                              "",
                              variables()});
        case 2: return dof.trace(expression(no_type()));
        default: return dof.trace(value());
        }
    }
    std::vector<Action> actions(Dof& dof) {
        std::vector<Action> list;
        for (uint32_t count = below(5); count > 0; count--)
            list.push_back(action(dof));
        if (below(6) == 0) { // @ = count()
            list.push_back({DTRACEACT_DIFEXPR, dof.difo({{setx(0, 1), ret(1)}, int_type(4), {4}})});
            list.push_back({DTRACEAGG_COUNT, DOF_SECIDX_NONE, 0, 1});
        } else if (below(3) == 0) { // @[execname, value] = quantize(value)
            const uint32_t id = dof.difo({{setx(0, 1), ret(1)}, int_type(4), {1 + below(3)}});
            list.push_back({DTRACEACT_DIFEXPR, id});
            list.push_back(dof.trace(text()));
            list.push_back(dof.trace(value()));
            list.push_back({DTRACEAGG_QUANTIZE, dof.difo(expression(int_type())), 0, 3});
        }
        return list;
    }
    std::vector<uint8_t> program() {
        Dof dof;
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        dof.option(DTRACEOPT_BUFSIZE, 16384); // segments fill, and soon old bytes lie where records come
        dof.option(DTRACEOPT_DYNVARSIZE, 4096);
        dof.option(DTRACEOPT_STRSIZE, 16); // some literals, and the function, are longer
        for (uint32_t i = 0; i < kClauses; i++) {
            const std::string probe = "test:::p" + std::to_string(i % kProbes);
            const uint32_t predicate = below(2) == 0 ? DOF_SECIDX_NONE : dof.difo(expression(int_type()));
            dof.ecb(probe, actions(dof), predicate);
        }
        std::vector<Action> said;
        for (uint32_t i = 1; i <= 5; i++)
            said.push_back(dof.trace({{ldgs(DIF_VAR_ARG0 + i, 1), ret(1)}}));
        dof.ecb("dtrace:::ERROR", said);
        return dof.build();
    }

    static constexpr uint32_t kClauses = 60, kProbes = 35; // some are alone on theirs

private:
    static constexpr uint32_t kBuiltins[] = {DIF_VAR_PID, DIF_VAR_TIMESTAMP, DIF_VAR_CPU,
                                             DIF_VAR_UID, DIF_VAR_PPID,      DIF_VAR_ID};
    static constexpr uint32_t kBranches[] = {DIF_OP_BA, DIF_OP_BE,   DIF_OP_BNE, DIF_OP_BG,  DIF_OP_BGU, DIF_OP_BGE,
                                             DIF_OP_BGEU, DIF_OP_BL, DIF_OP_BLU, DIF_OP_BLE, DIF_OP_BLEU};
    static constexpr uint32_t kOperations[] = {DIF_OP_ADD, DIF_OP_SUB, DIF_OP_AND, DIF_OP_OR, DIF_OP_XOR,
                                               DIF_OP_SLL, DIF_OP_SRL, DIF_OP_SRA, DIF_OP_MUL};
    std::mt19937 random_{20261125};
};

/// What a run left: all bytes of its segments and cells, and what it counted.
struct Left {
    std::vector<std::vector<uint8_t>> records;
    std::vector<uint8_t> cells, counters;
    uint32_t whole = 0, expressions = 0;
};

using Bind = std::function<void(dbk_consumer*)>;

/// A program that does without the first of the engine's ways reads the clock less often: with @p still it stands during a firing.
Left run(const std::vector<uint8_t>& image, uint32_t aggregate, bool still, const Bind& bind) {
    Engine engine(1);
    const uint64_t step = host.tick_step;
    std::vector<dbk_probe*> probes;
    std::vector<std::string> names;
    for (uint32_t i = 0; i < Clauses::kProbes; i++)
        names.push_back("p" + std::to_string(i));
    for (const std::string& name : names) // clauses read up to six arguments: where fewer are at hand, they ask for them
        probes.push_back(&engine.probe("test", "module", "a_function_that_is_longer", name.c_str(), static_cast<uint8_t>(probes.size() % 9)));
    Loaded loaded = load(image);
    INFO(loaded.reason);
    REQUIRE(loaded.error == 0);
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;
    dbk_consumer_config config{"test", 1, true, true, aggregate};
    REQUIRE(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) == 0);
    bind(consumer);
    uint32_t matched;
    REQUIRE(dbk_consumer_enable(consumer, &reason, &matched) == 0);
    REQUIRE(dbk_consumer_start(consumer) == 0);
    std::mt19937 random(7);
    for (int i = 0; i < 3100; i++) {
        if (i == 3000) // what fires after it leaves nothing
            REQUIRE(dbk_consumer_stop(consumer) == 0);
        host.pid = random() % 50;
        host.execname[random() % 15] = static_cast<char>('a' + random() % 3);
        host.mono_ns += random() % 100;
        host.ticks += still ? step : 0;
        host.tick_step = still ? 0 : step;
        std::vector<uint64_t> args;
        for (int j = 0; j < 5; j++)
            args.push_back(random() >> random() % 32);
        engine.fire(*probes[random() % probes.size()], args);
    }
    Left left;
    for (dbk_probe* probe : probes)
        for (const dbk_ecb* ecb = probe->ecbs; ecb != nullptr; ecb = ecb->next) {
            left.whole += ecb->tier == DBK_TIER_NATIVE;
            left.expressions += ecb->plan->predicate.left.kind == DBK_EXPR_NATIVE;
        }
    for (const Record& record : records(consumer))
        left.records.push_back(record.bytes);
    const auto* counters = reinterpret_cast<const uint8_t*>(dbk_consumer_counters(consumer, 0));
    left.counters.assign(counters, counters + sizeof(dbk_meta_cpu));
    uint32_t bytes = 0;
    const void* cells = nullptr;
    if (dbk_consumer_agg_snapshot(consumer, 0, &bytes, &cells) == 0)
        left.cells.assign(static_cast<const uint8_t*>(cells), static_cast<const uint8_t*>(cells) + bytes);
    dbk_consumer_destroy(consumer);
    return left;
}

} // namespace

TEST_CASE("a native program leaves what the interpreted one does", "[engine][translate]") {
    Clauses clauses;
    const uint32_t aggregate = GENERATE(DBK_AGGREGATE_RECORD, DBK_AGGREGATE_ENGINE);
    const bool is_quick = GENERATE(true, false); // the clock
    const std::vector<uint8_t> image = clauses.program();
    std::unique_ptr<translate::Library> library;
    const Left interpreted = run(image, aggregate, !is_quick, [](dbk_consumer*) {});
    const Left native = run(image, aggregate, !is_quick, [&](dbk_consumer* consumer) {
        auto made = translate::translate(*consumer, {}, "test");
        const std::string clock = is_quick ? "" : "#define dbk_native_is_quick(ecb, args) false\n";
        auto built = translate::Library::build(translate::native_file_head() + clock + made.text, translate::Host::own,
                                               translate::Speed::quickly_run);
        REQUIRE(built.ok());
        library = std::move(*built);
        REQUIRE(dbk_consumer_bind(consumer, library->find("test")));
    });
    CHECK(interpreted.whole + interpreted.expressions == 0);
    CHECK(native.whole >= 10);
    CHECK(native.expressions >= 5);
    CHECK((native.counters == interpreted.counters)); // in brackets: not printed, which would take an hour
    CHECK((native.cells == interpreted.cells));
    REQUIRE(native.records.size() == interpreted.records.size());
    CHECK(native.records.size() > 100);
    for (size_t i = 0; i < native.records.size(); i++) {
        INFO("record " << i);
        REQUIRE((native.records[i] == interpreted.records[i]));
    }
}

namespace {

/// A program of one clause, and a table for it that is made by hand.
struct Handmade {
    static inline bool can; ///< what the clause's function returns
    // As for a clause more.
    static constexpr dbk_native_clause* clauses[2] = {
        [](dbk_cpu*, const dbk_ecb*, dbk_buffer*, const uint64_t*, void*) { return can; }};
    static constexpr dbk_native_firing* firings[2] = {
        [](dbk_probe* probe, const uint64_t* args, void* frame, const dbk_ecb*) {
            dbk_fire(probe, args, frame);
        }};
    Engine engine{1};
    dbk_probe& go = engine.probe("test", "m", "f", "go");
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;
    std::vector<dbk_native_value*> values;
    std::vector<uint8_t> part;
    dbk_native_program native{};

    Handmade() {
        Dof dof;
        dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_PID, 1), ret(1)}})});
        Loaded loaded = load(dof.build());
        REQUIRE(loaded.error == 0);
        dbk_consumer_config config{"test", 1, true, false, 0};
        REQUIRE(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) == 0);
        const dbk_native_part head{DBK_NATIVE_MAGIC, loaded.program->image_bytes, 1};
        values.resize(loaded.program->section_count);
        part.resize(sizeof(head) + 1 + head.dof_bytes);
        std::memcpy(part.data(), &head, sizeof(head));
        part[sizeof(head)] = DBK_NATIVE_WHOLE;
        std::memcpy(&part[sizeof(head) + 1], loaded.program->image, head.dof_bytes);
        native = {DBK_NATIVE_VERSION, reinterpret_cast<const dbk_native_part*>(part.data()),
                  0,                  consumer->aggregate,
                  consumer->counted,  values.data(),
                  clauses,            firings};
    }
    ~Handmade() { dbk_consumer_destroy(consumer); }
    bool binds() {
        const bool bound = dbk_consumer_bind(consumer, &native);
        CHECK((consumer->plans[0].native != nullptr) == bound);
        CHECK((consumer->plans[0].native_firing != nullptr) == bound);
        return bound;
    }
};

} // namespace

TEST_CASE("a clause that cannot be done natively now is interpreted", "[engine][translate]") {
    Handmade made;
    REQUIRE(made.binds());
    uint32_t matched;
    REQUIRE(dbk_consumer_enable(made.consumer, &made.reason, &matched) == 0);
    REQUIRE(dbk_consumer_start(made.consumer) == 0);
    CHECK(made.go.ecbs->tier == DBK_TIER_NATIVE);
    CHECK(ecb_info(made.consumer, 1)->ecb.flags == DBK_ECB_F_NATIVE);
    CHECK(dbk_native_count(&made.native, DBK_NATIVE_WHOLE) == 1);
    made.can = true;
    made.engine.fire(made.go);
    CHECK(records(made.consumer).empty());
    made.can = false;
    made.engine.fire(made.go);
    REQUIRE(records(made.consumer).size() == 1);
    CHECK(records(made.consumer)[0].u64(8) == host.pid);
    CHECK(dbk_consumer_counters(made.consumer, 0)->firings == 2);
}

TEST_CASE("what is of another program is not bound", "[engine][translate]") {
    Handmade made;
    const uint32_t which = GENERATE(range(0u, 6u));
    made.native.lacks += which == 0;
    made.native.aggregate += which == 1;
    made.native.counted ^= which == 2;
    made.part[offsetof(dbk_native_part, dof_bytes)] -= which == 3;
    made.part[offsetof(dbk_native_part, clause_count)] += which == 4;
    made.part.back() ^= which == 5;
    CHECK(dbk_native_is_whole(&made.native));
    CHECK(!made.binds());
}

TEST_CASE("what another daybreak translated is not bound", "[engine][translate]") {
    static dbk_native_clause* const no_clause[2] = {};
    static dbk_native_firing* const no_firing[2] = {};
    Handmade made;
    switch (GENERATE(range(0, 9))) {
    case 0: made.native.version = 0; break; // as one left it that did not know of versions
    case 1: made.native.version++; break;
    case 2: made.native.part = nullptr; break;
    case 3: made.part[offsetof(dbk_native_part, magic)]++; break;
    case 4: made.native.values = nullptr; break;
    case 5: made.native.clauses = nullptr; break;
    case 6: made.native.firings = nullptr; break;
    case 7: made.native.clauses = no_clause; break;
    case 8: made.native.firings = no_firing; break;
    }
    CHECK(!dbk_native_is_whole(&made.native));
    CHECK(!made.binds());
}

TEST_CASE("names cannot leave the comments that quote them", "[engine][translate]") {
    CHECK(translate::in_comment("f:*/ int x; /*") == "f:* / int x; / *");
    CHECK(translate::in_comment("**//") == "** //");
    CHECK(translate::in_comment("a\\\n?\?/\x01\xff") == "a..../..");
}

TEST_CASE("a whole clause says which lines of D its C came from", "[engine][translate]") {
    Engine engine(1);
    engine.probe("test", "", "", "go");
    Dof dof;
    const uint32_t asked =
        dof.difo({{ldgs(DIF_VAR_ARG0, 1), op3(DIF_OP_NOT, 1, 0, 1), ret(1)}}); // not simple
    const Action actions[] = {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}}),
                              dof.trace({{ldgs(DIF_VAR_PID, 1), ret(1)}}),
                              dof.trace({{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()})};
    dof.ecb("test:::go", {actions, actions + 3}, asked);
    formats::DofProgram source;
    source.target = formats::DofTarget{};
    source.target->main_file = "x.d";
    source.source =
        "test:::go\n/~arg0/\n{\n\ttrace(arg0); trace(pid);\n\ttrace(execname); /* the last */\n}\n";
    const uint32_t sections[] = {asked, actions[0].difo, actions[1].difo, actions[2].difo},
                   lines[] = {2, 4, 4, 5};
    for (size_t i = 0; i < 4; i++) {
        source.difos.emplace_back().section = sections[i];
        source.lines.push_back({i, 0, "x.d", lines[i], 1});
    }
    dbk_consumer* consumer = engine.created(dof.build());
    const translate::Translation made = translate::translate(*consumer, source, "test");
    dbk_consumer_destroy(consumer);
    CHECK(made.clauses.at(0).way == DBK_NATIVE_WHOLE);
    std::string rest = made.text.substr(made.text.find("test_clause_0_body"));
    for (const char* part :
         {"/* x.d:2: /~arg0/ */\n\tn->work",
          "/* x.d:4: trace(arg0); trace(pid); */\n\tdbk_native_word(record",
          "dbk_native_word(record",
          "/* x.d:5: trace(execname); / * the last * / */\n\tlength = dbk_native_execname("}) {
        const size_t at = rest.find(part);
        INFO(part << " in " << rest.substr(0, 800));
        REQUIRE(at != std::string::npos);
        rest.erase(0, at + std::string(part).size());
    }
    CHECK(rest.find("/* x.d") == std::string::npos); // a line is said once
}
