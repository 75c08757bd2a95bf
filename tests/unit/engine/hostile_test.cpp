// SPDX-License-Identifier: Apache-2.0
//
// What a hostile program may not reach when it runs: memory that is not its own, privileges that
// its owner lacks; and names that end nowhere.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/lowered.h"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

/// %r2: `alloc_bytes` of scratch; %r4: that and `offset`.
std::vector<uint32_t> scratch_and(std::vector<uint32_t> rest) {
    std::vector<uint32_t> code{setx(0, 1), load(DIF_OP_ALLOCS, 1, 2), setx(1, 3),
                               op3(DIF_OP_ADD, 2, 3, 4)};
    code.insert(code.end(), rest.begin(), rest.end());
    return code;
}

/// Runs one DIFO with what its owner lacks.
Outcome run_lacking(const Difo& difo, uint32_t lacks) {
    HostState before = host;
    Engine engine;
    host.user_memory = before.user_memory;
    auto& probe = engine.probe("test", "mod", "func", "entry");
    Dof dof;
    dof.ecb("test:::entry", {dof.trace(difo)});
    Loaded loaded = load(dof.build());
    REQUIRE(loaded.error == 0);
    dbk_program_restrict(loaded.program, lacks);
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;
    dbk_consumer_config config{"test", 1, false, false, 0};
    REQUIRE(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) == 0);
    uint32_t matched = 0;
    REQUIRE(dbk_consumer_enable(consumer, &reason, &matched) == 0);
    REQUIRE(dbk_consumer_start(consumer) == 0);
    engine.fire(probe);
    Outcome outcome;
    auto all = records(consumer);
    if (!all.empty())
        outcome.record = all.front();
    outcome.errors = dbk_consumer_counters(consumer, 0)->errors;
    dbk_consumer_destroy(consumer);
    return outcome;
}

} // namespace

TEST_CASE("copys, bcopy() and copyinto() write nowhere but into D's own memory",
          "[engine][hostile]") {
    alignas(8) char victim[16] = "untouched";
    auto address = reinterpret_cast<uint64_t>(victim);
    host.user_memory[0x2000] = std::string(16, 'u');
    auto outcome = run({scratch_and({setx(2, 5), op3(DIF_OP_COPYS, 2, 1, 5), ret(0)}),
                        int_type(),
                        {8, 0, address}});
    CHECK(outcome.errors == 1);
    outcome = run({scratch_and({setx(2, 5), push_value(2), push_value(5), push_value(1),
                                call(DIF_SUBR_BCOPY, 6), ret(0)}),
                   int_type(),
                   {8, 0, address}});
    CHECK(outcome.errors == 1);
    outcome = run({{setx(0, 1), setx(1, 2), setx(2, 3), push_value(1), push_value(2), push_value(3),
                    call(DIF_SUBR_COPYINTO, 6), ret(0)},
                   int_type(),
                   {0x2000, 8, address}});
    CHECK(outcome.errors == 1);
    CHECK(std::string(victim) == "untouched");
    // The end of the scratch memory is an end for each of them as well.
    for (uint64_t beyond : {0u, 1u}) {
        outcome = run({scratch_and({op3(DIF_OP_COPYS, 2, 1, 4), ret(0)}),
                       int_type(),
                       {8, DBK_SCRATCH_BYTES - 8 + beyond}});
        CHECK(outcome.errors == beyond);
    }
}

TEST_CASE("a load that begins in D's memory does not run over its end", "[engine][hostile]") {
    auto at = [](uint64_t offset) {
        return run({scratch_and({load(DIF_OP_LDX, 4, 5), ret(5)}), int_type(), {8, offset}});
    };
    CHECK(at(DBK_SCRATCH_BYTES - 8).errors == 0);
    for (uint64_t beyond : {1u, 4u, 7u})
        CHECK(at(DBK_SCRATCH_BYTES - 8 + beyond).errors == 1);
    // A variable at the end of the globals, recorded with more bytes than it has.
    auto blob = [](uint32_t bytes) {
        return run({{ldgs(kVar, 1), ret(1)},
                    bytes_type(bytes),
                    {},
                    "",
                    {variable(kVar, DIFV_SCOPE_GLOBAL, bytes_type(24))}});
    };
    CHECK(blob(24).errors == 0);
    CHECK(blob(32).errors == 1);
}

