// SPDX-License-Identifier: Apache-2.0
//
// capture(): stored as trace() stores it, on the same tier, and refused where it cannot be a value.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/types/internal.h"
}

#include <catch2/catch.hpp>
#include <functional>

using namespace daybreak::engine_test;

namespace {

Difo execname() {
    return {{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()};
}

std::string refusal(const std::function<std::vector<Action>(Dof&)>& actions) {
    Dof dof;
    dof.ecb("test:::go", actions(dof));
    Loaded loaded = load(dof.build());
    dbk_program_destroy(loaded.program);
    return loaded.reason;
}

} // namespace

TEST_CASE("capture() stores what trace() stores, as fast", "[engine][capture]") {
    Engine engine(1);
    auto &traced = engine.probe("test", "m", "f", "traced", 5),
         &captured = engine.probe("test", "m", "f", "captured", 5);
    Dof dof;
    auto clause = [&](const char* probe, uint32_t value, uint32_t stack, uint32_t ustack, bool stacks) {
        std::vector<Action> list = {{value, dof.difo(arg(0))},
                                    {value, dof.difo(arg(1, 4))},
                                    {value, dof.difo(execname())}};
        if (stacks) {
            list.push_back({stack, DOF_SECIDX_NONE, 3});
            list.push_back({ustack, DOF_SECIDX_NONE, 2});
        }
        dof.ecb(probe, list);
    };
    const bool stacks = GENERATE(false, true);
    clause("test:::traced", DTRACEACT_DIFEXPR, DTRACEACT_STACK, DTRACEACT_USTACK, stacks);
    clause("test:::captured", DBK_ACT_CAPTURE, DBK_ACT_CAPTURE_STACK, DBK_ACT_CAPTURE_USTACK, stacks);
    auto* consumer = engine.start(dof.build());
    engine.fire(traced, {0x1122334455667788, 7});
    engine.fire(captured, {0x1122334455667788, 7});
    auto all = records(consumer);
    REQUIRE(all.size() == 2);
    CHECK(all[0].bytes.size() > 24);
    CHECK(std::vector(all[0].bytes.begin() + 8, all[0].bytes.end()) ==
          std::vector(all[1].bytes.begin() + 8, all[1].bytes.end()));
    CHECK(captured.ecbs->tier == traced.ecbs->tier);
    CHECK((captured.ecbs->tier == DBK_TIER_GENERAL) == stacks);
}

TEST_CASE("records of nothing but captured arguments are made the shortest way", "[engine][capture]") {
    Engine engine(1);
    auto& go = engine.probe("test", "m", "f", "go", 5);
    Dof dof;
    dof.ecb("test:::go", {{DBK_ACT_CAPTURE, dof.difo(arg(0))}, {DBK_ACT_CAPTURE, dof.difo(arg(1))}});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {1, 2});
    CHECK(go.ecbs->tier == DBK_TIER_ARGUMENTS);
    REQUIRE(records(consumer).size() == 1);
    CHECK(records(consumer)[0].u64(16) == 2);
}

TEST_CASE("capture() of what a replay could not use is refused", "[engine][capture]") {
    CHECK(refusal([](Dof& dof) { return std::vector<Action>{{DBK_ACT_CAPTURE, dof.difo(arg(0))}}; }).empty());
    CHECK(refusal([](Dof&) { return std::vector<Action>{{DBK_ACT_CAPTURE_STACK, DOF_SECIDX_NONE, 5}}; }).empty());
    CHECK(refusal([](Dof&) { return std::vector<Action>{{DBK_ACT_CAPTURE}}; }).find("capture(): has no expression") !=
          std::string::npos);
    CHECK(refusal([](Dof& dof) {
              Difo effect = arg(0);
              effect.type = no_type();
              return std::vector<Action>{{DBK_ACT_CAPTURE, dof.difo(effect)}};
          }).find("capture(): its argument is not an integer") != std::string::npos);
    CHECK(refusal([](Dof&) {
              return std::vector<Action>{{DBK_ACT_CAPTURE_USTACK, DOF_SECIDX_NONE, 1000000}};
          }).find("frames are stored") != std::string::npos);
    // 0x4405 is the next one: what an engine of before capture() says of 0x4402.
    CHECK(refusal([](Dof& dof) { return std::vector<Action>{{0x4405, dof.difo(arg(0))}}; })
              .find("kind 0x4405 does not exist") != std::string::npos);
}

TEST_CASE("a captured value is not a member of a key", "[engine][capture]") {
    std::string reason = refusal([](Dof& dof) {
        auto list = dof.aggregate(1, DTRACEAGG_COUNT, {arg(0)});
        list[1].kind = DBK_ACT_CAPTURE;
        return list;
    });
    CHECK(reason.find("capture(): cannot be a member of a key") != std::string::npos);
}

TEST_CASE("capture() belongs to the speculation, as trace() does", "[engine][capture][spec]") {
    Engine engine(1);
    auto &ask = engine.probe("test", "m", "f", "ask"), &spec = engine.probe("test", "m", "f", "spec"),
         &commit = engine.probe("test", "m", "f", "commit");
    Dof dof;
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    dof.ecb("test:::spec", {{DTRACEACT_SPECULATE, dof.difo(arg(0))}, {DBK_ACT_CAPTURE, dof.difo(arg(1))}});
    dof.ecb("test:::commit", {{DTRACEACT_COMMIT, dof.difo(arg(0))}});
    auto* consumer = engine.start(dof.build());
    engine.fire(ask);
    engine.fire(spec, {1, 42});
    CHECK(records(consumer).size() == 1);
    engine.fire(commit, {1});
    auto all = records(consumer);
    REQUIRE(all.size() == 2);
    CHECK(all[1].u64(8) == 42);
    std::string reason = refusal([](Dof& of) {
        return std::vector<Action>{{DBK_ACT_CAPTURE, of.difo(arg(1))}, {DTRACEACT_SPECULATE, of.difo(arg(0))}};
    });
    CHECK(reason.find("comes after another speculate(), a commit() or a record") != std::string::npos);
}
