// SPDX-License-Identifier: Apache-2.0
#include "live/session/simulated_session.hpp"

#include "tests/support/sim_programs.hpp"
#include "tests/unit/live/session/session_fixture.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace daybreak;
using namespace daybreak::live;
using test::ProgramBuilder;

namespace {

constexpr uint64_t kMillisecondNs = 1'000'000;

std::unique_ptr<Session> open(const SimulatedSessionOptions& options,
                              test::SessionMachine& machine) {
    auto opened = open_simulated_session(options, machine.outside());
    REQUIRE(opened.ok());
    return std::move(*opened);
}

std::set<std::string> providers(Session& session) {
    std::set<std::string> found;
    const std::span<const SessionProbe> probes = session.probes().value();
    for (const SessionProbe& probe : probes)
        found.insert(probe.provider);
    return found;
}

/// A program that ends at its first tick of 10 ms.
base::Bytes ticking() {
    ProgramBuilder b;
    b.clause("profile:::tick-10ms", {b.exit(0)});
    return b.dof();
}

} // namespace

TEST_CASE("without processes only a machine that is made up has system calls", "[live][session]") {
    test::SessionMachine machine;
    auto real = open({}, machine);
    CHECK(real->is_simulated());
    CHECK(providers(*real) == std::set<std::string>{"dtrace", "profile"});
    auto made_up = open({.made_up = true}, machine);
    CHECK(providers(*made_up) == std::set<std::string>{"dtrace", "proc", "profile", "syscall"});
    CHECK(real->claim().error().code() == base::ErrorCode::not_found);
}

TEST_CASE("probes that only exist when they are named are made", "[live][session]") {
    test::SessionMachine machine;
    auto session = open({}, machine);
    size_t before = session->probes().value().size();
    REQUIRE(session->make_named({"profile", "", "", "profile-7"}).ok());
    REQUIRE(session->make_named({"no-such", "", "", "probe"}).ok());
    auto probes = session->probes().value();
    REQUIRE(probes.size() == before + 1);
    CHECK(probes.back().name == "profile-7");
}

TEST_CASE("virtual time reads no clock, and jumps to what is due", "[live][session]") {
    test::SessionMachine machine;
    auto session = open({.made_up = true, .virtual_time = true, .cpu_count = 7}, machine);
    REQUIRE(session->make_named({"profile", "", "", "tick-10ms"}).ok());
    REQUIRE(session->enable({ticking()}).ok());
    REQUIRE(session->start().ok());
    uint64_t start_ns = session->now_ns();
    CHECK(session->wait(4 * kMillisecondNs).value() == SessionEvent::elapsed);
    CHECK(session->now_ns() == start_ns + 4 * kMillisecondNs);
    CHECK_FALSE(session->status().exited);
    machine.interrupted = true;
    CHECK(session->wait(100 * kMillisecondNs).value() == SessionEvent::interrupted);
    machine.interrupted = false;
    CHECK(session->wait(100 * kMillisecondNs).value() == SessionEvent::elapsed);
    CHECK(session->status().exited);
    REQUIRE(session->stop().ok());
    CHECK_FALSE(session->poll({true, true, true}).value().segments.empty());
    CHECK(machine.readings == 0);
}

TEST_CASE("real time is that of the clock it was given", "[live][session]") {
    test::SessionMachine machine;
    machine.tick_ns = kMillisecondNs;
    auto session = open({.made_up = true}, machine);
    REQUIRE(session->make_named({"profile", "", "", "tick-10ms"}).ok());
    REQUIRE(session->enable({ticking()}).ok());
    REQUIRE(session->start().ok());
    for (int looks = 0; looks < 100 && !session->status().exited; looks++)
        CHECK(session->wait(kMillisecondNs).value() == SessionEvent::elapsed);
    CHECK(session->status().exited);
    machine.interrupted = true;
    CHECK(session->wait(1000 * kMillisecondNs).value() == SessionEvent::interrupted);
    REQUIRE(session->stop().ok());
}

TEST_CASE("a machine of more CPUs than are simulated has a session", "[live][session]") {
    test::SessionMachine machine;
    for (uint32_t cpus : {0u, 1u, 64u, 65u, UINT32_MAX})
        CHECK(open({.cpu_count = cpus}, machine)->is_simulated());
}