TEST_CASE("loads from the process need the privilege", "[engine][hostile]") {
    host = HostState{};
    host.user_memory[0x2000] = std::string(8, '\1');
    for (uint32_t op : {DIF_OP_ULDSB, DIF_OP_ULDSH, DIF_OP_ULDSW, DIF_OP_ULDUB, DIF_OP_ULDUH,
                        DIF_OP_ULDUW, DIF_OP_ULDX}) {
        Difo d{{setx(0, 1), load(op, 1, 2), ret(2)}, int_type(), {0x2000}};
        CHECK(run_lacking(d, 0).errors == 0);
        CHECK(run_lacking(d, DBK_LACKS_PROC).errors == 1);
        CHECK_FALSE(run_lacking(d, DBK_LACKS_PROC).record);
    }
}

TEST_CASE("args[] after the last argument is the kernel's stack", "[engine][hostile]") {
    auto element = [](uint64_t index, uint32_t lacks) {
        return run_lacking({{setx(0, 1), DIF_INSTR_FMT(DIF_OP_LDGA, DIF_VAR_ARGS, 1, 2), ret(2)},
                            int_type(),
                            {index}},
                           lacks);
    };
    CHECK(element(DBK_PROBE_ARGS_MAX - 1, DBK_LACKS_KERNEL).errors == 0);
    CHECK(element(DBK_PROBE_ARGS_MAX, 0).errors == 0);
    CHECK(element(DBK_PROBE_ARGS_MAX, DBK_LACKS_KERNEL).errors == 1);
}

TEST_CASE("copyinstr() of no bytes is the empty string", "[engine][hostile]") {
    host = HostState{};
    host.user_memory[0x2000] = std::string("text\0", 5);
    auto of = [](uint64_t size) {
        return run({{setx(0, 1), push_value(1), setx(1, 2), push_value(2),
                     call(DIF_SUBR_COPYINSTR, 3), ret(3)},
                    string_type(),
                    {0x2000, size}})
            .text();
    };
    CHECK(of(0).empty());
    CHECK(of(1).empty());
    CHECK(of(3) == "te");
    CHECK(of(5) == "text");
}

TEST_CASE("a name that ends nowhere, or lies past its table, is refused", "[engine][hostile]") {
    auto reason = [](const std::string& table, uint32_t offset) {
        Dof dof;
        dof_probedesc desc{};
        desc.strtab = dof.section(DOF_SECT_STRTAB, table.data(), table.size(), 1, 0);
        desc.provider = desc.module = desc.function = 0;
        desc.name = offset;
        dof_ecbdesc ecb{};
        ecb.probes = dof.section(DOF_SECT_PROBEDESC, &desc, sizeof(desc), 4, sizeof(desc));
        ecb.actions = ecb.predicate = DOF_SECIDX_NONE;
        dof.section(DOF_SECT_ECBDESC, &ecb, sizeof(ecb), 8, 0);
        Loaded loaded = load(dof.build());
        dbk_program_destroy(loaded.program);
        return loaded.reason;
    };
    const std::string good("\0name\0", 6), open("\0name", 5);
    CHECK(reason(good, 1).empty());
    CHECK(reason(good, 5).empty());
    CHECK(reason(good, 6).find("not a string of its table") != std::string::npos);
    CHECK(reason(open, 1).find("not a string of its table") != std::string::npos);
    CHECK(reason("", 0).find("not a string of its table") != std::string::npos);
}

TEST_CASE("a host that found more frames than there is room for gets its room",
          "[engine][hostile]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {{DTRACEACT_STACK, DOF_SECIDX_NONE, 4}});
    auto* consumer = engine.start(dof.build());
    host.stack.assign(9, 0x1234);
    host.frames_more = 5;
    engine.fire(go);
    engine.fire(go);
    auto all = records(consumer);
    REQUIRE(all.size() == 2);
    CHECK(all[0].tail(12).size() == 4 * 8);
    CHECK(all[1].bytes.size() == all[0].bytes.size());
}
