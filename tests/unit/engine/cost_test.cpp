// SPDX-License-Identifier: Apache-2.0
//
// Which clauses may take long: found in what was verified.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/lowered.h"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

/// Whether the clause is heavy, as the second of three on other probes.
bool is_heavy(Dof& dof, const std::vector<Action>& actions, uint32_t predicate = DOF_SECIDX_NONE) {
    dof.ecb("test:::before", {});
    dof.ecb("test:::go", actions, predicate);
    dof.ecb("test:::after", {});
    Loaded loaded = load(dof.build());
    INFO(loaded.reason);
    REQUIRE(loaded.error == 0);
    uint32_t found = 0, heavy = 0;
    dbk_probedesc description;
    for (uint32_t i = 0; dbk_program_probedesc(loaded.program, i, &description); i++) {
        bool is_go = std::string(description.name) == "go";
        found += is_go;
        heavy += dbk_program_probedesc_is_heavy(loaded.program, i);
        CHECK((is_go || !dbk_program_probedesc_is_heavy(loaded.program, i)));
    }
    CHECK(found == 1);
    CHECK_FALSE(dbk_program_probedesc_is_heavy(loaded.program, 99));
    dbk_program_destroy(loaded.program);
    return heavy != 0;
}

bool is_heavy(const Difo& difo) {
    Dof traced, asked, counted;
    bool heavy = is_heavy(traced, {traced.trace(difo)});
    if (difo.type.flags == 0)
        CHECK(is_heavy(asked, {}, asked.difo(difo)) == heavy);
    CHECK(is_heavy(counted, counted.aggregate(1, DTRACEAGG_COUNT, {difo})) == heavy);
    return heavy;
}

bool action_is_heavy(uint32_t kind) {
    Dof dof;
    return is_heavy(dof, {{kind, DOF_SECIDX_NONE, 5, 0, 1}});
}

} // namespace

TEST_CASE("stacks are heavy", "[engine][cost]") {
    CHECK(action_is_heavy(DTRACEACT_STACK));
    CHECK(action_is_heavy(DTRACEACT_USTACK));
    CHECK(action_is_heavy(DTRACEACT_JSTACK));
    for (uint32_t var : {DIF_VAR_STACKDEPTH, DIF_VAR_USTACKDEPTH, DIF_VAR_UCALLER})
        CHECK(is_heavy({{ldgs(var, 1), ret(1)}}));
}

