// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/sim_host.hpp"
#include "engine/sim/sim_kernel.hpp"
#include "engine/sim/simulation.hpp"
#include "formats/trace/reader.hpp"
#include "tests/support/sim_programs.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::sim;
using test::ProgramBuilder;

namespace {

/// A host and a program on it.
struct Run {
    std::unique_ptr<SimHost> host;
    std::unique_ptr<Simulation> simulation;
};

Run load(const Bytes& dof, BareHostConfig config = {}, SimulationOptions options = {}) {
    Run run;
    auto host = SimHost::create(config);
    REQUIRE(host.ok());
    run.host = std::move(host).value();
    auto simulation = Simulation::load(*run.host, dof, options);
    if (!simulation.ok())
        FAIL(simulation.error().message());
    run.simulation = std::move(simulation).value();
    return run;
}

struct Printed {
    std::string probe;
    uint16_t cpu;
    uint64_t ticks;
    std::vector<uint64_t> values;
};

/// Every record, CPU by CPU; a string's value is its length.
std::vector<Printed> records(const formats::Recording& recording) {
    std::vector<Printed> all;
    for (const auto& ring : recording.rings)
        for (const auto& cpu : ring.cpus)
            for (const auto& segment : cpu.segments) {
                auto cursor = formats::records_of(segment, ring);
                formats::RecordView record;
                while (cursor.next(record)) {
                    Printed printed{
                        ring.find_probe(record.ecb->probe_id)->name, cpu.cpu, record.ticks, {}};
                    for (size_t i = 0; i < record.ecb->fields.size(); i++)
                        printed.values.push_back(
                            record.integer(i).value_or(record.data(i)->size()));
                    all.push_back(printed);
                }
                CHECK_FALSE(cursor.damage());
            }
    CHECK(recording.findings.count() == 0);
    return all;
}

} // namespace

TEST_CASE("BEGIN comes first, END last, with nothing between", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("END", {b.trace(b.constant(2))});
    b.clause("BEGIN", {b.trace(b.constant(1))});
    Run run = load(b.dof());
    CHECK(run.simulation->matched() == 2);
    auto end = run.simulation->run();
    REQUIRE(end.ok());
    CHECK(*end == SimEnd::idle);
    auto found = records(run.simulation->recording());
    REQUIRE(found.size() == 2);
    CHECK(found[0].probe == "BEGIN");
    CHECK(found[0].values == std::vector<uint64_t>{1});
    CHECK(found[1].probe == "END");
    CHECK(found[1].values == std::vector<uint64_t>{2});
}

TEST_CASE("ticks fire at their rates until the time limit", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("profile:::tick-10ms", {b.trace(b.constant(10))});
    b.clause("profile:::tick-25ms", {b.trace(b.constant(25))});
    Run run = load(b.dof(), {}, {.time_limit_ns = 101'000'000});
    CHECK(*run.simulation->run() == SimEnd::time_limit);
    std::map<uint64_t, int> count;
    uint64_t before = 0;
    for (const auto& record : records(run.simulation->recording())) {
        count[record.values[0]]++;
        CHECK(record.ticks > before);
        before = record.ticks;
    }
    CHECK(count == std::map<uint64_t, int>{{10, 10}, {25, 4}});
}

TEST_CASE("profile-N fires on every CPU", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("profile:::profile-10ms", {b.trace(b.variable(DIF_VAR_ARG0))});
    Run run = load(b.dof(), {.cpu_count = 3}, {.time_limit_ns = 35'000'000});
    CHECK(*run.simulation->run() == SimEnd::time_limit);
    std::map<uint16_t, int> count;
    for (const auto& record : records(run.simulation->recording())) {
        count[record.cpu]++;
        CHECK(record.values[0] == timer_stack()[5]);
    }
    CHECK(count == std::map<uint16_t, int>{{0, 3}, {1, 3}, {2, 3}});
}

