// SPDX-License-Identifier: Apache-2.0
//
// Clauses with texts: however the engine runs them, and as native code, they leave the same bytes
//
//   prop_clauses [--seed N] [--count PROGRAMS] [--seconds LIMIT]
//
// A program (generate.cpp) records, aggregates, stores and speculates texts of lengths around
// strsize, in buffers that become full.  It runs three times, over the same firings on the
// simulated machine: in the tiers that the engine chooses, with all of its clauses in the general
// tier, and translated to C, which each 32nd is compiled as the kernel does it.  Segments,
// aggregations and counters (records, drops, faults) must be the same.  A difference prints the
// program and its seed: --seed SEED --count 1 repeats it.  Exit status 1 when there was one.
#include "engine/sim/sim_host.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/prop/clauses/generate.hpp"
#include "tests/prop/programs.hpp"

#include <chrono>
#include <cinttypes>

using namespace daybreak;
using namespace daybreak::prop;

namespace {

constexpr int kProbes = 8, kFirings = 900, kDifferencesMax = 10;

enum class Way : uint8_t { chosen, general, native };

/// What a program left.
struct Left {
    std::string error, counters;
    std::vector<base::Bytes> segments, aggregations;
    bool still = false; ///< the clock: else the general tier may have other times
    uint64_t native = 0, clauses = 0, records = 0, drops = 0, faults = 0;
};

/// test:::g0 to g7, of names as long as a probe's may be and longer than strsize.
std::vector<sim::SimProbe*> add_probes(sim::SimHost& host) {
    const std::string modules[kProbes] = {
        "m", "", "vmlinux!", "m", std::string(300, 'M'), "m", "m15characterslg", "m"};
    const std::string functions[kProbes] = {"",
                                            "f",
                                            "seven77",
                                            "eightchr",
                                            "getppid",
                                            "sixteencharacter",
                                            std::string(255, 'q'),
                                            std::string(700, 'z')};
    constexpr uint8_t arguments[kProbes] = {6, 6, 6, 6, 6, 2, 10, 6};
    std::vector<sim::SimProbe*> probes;
    for (int i = 0; i < kProbes; i++) {
        auto probe = host.add_probe(
            {i == 3 ? "test12345678" : "test", modules[i], functions[i], "g" + std::to_string(i)},
            arguments[i]);
        DBK_ASSERT(probe.ok());
        probes.push_back(*probe);
    }
    return probes;
}

void fire(std::mt19937_64& random, sim::SimHost& host, sim::Simulation& simulation,
          const std::vector<sim::SimProbe*>& probes, uint32_t cpu_count, bool still) {
    static constexpr const char* names[] = {"sh",       "a",       "",     "fifteencharacte",
                                            "eightchr", "sevenc7", "read", "gone"};
    static constexpr uint64_t texts[] = {
        0, 0xffff888000200000, 0xffff888000201000, 0xffff888000202000, 0xffff888000200003, 5};
    static constexpr uint64_t user_texts[] = {0x500000, 0x501000, 0x500001, 0, 77, 0x501000 + 690};
    host.kernel_memory().map_string(texts[1], "a text of the kernel");
    host.kernel_memory().map_string(texts[2], std::string(600, 'k'));
    host.kernel_memory().map_string(texts[3], "eightchr");
    host.user_memory().map_string(user_texts[0], "user text");
    host.user_memory().map_string(user_texts[1], std::string(700, 'u'));
    for (int i = 0; i < kFirings; i++) {
        sim::SimThread thread;
        thread.tid = 100 + static_cast<uint32_t>(random() % 5);
        thread.pid = thread.tid & ~1u;
        thread.key = thread.tid;
        thread.set_execname(names[random() % std::size(names)]);
        host.set_thread(thread);
        host.set_cpu(static_cast<uint32_t>(random() % cpu_count));
        uint64_t args[DBK_PROBE_ARGS_MAX] = {};
        for (uint64_t& arg : args)
            arg = random() % 4;
        args[1] = random() % 1000;
        args[3] = random();
        args[4] = texts[random() % std::size(texts)];
        args[5] = user_texts[random() % std::size(user_texts)];
        host.clock().advance(i % 50 == 0 && still ? 5 * sim::kNsPerSecond : random() % 1000);
        simulation.fire(*probes[random() % kProbes], args);
        if (random() % 40 == 0)
            simulation.drain();
    }
    simulation.finish();
}

Left run(const base::Bytes& dof, uint64_t seed, Way way) {
    Left left;
    std::mt19937_64 random(seed);
    sim::BareHostConfig config;
    config.cpu_count = 1 + random() % 3;
    left.still = config.still_clock = random() % 4 != 0;
    config.tsc = random() % 2;
    std::unique_ptr<translate::Library> library; // before what runs it
    auto made = sim::SimHost::create(config);
    DBK_ASSERT(made.ok());
    sim::SimHost& host = **made;
    std::vector<sim::SimProbe*> probes = add_probes(host);
    sim::SimulationOptions options;
    options.reads_late = true;
    options.outside_reader = random() % 2;
    options.created = [&](dbk_consumer* consumer) -> base::Result<void> {
        for (uint32_t i = 0; way == Way::general && i < consumer->plan_count; i++)
            consumer->plans[i].tier = DBK_TIER_GENERAL;
        return way == Way::native ? make_native(consumer, dof, speed_of(seed), library)
                                  : base::Result<void>{};
    };
    auto loaded = sim::Simulation::load(host, dof, options);
    if (!loaded.ok() || !(*loaded)->start().ok())
        return left.error = loaded.ok() ? "it cannot be started" : loaded.error().message(), left;
    sim::Simulation& simulation = **loaded;
    for (sim::SimProbe* probe : probes)
        for (const dbk_ecb* ecb = probe->probe.ecbs; ecb; ecb = ecb->next, left.clauses++)
            left.native += ecb->tier == DBK_TIER_NATIVE;
    fire(random, host, simulation, probes, config.cpu_count, left.still);
    for (uint32_t cpu = 0; cpu < config.cpu_count; cpu++) {
        const dbk_meta_cpu* counters = dbk_consumer_counters(simulation.consumer(), cpu);
        left.counters.append(reinterpret_cast<const char*>(counters), sizeof(*counters));
        left.records += counters->records;
        left.faults += counters->errors;
        for (uint64_t drops : counters->drops)
            left.drops += drops;
    }
    formats::RingPieces pieces = simulation.poll();
    left.segments = std::move(pieces.segments);
    left.aggregations = std::move(pieces.aggregations);
    return left;
}

/// What differs first, or an empty string.
std::string difference(const Left& one, const Left& other) {
    return !other.error.empty()                     ? other.error
           : one.counters != other.counters         ? "counters"
           : one.segments != other.segments         ? "segments"
           : one.aggregations != other.aggregations ? "aggregations"
                                                    : "";
}

std::string run_ways(const base::Bytes& dof, uint64_t seed, Left& sum) {
    const Left chosen = run(dof, seed, Way::chosen);
    if (!chosen.error.empty())
        return "refused: " + chosen.error;
    const Left native = run(dof, seed, Way::native);
    for (auto count : {&Left::native, &Left::clauses, &Left::records, &Left::drops, &Left::faults})
        sum.*count += native.*count;
    if (std::string what = difference(chosen, native); !what.empty())
        return "native: " + what;
    const std::string what = chosen.still ? difference(chosen, run(dof, seed, Way::general)) : "";
    return what.empty() ? "" : "general: " + what;
}

} // namespace