TEST_CASE("what the engine has at hand is not heavy", "[engine][cost]") {
    for (uint32_t var : {DIF_VAR_PID, DIF_VAR_ARG0, DIF_VAR_CALLER, DIF_VAR_TIMESTAMP, DIF_VAR_CURTHREAD})
        CHECK_FALSE(is_heavy({{ldgs(var, 1), ret(1)}}));
    CHECK_FALSE(is_heavy({{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()}));
    CHECK_FALSE(is_heavy({{call(DIF_SUBR_RAND, 1), ret(1)}}));
}

TEST_CASE("memory that may not be there is heavy, a task's is not", "[engine][cost]") {
    auto member_of = [](uint32_t var) {
        return Difo{{ldgs(var, 1), setx(0, 2), op3(DIF_OP_ADD, 1, 2, 1), load(DIF_OP_LDX, 1, 3), mov(3, 4),
                     op3(DIF_OP_ADD, 2, 4, 5), load(DIF_OP_LDUW, 5, 6), ret(6)},
                    int_type(),
                    {64}};
    };
    CHECK(is_heavy(member_of(DIF_VAR_ARG0)));
    CHECK(is_heavy(member_of(DIF_VAR_TIMESTAMP)));
    CHECK_FALSE(is_heavy(member_of(DIF_VAR_CURTHREAD)));
    // The register holds something else by then, or may do so.
    CHECK(is_heavy({{ldgs(DIF_VAR_CURTHREAD, 1), setx(0, 1), load(DIF_OP_LDX, 1, 2), ret(2)}, int_type(), {64}}));
    CHECK(is_heavy({{ldgs(DIF_VAR_CURTHREAD, 1), op3(DIF_OP_SUB, 1, 1, 1), load(DIF_OP_LDX, 1, 2), ret(2)}}));
    // Two ways lead to the load.
    auto either = [](uint32_t first, uint32_t second) {
        return Difo{{ldgs(DIF_VAR_ARG1, 2), tst(2), branch(DIF_OP_BE, 5), ldgs(first, 1), branch(DIF_OP_BA, 6),
                     ldgs(second, 1), load(DIF_OP_LDX, 1, 2), ret(2)}};
    };
    CHECK(is_heavy(either(DIF_VAR_ARG0, DIF_VAR_CURTHREAD)));
    CHECK(is_heavy(either(DIF_VAR_CURTHREAD, DIF_VAR_ARG0)));
    CHECK_FALSE(is_heavy(either(DIF_VAR_CURTHREAD, DIF_VAR_CURTHREAD)));
    CHECK_FALSE(is_heavy({{ldgs(DIF_VAR_CURTHREAD, 1), tst(1), branch(DIF_OP_BE, 4), nop(), load(DIF_OP_LDX, 1, 2),
                           ret(2)}}));
    CHECK(is_heavy({{ldgs(DIF_VAR_CURTHREAD, 1), load(DIF_OP_ULDX, 1, 2), ret(2)}}));
    // Only one way leads to the load: not that of the instruction before it.
    for (uint32_t away : {branch(DIF_OP_BA, 6), ret(1)})
        CHECK_FALSE(is_heavy({{ldgs(DIF_VAR_CURTHREAD, 1), tst(1), branch(DIF_OP_BE, 5), ldgs(DIF_VAR_ARG0, 1), away,
                               load(DIF_OP_LDX, 1, 2), ret(2)}}));
}

TEST_CASE("subroutines that read where an argument leads are heavy", "[engine][cost]") {
    CHECK(is_heavy({{ldgs(DIF_VAR_ARG0, 1), push_value(1), call(DIF_SUBR_COPYINSTR, 2), ret(2)}, string_type()}));
    CHECK(is_heavy({{ldgs(DIF_VAR_ARG0, 1), push_string(1), call(DIF_SUBR_STRLEN, 2), ret(2)}}));
    CHECK(is_heavy({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, string_type()}));
    CHECK_FALSE(is_heavy({{ldgs(DIF_VAR_EXECNAME, 1), push_string(1), call(DIF_SUBR_STRLEN, 2), ret(2)}}));
    CHECK_FALSE(is_heavy({{ldgs(DIF_VAR_ARG0, 1), push_value(1), call(DIF_SUBR_LLTOSTR, 2), ret(2)}, string_type()}));
    CHECK(is_heavy({{ldgs(DIF_VAR_ARG0, 1), push_value(1), call(DIF_SUBR_MUTEX_OWNER, 2), ret(2)}}));
    CHECK(is_heavy({{setx(0, 1), DIF_INSTR_FMT(DIF_OP_LDGA, DIF_VAR_ARGS, 1, 1), push_value(1), call(DIF_SUBR_MUTEX_OWNER, 2), ret(2)}, int_type(), {0}}));
    CHECK_FALSE(is_heavy({{ldgs(DIF_VAR_CURTHREAD, 1), push_value(1), call(DIF_SUBR_MUTEX_OWNER, 2), ret(2)}}));
}

TEST_CASE("what is copied or compared is read, the engine's own memory is at hand", "[engine][cost]") {
    auto copied = [](uint32_t from) {
        return Difo{{from, setx(0, 2), op3(DIF_OP_ALLOCS, 2, 0, 3), op3(DIF_OP_COPYS, 1, 2, 3),
                     load(DIF_OP_LDUB, 3, 4), ret(4)},
                    int_type(),
                    {8}};
    };
    CHECK(is_heavy(copied(ldgs(DIF_VAR_ARG0, 1))));
    CHECK_FALSE(is_heavy(copied(ldgs(DIF_VAR_CURTHREAD, 1))));
    for (auto [a, b] : {std::pair{DIF_VAR_ARG0, DIF_VAR_EXECNAME}, {DIF_VAR_EXECNAME, DIF_VAR_ARG0}})
        CHECK(is_heavy({{ldgs(a, 1), ldgs(b, 2), op3(DIF_OP_SCMP, 1, 2, 0), ret(0)}}));
}

TEST_CASE("what was kept in a variable leads as far as what it was", "[engine][cost]") {
    constexpr uint32_t kNumber = DIF_VAR_OTHER_UBASE, kText = kNumber + 1;
    for (auto [fetch, store, scope, kind] :
         {std::tuple{DIF_OP_LDLS, DIF_OP_STLS, DIFV_SCOPE_LOCAL, DIFV_KIND_SCALAR},
          {DIF_OP_LDGS, DIF_OP_STGS, DIFV_SCOPE_GLOBAL, DIFV_KIND_SCALAR},
          {DIF_OP_LDTS, DIF_OP_STTS, DIFV_SCOPE_THREAD, DIFV_KIND_SCALAR},
          {DIF_OP_LDGAA, DIF_OP_STGAA, DIFV_SCOPE_GLOBAL, DIFV_KIND_ARRAY},
          {DIF_OP_LDTAA, DIF_OP_STTAA, DIFV_SCOPE_THREAD, DIFV_KIND_ARRAY}}) {
        auto with = [scope = uint8_t(scope), kind = uint8_t(kind)](std::vector<uint32_t> code,
                                                                   dif_type type = int_type()) {
            return Difo{std::move(code), type, {}, std::string("x", 2),
                        {variable(kNumber, scope, int_type(), kind), variable(kText, scope, string_type(), kind)}};
        };
        uint32_t number = var_op(fetch, kNumber, 1), text = var_op(fetch, kText, 1);
        CHECK(is_heavy(with({number, ret(1)}, string_type()))); // trace(stringof(x))
        CHECK(is_heavy(with({number, load(DIF_OP_LDUB, 1, 2), ret(2)})));
        CHECK(is_heavy(with({number, push_string(1), call(DIF_SUBR_STRLEN, 2), ret(2)})));
        CHECK(is_heavy(with({number, push_value(1), call(DIF_SUBR_MUTEX_OWNER, 2), ret(2)})));
        CHECK(is_heavy(with({number, sets(0, 2), op3(DIF_OP_SCMP, 1, 2, 0), ret(0)})));
        CHECK(is_heavy(with({ldgs(DIF_VAR_ARG0, 1), var_op(store, kText, 1), ret(0)})));
        CHECK_FALSE(is_heavy(with({number, ret(1)})));
        CHECK_FALSE(is_heavy(with({text, ret(1)}, string_type())));
        CHECK_FALSE(is_heavy(with({text, push_string(1), call(DIF_SUBR_STRLEN, 2), ret(2)})));
        CHECK_FALSE(is_heavy(with({text, sets(0, 2), op3(DIF_OP_SCMP, 1, 2, 0), ret(0)})));
        CHECK_FALSE(is_heavy(with({ldgs(DIF_VAR_EXECNAME, 1), var_op(store, kText, 1), ret(0)})));
        CHECK_FALSE(is_heavy(with({ldgs(DIF_VAR_ARG0, 1), var_op(store, kNumber, 1), ret(0)})));
    }
}

TEST_CASE("an object that many clauses have is looked at once", "[engine][cost]") {
    // Each time would be four billion steps.
    constexpr uint32_t kClauses = 60000;
    Engine engine;
    Dof dof;
    Difo idle{std::vector<uint32_t>(DBK_INSNS_MAX - 1, nop())};
    idle.code.push_back(ret(0));
    auto probe = dof.probe("test:::none"), predicate = dof.difo(idle);
    auto actions = dof.actions({dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}})});
    for (uint32_t i = 0; i < kClauses; i++) {
        dof_ecbdesc desc{};
        desc.probes = probe;
        desc.actions = actions;
        desc.predicate = predicate;
        dof.section(DOF_SECT_ECBDESC, &desc, sizeof(desc), 8, 0);
    }
    CHECK(dbk_consumer_activity(engine.start(dof.build())) == DBK_ACTIVITY_ACTIVE);
}