TEST_CASE("exit() ends the run with its status", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("profile:::tick-1s", {b.exit(7)});
    b.clause("profile:::tick-1h", {b.trace(b.constant(1))});
    Run run = load(b.dof());
    CHECK_FALSE(dbk_consumer_exit_status(run.simulation->consumer()));
    CHECK(*run.simulation->run() == SimEnd::exited);
    CHECK(run.simulation->exit_status() == 7);
    auto found = records(run.simulation->recording());
    REQUIRE(found.size() == 1);
    CHECK(found[0].values == std::vector<uint64_t>{7});
    CHECK(run.simulation->start().ok() == false);
}

TEST_CASE("exit() in BEGIN lets no other probe in", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("BEGIN", {b.exit(0)});
    b.clause("profile:::tick-1ms", {b.trace(b.constant(1))});
    Run run = load(b.dof());
    CHECK(*run.simulation->run() == SimEnd::exited);
    CHECK(records(run.simulation->recording()).size() == 1);
}

TEST_CASE("a test's probe hands over arguments, thread and CPU", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("syscall::read:entry",
             {b.trace(b.variable(DIF_VAR_ARG0)), b.trace(b.variable(DIF_VAR_ARG2)),
              b.trace(b.variable(DIF_VAR_PID, 4)), b.trace(b.string_variable(DIF_VAR_EXECNAME)),
              b.trace(b.variable(DIF_VAR_ERRNO, 4))});
    auto host = SimHost::create({.cpu_count = 2});
    REQUIRE(host.ok());
    auto probe = (*host)->add_probe({"syscall", "vmlinux", "read", "entry"}, 6);
    REQUIRE(probe.ok());
    Bytes dof = b.dof();
    auto simulation = Simulation::load(**host, dof);
    REQUIRE(simulation.ok());
    CHECK((*simulation)->matched() == 1);
    REQUIRE((*simulation)->start().ok());
    SimThread thread;
    thread.pid = 77;
    thread.set_execname("cat");
    (*host)->set_thread(thread);
    (*host)->set_cpu(1);
    const uint64_t args[] = {3, 0x7fff0000, 4096};
    SimSite site;
    site.error_number = 9;
    (*simulation)->fire(**probe, args, site);
    (*simulation)->finish();
    auto found = records((*simulation)->recording());
    REQUIRE(found.size() == 1);
    CHECK(found[0].cpu == 1);
    CHECK(found[0].values == std::vector<uint64_t>{3, 4096, 77, 3, 9});
}

TEST_CASE("a simulation drained after each firing loses nothing, whatever its buffer", "[sim][simulation]") {
    bool drained = GENERATE(false, true);
    uint64_t policy = GENERATE(uint64_t{DBK_POLICY_SWITCH}, uint64_t{DBK_POLICY_RING});
    ProgramBuilder b;
    b.option(DTRACEOPT_BUFSIZE, 65536);
    b.option(DTRACEOPT_BUFPOLICY, policy);
    b.clause("syscall::read:entry", {b.trace(b.variable(DIF_VAR_ARG0))});
    auto host = SimHost::create({.cpu_count = 2, .still_clock = true});
    REQUIRE(host.ok());
    auto probe = (*host)->add_probe({"syscall", "vmlinux", "read", "entry"}, 6);
    REQUIRE(probe.ok());
    Bytes dof = b.dof();
    auto simulation = Simulation::load(**host, dof);
    REQUIRE(simulation.ok());
    REQUIRE((*simulation)->start().ok());
    constexpr uint64_t kFirings = 20000;
    for (uint64_t i = 0; i < kFirings; i++) {
        (*host)->set_cpu(i % 2);
        (*host)->clock().advance(1);
        (*simulation)->fire(**probe, std::array<uint64_t, 1>{i});
        if (drained)
            (*simulation)->drain();
    }
    (*simulation)->finish();
    formats::Completeness sum = (*simulation)->recording().rings[0].completeness();
    CHECK((sum.present == kFirings) == drained);
    CHECK(sum.drops_total() + sum.overwritten + sum.present == kFirings);
}

