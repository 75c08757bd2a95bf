// SPDX-License-Identifier: Apache-2.0
//
// Differential test of expressions: compiler and engine against an evaluator of their own
//
//   prop_expressions [--seed N] [--count EXPRESSIONS] [--seconds LIMIT] [--native EVERY]
//
// Compiles programs of many clauses, runs them on the simulated host, and compares what each
// recorded with what evaluate() says.  --native N: every Nth program is translated to C as well, and
// what that records must be the same to the byte.  It is compiled quickly, but for each 32nd of them, which is compiled as
// the kernel does it.  Prints its seed; DAYBREAK_SEED or --seed repeats a run.
// A difference is shrunk to the smallest expression that still differs, and printed with the
// values of what it uses.  Exit status 1 when there was one.
#include "tests/prop/expressions/trial.hpp"
#include "tests/prop/programs.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdio>

using namespace daybreak::prop;

namespace {

using daybreak::translate::Speed;

constexpr size_t kClauses = 200; // of one program
constexpr int kDifferencesMax = 10;

struct Totals {
    uint64_t expressions = 0, native = 0, optimized = 0, faults = 0, too_large = 0;
    int differences = 0;
};

/// One program of random clauses.
void run_round(Random& random, std::optional<Speed> native, Totals& totals) {
    World world = make_world(random);
    std::vector<Clause> clauses;
    for (size_t i = 0; i < kClauses; i++)
        clauses.push_back(make_clause(random, world));
    Trial trial = run_trial(world, clauses, native);
    totals.too_large += trial.too_large;
    totals.expressions += clauses.size();
    totals.native += native ? clauses.size() : 0;
    totals.optimized += native == Speed::quickly_run ? clauses.size() : 0;
    if (!trial.error.empty()) {
        totals.differences++;
        std::printf("%s\n", trial.error.c_str());
        return;
    }
    World now = world;
    for (size_t i = 0; i < clauses.size(); i++) {
        Outcome expected = evaluate(clauses[i], now);
        totals.faults += expected.faults;
        if (expected == trial.outcomes[i])
            continue;
        totals.differences++;
        std::printf("%s\n", describe(world, clauses, i, expected, trial.outcomes[i]).c_str());
        return; // what follows may differ because of it
    }
}

} // namespace

int main(int argc, char** argv) {
    uint64_t seed = seed_argument(argc, argv);
    uint64_t count = number_argument(argc, argv, "--count", 20000);
    uint64_t native = number_argument(argc, argv, "--native", 0); // 0: none
    uint64_t seconds = number_argument(argc, argv, "--seconds", 3600);
    std::printf("seed %" PRIu64 "\n", seed);
    auto start = std::chrono::steady_clock::now();
    Totals totals;
    for (uint64_t round = 0; totals.expressions < count; round++) {
        Random random(seed * 1'000'003 + round);
        std::optional<Speed> speed;
        if (native != 0 && round % native == 0)
            speed = speed_of(round / native);
        run_round(random, speed, totals);
        auto spent = std::chrono::steady_clock::now() - start;
        if (totals.differences >= kDifferencesMax || spent > std::chrono::seconds(seconds))
            break;
    }
    std::printf("%" PRIu64 " expressions compared, %" PRIu64 " of them native, %" PRIu64
                " of these as the kernel compiles, %" PRIu64 " of all faulted, %" PRIu64 " had no registers left, %d differences, seed %" PRIu64 "\n",
                totals.expressions, totals.native, totals.optimized, totals.faults, totals.too_large, totals.differences, seed);
    return totals.differences != 0 || totals.expressions == 0;
}
