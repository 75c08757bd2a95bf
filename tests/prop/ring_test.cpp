// SPDX-License-Identifier: Apache-2.0
//
// Whatever a ring's size and however often it wrapped: the newest records of every CPU are
// there, without a hole and in order, and what is not there was counted.
#include "engine/sim/sim_host.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/support/sim_programs.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cinttypes>
#include <random>

using namespace daybreak;
using namespace daybreak::sim;
using test::ProgramBuilder;

namespace {

uint64_t seed_of_run() {
    const char* given = std::getenv("DAYBREAK_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
}

/// A ring and what is done to it.
struct Plan {
    uint64_t seed = 0;
    uint32_t policy = DBK_POLICY_RING;
    uint64_t segment_bytes = 4096, buffer_bytes = 8192;
    uint32_t cpu_count = 1;
    uint32_t values = 1;      ///< u64 per record
    bool with_string = false; ///< records of varying length
    uint64_t firings = 0;

    std::string text() const {
        return base::strprintf("seed %" PRIu64 " policy %u segment %" PRIu64 " buffer %" PRIu64
                               " cpus %u values %u string %d firings %" PRIu64,
                               seed, policy, segment_bytes, buffer_bytes, cpu_count, values,
                               with_string, firings);
    }
};

Plan make_plan(uint64_t seed, uint32_t policy) {
    SeededRandom random(seed);
    Plan plan;
    plan.seed = seed;
    plan.policy = policy;
    plan.segment_bytes = 4096u << random.below(3);
    plan.buffer_bytes = plan.segment_bytes * (2 + random.below(6));
    plan.cpu_count = 1 + static_cast<uint32_t>(random.below(4));
    plan.values = 1 + static_cast<uint32_t>(random.below(20));
    plan.with_string = random.below(2) != 0;
    plan.firings = random.below(4) == 0 ? random.below(20) : random.below(6000);
    return plan;
}

/// What each CPU recorded: arg0 counts its firings from 1.
struct Outcome {
    formats::Recording recording;
    std::vector<uint64_t> fired; // by CPU
};

Outcome run(const Plan& plan) {
    ProgramBuilder b;
    b.option(DTRACEOPT_BUFPOLICY, plan.policy);
    b.option(DTRACEOPT_BUFSIZE, plan.buffer_bytes);
    b.option(DBK_OPT_SEGMENTSIZE, plan.segment_bytes);
    ProgramBuilder::Actions actions;
    for (uint32_t i = 0; i < plan.values; i++)
        actions.push_back(b.trace(b.variable(DIF_VAR_ARG0)));
    if (plan.with_string)
        actions.push_back(b.trace(b.string_variable(DIF_VAR_EXECNAME)));
    b.clause("test:::probe", actions);
    auto host = SimHost::create({.cpu_count = plan.cpu_count, .seed = plan.seed});
    REQUIRE(host.ok());
    auto probe = (*host)->add_probe({"test", "", "", "probe"}, 1);
    REQUIRE(probe.ok());
    auto loaded = Simulation::load(**host, b.dof());
    if (!loaded.ok())
        FAIL(loaded.error().message());
    Simulation& simulation = **loaded;
    REQUIRE(simulation.start().ok());
    SeededRandom random(plan.seed + 1);
    Outcome outcome;
    outcome.fired.assign(plan.cpu_count, 0);
    for (uint64_t i = 0; i < plan.firings; i++) {
        auto cpu = static_cast<uint32_t>(random.below(plan.cpu_count));
        SimThread thread;
        thread.set_execname(std::string(random.below(15), 'x'));
        (*host)->set_thread(thread);
        (*host)->set_cpu(cpu);
        const uint64_t args[] = {++outcome.fired[cpu]};
        (*host)->fire(**probe, args);
    }
    simulation.finish();
    outcome.recording = simulation.recording();
    return outcome;
}

/// Returns arg0 of every record of a CPU, and checks that all fields hold the same.
std::vector<uint64_t> numbers(const formats::RingRecording& ring, const formats::CpuInfo& cpu) {
    std::vector<uint64_t> found;
    uint64_t ticks = 0;
    for (const auto& segment : cpu.segments) {
        auto cursor = formats::records_of(segment, ring);
        formats::RecordView record;
        while (cursor.next(record)) {
            found.push_back(record.integer(0).value_or(0));
            for (size_t i = 1; i < record.ecb->fields.size(); i++)
                if (auto value = record.integer(i))
                    CHECK(*value == found.back());
            CHECK(record.ticks >= ticks);
            ticks = record.ticks;
        }
        CHECK_FALSE(cursor.damage());
    }
    return found;
}

/// Checks one CPU; returns how many of its records are there.
uint64_t check_cpu(const formats::RingRecording& ring, const formats::CpuInfo& cpu, uint64_t fired,
                   uint32_t policy) {
    std::vector<uint64_t> found = numbers(ring, cpu);
    const formats::Completeness& whole = cpu.completeness;
    CHECK(whole.present == found.size());
    for (size_t i = 1; i < found.size(); i++)
        CHECK(found[i] == found[i - 1] + 1);
    if (policy == DBK_POLICY_RING) {
        CHECK(whole.committed == fired);
        if (!cpu.segments.empty())
            CHECK(cpu.counters->oldest_sequence == cpu.segments.front().sequence);
        CHECK(whole.overwritten == fired - found.size());
        CHECK_FALSE(whole.has_losses());
        if (fired != 0) {
            REQUIRE_FALSE(found.empty());
            CHECK(found.back() == fired);
        }
    } else { // fill: the oldest are there, the rest are drops
        CHECK(whole.overwritten == 0);
        uint64_t drops = whole.drops_total();
        CHECK(found.size() + drops == fired);
        if (!found.empty())
            CHECK(found.front() == 1);
    }
    return found.size();
}

void check_policy(uint32_t policy, int rounds) {
    uint64_t first_seed = seed_of_run();
    uint64_t overwrote = 0, losses = 0;
    for (int round = 0; round < rounds; round++) {
        Plan plan = make_plan(first_seed + static_cast<uint64_t>(round), policy);
        INFO(plan.text());
        Outcome outcome = run(plan);
        CHECK(outcome.recording.findings.count() == 0);
        REQUIRE(outcome.recording.rings.size() == 1);
        const formats::RingRecording& ring = outcome.recording.rings[0];
        uint64_t fired = 0, seen = 0;
        for (const auto& cpu : ring.cpus) {
            fired += outcome.fired[cpu.cpu];
            seen += check_cpu(ring, cpu, outcome.fired[cpu.cpu], policy);
        }
        CHECK(fired == plan.firings);
        overwrote += ring.completeness().overwritten;
        losses += ring.completeness().drops_total();
    }
    std::printf("policy %u: first seed %" PRIu64 ", %" PRIu64 " records overwritten, %" PRIu64
                " dropped\n",
                policy, first_seed, overwrote, losses);
    CHECK((policy == DBK_POLICY_RING ? overwrote : losses) > 0);
}

} // namespace

TEST_CASE("a ring holds the newest records and counts the others", "[prop][ring]") {
    check_policy(DBK_POLICY_RING, 60);
}

TEST_CASE("a fill buffer holds the oldest records and counts the others", "[prop][ring]") {
    check_policy(DBK_POLICY_FILL, 40);
}