TEST_CASE("firings that a host knows of and does not have are MISSED", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("syscall::read:entry", {b.trace(b.variable(DIF_VAR_ARG0))});
    auto host = SimHost::create({});
    REQUIRE(host.ok());
    auto probe = (*host)->add_probe({"syscall", "vmlinux", "read", "entry"}, 6);
    auto other = (*host)->add_probe({"syscall", "vmlinux", "write", "entry"}, 6);
    REQUIRE((probe.ok() && other.ok()));
    Bytes dof = b.dof();
    auto simulation = Simulation::load(**host, dof);
    REQUIRE((*simulation)->start().ok());
    (*host)->miss(**probe, 7);
    (*host)->miss(**other, 5);
    (*simulation)->finish();
    formats::Recording recording = (*simulation)->recording();
    CHECK(recording.rings[0].completeness().drops[DBK_DROP_MISSED] == 7);
    CHECK(recording.has_losses());
}

TEST_CASE("a fault discards the record and is counted", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("BEGIN", {b.trace(b.division_by_zero())});
    b.clause("BEGIN", {b.trace(b.load(kCurthreadAddress))});
    b.clause("BEGIN", {b.trace(b.constant(5))});
    b.clause("ERROR", {b.trace(b.variable(DIF_VAR_ARG4)), b.trace(b.variable(DIF_VAR_ARG5))});
    Run run = load(b.dof());
    CHECK(run.simulation->run().ok());
    auto recording = run.simulation->recording();
    std::vector<std::vector<uint64_t>> values;
    for (const auto& record : records(recording))
        values.push_back(record.values);
    CHECK(values == std::vector<std::vector<uint64_t>>{
                        {DTRACEFLT_DIVZERO, 0}, {DTRACEFLT_BADADDR, kCurthreadAddress}, {5}});
    CHECK(recording.rings[0].completeness().errors == 2);
}

TEST_CASE("mapped kernel memory can be loaded", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("BEGIN", {b.trace(b.load(kCurthreadAddress))});
    Run run = load(b.dof());
    run.host->kernel_memory().map_string(kCurthreadAddress, "AAAAAAA");
    CHECK(run.simulation->run().ok());
    auto found = records(run.simulation->recording());
    REQUIRE(found.size() == 1);
    CHECK(found[0].values == std::vector<uint64_t>{0x0041414141414141});
}

TEST_CASE("a probe that fires inside itself is a counted drop", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("profile:::tick-1ms", {b.trace(b.constant(1))});
    Run run = load(b.dof(), {}, {.time_limit_ns = 10'500'000});
    run.host->set_faults({.nest_every = 2});
    CHECK(run.simulation->run().ok());
    auto recording = run.simulation->recording();
    CHECK(records(recording).size() == 10);
    CHECK(recording.rings[0].completeness().drops[DBK_DROP_NESTED] == 5);
}

TEST_CASE("the same seed records the same bytes, another seed other times", "[sim][simulation]") {
    auto bytes_of = [](uint64_t seed) {
        ProgramBuilder b;
        b.clause("profile:::profile-1ms", {b.trace(b.variable(DIF_VAR_TIMESTAMP))});
        Run run = load(b.dof(), {.cpu_count = 2, .seed = seed}, {.time_limit_ns = 20'000'000});
        REQUIRE(run.simulation->run().ok());
        std::vector<uint64_t> all;
        for (const auto& record : records(run.simulation->recording()))
            all.insert(all.end(), record.values.begin(), record.values.end());
        return all;
    };
    CHECK(bytes_of(5) == bytes_of(5));
    CHECK(bytes_of(5) != bytes_of(6));
}