int main(int argc, char** argv) {
    const uint64_t seed = seed_argument(argc, argv),
                   count = number_argument(argc, argv, "--count", 200),
                   seconds = number_argument(argc, argv, "--seconds", 3600);
    std::printf("seed %" PRIu64 "\n", seed);
    auto start = std::chrono::steady_clock::now();
    uint64_t programs = 0;
    int differences = 0;
    Left sum;
    while (programs < count && differences < kDifferencesMax &&
           std::chrono::steady_clock::now() - start < std::chrono::seconds(seconds)) {
        const uint64_t own = seed + programs++;
        const std::string text = random_program(own);
        compiler::CompileOutput output = compile_text(text);
        const std::string what = output.dof
                                     ? run_ways(*output.dof, own, sum)
                                     : render_all(output.diagnostics, output.sources, {}, {});
        if (what.empty())
            continue;
        differences++;
        std::printf("seed %" PRIu64 ": %s\n%s\n", own, what.c_str(), text.c_str());
    }
    std::printf(
        "%" PRIu64 " programs compared, %" PRIu64 " of %" PRIu64 " ECBs native, %" PRIu64
        " records, %" PRIu64 " drops, %" PRIu64 " faults, %d differences, seed %" PRIu64 "\n",
        programs, sum.native, sum.clauses, sum.records, sum.drops, sum.faults, differences, seed);
    return differences != 0 || sum.native == 0;
}
