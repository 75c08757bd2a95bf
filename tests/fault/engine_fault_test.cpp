// SPDX-License-Identifier: Apache-2.0
//
// Whichever allocation fails, the engine says so, keeps what it had, and leaks nothing: SimHost
// aborts when it is destroyed with memory still in use, and ASan sees the rest.
#include "engine/sim/sim_host.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/support/sim_programs.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::sim;
using test::ProgramBuilder;

namespace {

/// A program that needs every kind of memory: strings, variables, aggregations, stacks, ERROR.
Bytes demanding_program() {
    ProgramBuilder b;
    b.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    b.option(DTRACEOPT_BUFSIZE, 64 << 10);
    b.option(DTRACEOPT_AGGSIZE, 64 << 10);
    b.option(DTRACEOPT_DYNVARSIZE, 64 << 10);
    b.aggregation_name("a");
    // self->x = 1
    size_t store = b.instructions({DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
                                   DIF_INSTR_INDEX(DIF_OP_STTS, DIF_VAR_OTHER_UBASE, 1),
                                   DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)},
                                  {1}, 0);
    b.program().difos[store].strings = std::string("\0x\0", 3);
    b.program().difos[store].variables = {{"x",
                                           DIF_VAR_OTHER_UBASE,
                                           DIFV_KIND_SCALAR,
                                           DIFV_SCOPE_THREAD,
                                           DIFV_F_MOD,
                                           {DIF_TYPE_CTF, DIF_CK_INTEGER, 0, 0, 8}}};
    b.clause("BEGIN", {b.trace(store)});
    b.clause("profile:::tick-1ms",
             b.aggregate(DTRACEAGG_QUANTIZE, 1, {b.string_variable(DIF_VAR_EXECNAME)},
                         b.variable(DIF_VAR_TIMESTAMP)));
    b.clause("profile:::profile-2ms", {b.stack(4), b.trace(b.text("text"))});
    b.clause("ERROR", {b.trace(b.variable(DIF_VAR_ARG4))});
    b.clause("dtrace:::", {b.trace(b.variable(DIF_VAR_ID))});
    return b.dof();
}

SimulationOptions short_run() {
    SimulationOptions options;
    options.time_limit_ns = 20'000'000;
    return options;
}

/// Runs with the n-th allocation refused.  Returns whether all went well all the same.
bool run_with_failure(const Bytes& dof, uint64_t n, bool ever_after, uint64_t& allocations) {
    auto host =
        SimHost::create({.cpu_count = 2}, {.alloc_at = n, .alloc_ever_after = ever_after});
    if (!host.ok()) {
        CHECK(host.error().code() == ErrorCode::limit);
        return false;
    }
    auto simulation = Simulation::load(**host, dof, short_run());
    allocations = (*host)->allocations();
    if (!simulation.ok()) {
        CHECK_FALSE(simulation.error().message().empty());
        return false;
    }
    // What was made in spite of it works.
    auto end = (*simulation)->run();
    CHECK(end.ok());
    auto recording = (*simulation)->recording();
    CHECK(recording.findings.count() == 0);
    CHECK(recording.rings.size() == 1);
    return true;
}

void fail_each(bool ever_after) {
    Bytes dof = demanding_program();
    uint64_t allocations = 0;
    REQUIRE(run_with_failure(dof, 0, false, allocations));
    REQUIRE(allocations > 20);
    uint64_t refused = 0;
    for (uint64_t n = 1; n <= allocations; n++) {
        INFO("allocation " << n << " of " << allocations);
        uint64_t unused = 0;
        refused += run_with_failure(dof, n, ever_after, unused) ? 0 : 1;
    }
    std::printf("%s: %llu allocations, %llu failures were fatal to the consumer\n",
                ever_after ? "no memory from n on" : "the n-th refused",
                static_cast<unsigned long long>(allocations),
                static_cast<unsigned long long>(refused));
    CHECK(refused > allocations / 4);
}

} // namespace

TEST_CASE("any one allocation may fail", "[fault][alloc]") {
    fail_each(false);
}

TEST_CASE("memory may end at any allocation", "[fault][alloc]") {
    fail_each(true);
}

TEST_CASE("a failed load leaves the host as it was", "[fault][alloc]") {
    Bytes dof = demanding_program();
    auto host = SimHost::create({.cpu_count = 2});
    REQUIRE(host.ok());
    { // makes the probes that the program names
        auto simulation = Simulation::load(**host, dof, short_run());
        REQUIRE(simulation.ok());
    }
    uint64_t alive = (*host)->allocations_alive();
    for (uint64_t n = 1; n < 60; n++) {
        INFO("allocation " << n);
        (*host)->set_faults({.alloc_at = n});
        auto simulation = Simulation::load(**host, dof, short_run());
        if (!simulation.ok())
            CHECK((*host)->allocations_alive() == alive);
    }
    (*host)->set_faults({});
    auto simulation = Simulation::load(**host, dof, short_run());
    REQUIRE(simulation.ok());
    CHECK((*simulation)->run().ok());
}

TEST_CASE("a probe that cannot be enabled is an error with a reason", "[fault][enable]") {
    Bytes dof = demanding_program();
    for (uint64_t n = 1; n < 10; n++) {
        INFO("probe " << n);
        auto host = SimHost::create({.cpu_count = 1});
        REQUIRE(host.ok());
        (*host)->set_faults({.enable_at = n});
        auto simulation = Simulation::load(**host, dof, short_run());
        if (!simulation.ok())
            CHECK_FALSE(simulation.error().message().empty());
        else
            CHECK((*simulation)->run().ok());
    }
}

TEST_CASE("a probe that arrives when memory is short is still published", "[fault][probe]") {
    ProgramBuilder b;
    b.clause("test:::late", {b.trace(b.variable(DIF_VAR_ARG0))});
    Bytes dof = b.dof();
    for (uint64_t n = 1; n < 6; n++) {
        auto host = SimHost::create({});
        REQUIRE(host.ok());
        auto simulation = Simulation::load(**host, dof);
        REQUIRE(simulation.ok());
        REQUIRE((*simulation)->start().ok());
        (*host)->set_faults({.alloc_at = n});
        auto probe = (*host)->add_probe({"test", "", "", "late"}, 1);
        if (!probe.ok())
            CHECK(dbk_engine_probe_count((*host)->engine()) == 4);
        (*simulation)->finish();
    }
}

TEST_CASE("loads that fault leave whole records only", "[fault][load]") {
    ProgramBuilder b;
    constexpr uint64_t kAddress = 0xffff888000200000;
    // With ppid it is a general clause: another one that faults is run once more.
    b.clause("profile:::tick-1ms", {b.trace(b.variable(DIF_VAR_PPID)), b.trace(b.load(kAddress)),
                                    b.trace(b.load(kAddress)), b.trace(b.load(kAddress))});
    auto host = SimHost::create({});
    REQUIRE(host.ok());
    (*host)->kernel_memory().map_string(kAddress, "whole!!");
    auto simulation = Simulation::load(**host, b.dof(), short_run());
    REQUIRE(simulation.ok());
    (*host)->set_faults({.load_every = 4});
    REQUIRE((*simulation)->run().ok());
    auto recording = (*simulation)->recording();
    auto whole = recording.rings[0].completeness();
    CHECK(whole.errors > 0);
    CHECK(whole.present > 0);
    CHECK(whole.present + whole.errors == 20);
    CHECK(recording.findings.count() == 0);
}