TEST_CASE("simulated TSC ticks become nanoseconds again", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("profile:::tick-100ms", {b.trace(b.variable(DIF_VAR_TIMESTAMP))});
    Run run = load(b.dof(), {.tsc = true}, {.time_limit_ns = 2'000'000'000});
    CHECK(run.simulation->run().ok());
    auto recording = run.simulation->recording();
    auto found = records(recording);
    CHECK(found.size() == 20);
    for (const auto& record : found) {
        auto mono_ns = static_cast<int64_t>(recording.rings[0].clock.mono_ns(record.ticks));
        CHECK(std::abs(mono_ns - static_cast<int64_t>(record.values[0])) < 1000);
    }
}

TEST_CASE("under policy switch segments are taken in time and nothing is lost",
          "[sim][simulation]") {
    ProgramBuilder b;
    b.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH);
    b.option(DTRACEOPT_BUFSIZE, 64 << 10);
    b.option(DTRACEOPT_SWITCHRATE, 100'000'000);
    b.clause("profile:::tick-1ms", {b.trace(b.variable(DIF_VAR_TIMESTAMP))});
    Run run = load(b.dof(), {}, {.time_limit_ns = 20 * kNsPerSecond + 500'000});
    CHECK(run.simulation->run().ok());
    auto recording = run.simulation->recording();
    CHECK(records(recording).size() == 20'000);
    auto completeness = recording.rings[0].completeness();
    CHECK(completeness.present == 20'000);
    CHECK_FALSE(completeness.has_losses());
}

TEST_CASE("a full buffer of policy fill ends the run", "[sim][simulation]") {
    ProgramBuilder b;
    b.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL);
    b.option(DTRACEOPT_BUFSIZE, 8192);
    b.option(DBK_OPT_SEGMENTSIZE, 4096);
    b.clause("profile:::tick-1ms", {b.trace(b.variable(DIF_VAR_TIMESTAMP))});
    Run run = load(b.dof());
    CHECK(*run.simulation->run() == SimEnd::filled);
    auto recording = run.simulation->recording();
    CHECK(records(recording).size() < 600);
    CHECK(recording.rings[0].completeness().drops[DBK_DROP_FILLED] > 0);
}

TEST_CASE("a snapshot stands after each firing that recorded", "[sim][simulation]") {
    ProgramBuilder b;
    b.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    b.aggregation_name("a");
    b.clause("profile:::tick-1ms", b.aggregate(DTRACEAGG_COUNT, 1, {}, {}));
    b.clause("profile:::tick-10ms", {b.trace(b.constant(1))});
    Run run = load(b.dof(), {}, {.time_limit_ns = 30'500'000});
    CHECK(run.simulation->run().ok());
    auto recording = run.simulation->recording();
    const auto& snapshots = recording.rings[0].cpus[0].aggregations;
    std::vector<uint64_t> counts;
    for (const auto& snapshot : snapshots) {
        auto cursor = formats::entries_of(snapshot, recording.rings[0]);
        formats::AggEntryView entry;
        while (cursor.next(entry))
            counts.push_back(entry.cell(0));
    }
    uint64_t total = 0;
    for (uint64_t count : counts)
        total += count;
    CHECK(total == 30);
    CHECK(counts.size() >= 3);
}

TEST_CASE("a trace file holds what the simulation recorded", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("profile:::tick-1ms", {b.trace(b.variable(DIF_VAR_TIMESTAMP)), b.stack(3)});
    Run run = load(b.dof(), {}, {.time_limit_ns = 100'500'000});
    CHECK(run.simulation->run().ok());
    std::string path = "/tmp/daybreak-sim-test-" + std::to_string(getpid()) + ".dbrk";
    formats::TraceHeader header;
    header.origin = formats::TraceOrigin::simulator;
    auto file = formats::create_trace_file(path, true);
    REQUIRE(file.ok());
    auto summary = run.simulation->write_trace_file(*file, header);
    if (!summary.ok())
        FAIL(summary.error().message());
    auto trace = formats::read_trace(path);
    unlink(path.c_str());
    if (!trace.ok())
        FAIL(trace.error().message());
    auto in_file = records(trace->recording);
    auto in_memory = records(run.simulation->recording());
    REQUIRE(in_file.size() == 100);
    REQUIRE(in_memory.size() == 100);
    for (size_t i = 0; i < in_file.size(); i++)
        CHECK(in_file[i].values == in_memory[i].values);
    CHECK(trace->symbols.find(timer_stack()[0])->name == "dbk_profile_timer");
}

TEST_CASE("a program of a real kernel's types is refused", "[sim][simulation]") {
    ProgramBuilder b;
    b.clause("BEGIN", {b.trace(b.constant(1))});
    formats::DofTarget target;
    target.release = "6.1.0";
    target.typed = true;
    b.program().target = target;
    Bytes dof = b.dof();
    auto host = SimHost::create({});
    REQUIRE(host.ok());
    auto refused = Simulation::load(**host, dof);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code() == ErrorCode::unsupported);
}
