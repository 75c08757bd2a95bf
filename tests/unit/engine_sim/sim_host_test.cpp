// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/sim_host.hpp"
#include "engine/sim/sim_kernel.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::sim;

namespace {

dbk_probedesc describe(const char* provider, const char* module, const char* function,
                       const char* name) {
    return {provider, module, function, name, 0};
}

std::unique_ptr<SimHost> make_host(BareHostConfig config = {}) {
    auto host = SimHost::create(config);
    REQUIRE(host.ok());
    return std::move(host).value();
}

} // namespace

TEST_CASE("a bare host makes nothing up", "[sim_host]") {
    auto made = BareHost::create({.cpu_count = 2, .still_clock = true});
    REQUIRE(made.ok());
    BareHost& host = **made;
    auto whole = make_host();
    uint64_t value = 0;
    uint64_t variable = whole->symbol("nr_cpu_ids");
    REQUIRE(variable != 0);
    CHECK(whole->load(&value, variable, 4));
    CHECK_FALSE(host.load(&value, variable, 4));
    CHECK_FALSE(host.load(&value, host.symbol("nr_cpu_ids"), 4));
    CHECK(whole->curthread() != 0);
    CHECK(host.curthread() == 0);
    CHECK(whole->user_register(3, value));
    CHECK_FALSE(host.user_register(3, value));
    CHECK(whole->vtimestamp() != 0);
    CHECK(host.vtimestamp() == 0);
    CHECK(whole->layout().has_locks);
    CHECK_FALSE(host.layout().has_locks);
    CHECK_FALSE(whole->own_site().kernel_stack.empty());
    CHECK(host.own_site().kernel_stack.empty());
    CHECK(host.kernel_text_start() == 0);
}

TEST_CASE("a host starts with the engine's three probes", "[sim][host]") {
    auto host = make_host();
    CHECK(dbk_engine_probe_count(host->engine()) == 3);
    CHECK(host->allocations_alive() > 0);
}

TEST_CASE("a CPU count out of bounds is an error", "[sim][host]") {
    CHECK_FALSE(SimHost::create({.cpu_count = 0}).ok());
    CHECK_FALSE(SimHost::create({.cpu_count = DBK_CPUS_MAX + 1}).ok());
    CHECK(SimHost::create({.cpu_count = 2}).ok());
}

TEST_CASE("named timers are made once and only when they can be", "[sim][host]") {
    auto host = make_host();
    CHECK(host->make_named(describe("profile", "", "", "tick-1s")).ok());
    CHECK(host->make_named(describe("", "", "", "tick-1s")).ok());
    CHECK(dbk_engine_probe_count(host->engine()) == 4);
    CHECK(host->make_named(describe("", "", "", "profile-97")).ok());
    CHECK(dbk_engine_probe_count(host->engine()) == 5);
    for (auto description :
         {describe("profile", "", "x", "tick-1s"), describe("syscall", "", "", "tick-1s"),
          describe("", "", "", "tick-1ns"), describe("", "", "", "tick-*")})
        CHECK(host->make_named(description).ok());
    CHECK(dbk_engine_probe_count(host->engine()) == 5);
}

TEST_CASE("a compiler can ask what a simulation will have", "[sim][host]") {
    CHECK(probe_can_exist(describe("dtrace", "", "", "BEGIN")));
    CHECK(probe_can_exist(describe("", "", "", "E*")));
    CHECK(probe_can_exist(describe("", "", "", "tick-1s")));
    CHECK(probe_can_exist(describe("prof*", "", "", "profile-1001")));
    CHECK_FALSE(probe_can_exist(describe("", "", "", "tick-1ns")));
    CHECK_FALSE(probe_can_exist(describe("syscall", "", "read", "entry")));
    const SimProbeName synthetic[] = {{"syscall", "vmlinux", "read", "entry"}};
    CHECK(probe_can_exist(describe("syscall", "", "r*", "entry"), synthetic));
}

TEST_CASE("probes come and go, and keep their names readable", "[sim][host]") {
    auto host = make_host();
    auto probe = host->add_probe({"syscall", "vmlinux", "read", "entry"}, 6);
    REQUIRE(probe.ok());
    char name[16];
    uint64_t address = reinterpret_cast<uintptr_t>((*probe)->probe.function);
    CHECK(host->kernel_memory().load_string(name, address, sizeof(name)) == 4);
    CHECK_FALSE(
        host->add_probe({std::string(DBK_PROBE_NAME_BYTES_MAX + 1, 'x'), "", "", "y"}, 0).ok());
    CHECK_FALSE(
        host->add_probe({"", "", std::string(DBK_PROBE_NAME_BYTES_MAX + 1, 'x'), "y"}, 0).ok());
    CHECK(host->add_probe({"", "", std::string(DBK_PROBE_NAME_BYTES_MAX, 'x'), "y"}, 0).ok());
    const std::string most(DBK_PROBE_NAME_BYTES_MAX, 'x');
    CHECK(host->add_probe({most, most, most, most}, 0).ok());
    CHECK(host->add_probe({std::string(DBK_PROBE_NAME_BYTES_MAX, 'x'), "", "", "y"}, 0).ok());
    host->remove_probe(*probe);
    CHECK(host->kernel_memory().load_string(name, address, sizeof(name)) == -1);
    CHECK(dbk_engine_probe_count(host->engine()) == 6);
}

TEST_CASE("the simulated kernel's stacks have symbols", "[sim][kernel]") {
    auto symbols = kernel_symbols();
    for (auto stack : {syscall_stack(), timer_stack()})
        for (uint64_t pc : stack) {
            auto found = symbols.find(pc);
            REQUIRE(found);
            CHECK(found->offset_bytes > 0);
            CHECK(found->offset_bytes < 0x400);
        }
    CHECK(symbols.find(syscall_stack()[0])->module == "dtrace");
    CHECK(symbols.find(timer_stack()[1])->name == "__hrtimer_run_queues");
}
