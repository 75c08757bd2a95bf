// SPDX-License-Identifier: Apache-2.0
#include "analyze/live_report.hpp"
#include "analyze/report.hpp"
#include "engine/sim/sim_host.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/support/sim_programs.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::sim;
using test::ProgramBuilder;

namespace {

/// Records on two CPUs, an aggregation, END; more records than a segment holds.  No times: looking
/// takes some.
base::Bytes program() {
    ProgramBuilder b;
    b.clause("BEGIN", {b.trace(b.text("begin"))});
    b.clause("profile:::profile-997", {b.trace(b.variable(DIF_VAR_ID))});
    b.clause("profile:::tick-10ms", b.aggregate(DTRACEAGG_COUNT, 1, {b.constant(7)}, {}));
    b.clause("END", {b.trace(b.text("end"))});
    return b.dof();
}

std::unique_ptr<SimHost> two_cpus() {
    BareHostConfig config;
    config.cpu_count = 2;
    auto host = SimHost::create(config);
    REQUIRE(host.ok());
    return std::move(host).value();
}

std::unique_ptr<Simulation> load(SimHost& host, const base::Bytes& dof) {
    SimulationOptions options;
    options.time_limit_ns = 2 * kNsPerSecond;
    auto simulation = Simulation::load(host, dof, options);
    REQUIRE(simulation.ok());
    return std::move(simulation).value();
}

/// Prints while the simulation goes on: a look every so many firings.
std::string printed_live(const base::Bytes& dof, int firings_between) {
    auto host = two_cpus();
    auto simulation = load(*host, dof);
    analyze::StringSink sink;
    analyze::LiveReport live({}, sink);
    REQUIRE(simulation->start().ok());
    SimEnd end;
    for (int firing = 0; simulation->step(end); firing++)
        if (firing % firings_between == 0)
            live.add(simulation->poll(), Simulation::kAll);
    simulation->finish();
    live.add(simulation->poll(), Simulation::kAll);
    live.newline();
    live.end();
    CHECK(sink.messages.empty());
    return sink.text;
}

} // namespace

TEST_CASE("what is printed while it goes on is what is printed at the end", "[sim][analyze]") {
    base::Bytes dof = program();
    auto host = two_cpus();
    auto simulation = load(*host, dof);
    REQUIRE(simulation->run().ok());
    analyze::StringSink sink;
    formats::Recording recording = simulation->recording();
    analyze::render_report(recording, {}, sink);
    REQUIRE(sink.text.size() > 100'000);
    for (int firings_between : {1, 17, 1000, 1'000'000}) {
        INFO(firings_between);
        CHECK(printed_live(dof, firings_between) == sink.text);
    }
}

TEST_CASE("records after the horizon wait for the next time", "[sim][analyze]") {
    base::Bytes dof = program();
    auto host = two_cpus();
    auto simulation = load(*host, dof);
    REQUIRE(simulation->start().ok());
    SimEnd end;
    for (int firing = 0; firing < 50; firing++)
        simulation->step(end);
    analyze::StringSink sink;
    analyze::LiveReport live({}, sink);
    formats::RingPieces pieces = simulation->poll();
    live.add({pieces.metadata, pieces.segments, {}, uint64_t{1}}, Simulation::kAll);
    CHECK(sink.text.empty());
    live.add(std::move(pieces), Simulation::kAll);
    CHECK(sink.text.find("begin") != std::string::npos);
}
