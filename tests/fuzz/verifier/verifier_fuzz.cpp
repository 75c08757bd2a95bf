// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: what the verifier accepts ends, and touches only what it may
//
// Any bytes as DOF.  Of an accepted program the decoded instructions are checked again, by rules
// written down here (accepted.c); then it runs, on two CPUs, on every probe that it names, from
// BEGIN to END.  The sanitizers see what it touches; its own image must not change, and libFuzzer's
// -timeout bounds how long it takes.
#include "tests/fuzz/verifier/accepted.h"
#include "tests/support/engine_fuzz.hpp"

#include <deque>

using namespace daybreak::engine_test;

namespace {

constexpr size_t kProbesMax = 8;
constexpr int kFirings = 6;

constexpr FuzzLimit kLimits[] = {
    {DTRACEOPT_BUFSIZE, 1 << 16, true},   {DTRACEOPT_DYNVARSIZE, 1 << 16, true},
    {DTRACEOPT_AGGSIZE, 1 << 16, true},   {DBK_OPT_SEGMENTSIZE, 1 << 16, true},
    {DTRACEOPT_SPECSIZE, 1 << 16, false}, {DTRACEOPT_NSPEC, 16, false},
    {DTRACEOPT_STACKFRAMES, 64, false},   {DTRACEOPT_USTACKFRAMES, 64, false},
    {DTRACEOPT_STRSIZE, 4096, false}};

/// Probes such as the program names; the pages of an engine's own provider are there anyway.
std::deque<dbk_probe> named_probes(const dbk_program* program) {
    std::deque<dbk_probe> probes;
    auto text = [](const char* part, const char* otherwise) {
        bool plain = part && *part && !std::strpbrk(part, "*?[\\");
        return plain ? part : otherwise;
    };
    for (uint32_t i = 0; i < dbk_program_probedesc_count(program); i++) {
        dbk_probedesc description;
        if (probes.size() == kProbesMax || !dbk_program_probedesc(program, i, &description))
            break;
        if (std::strcmp(text(description.provider, "test"), "dtrace") == 0)
            continue;
        probes.emplace_back();
        dbk_probe& probe = probes.back();
        probe.provider = text(description.provider, "test");
        probe.module = text(description.module, "m");
        probe.function = text(description.function, "f");
        probe.name = text(description.name, "entry");
        dbk_probe_args_in_order(&probe, i % 2 ? 6 : 2);
    }
    return probes;
}

void fire_all(dbk_engine* engine, std::deque<dbk_probe>& probes) {
    for (int i = 0; i < kFirings; i++)
        for (dbk_probe& probe : probes) {
            host_cpu = static_cast<uint32_t>(i) & 1;
            host.tick_step = i == kFirings / 2 ? 0x200000000 : 10;
            dbk_probe_fire(&probe, kFuzzArgs, nullptr);
        }
    host_cpu = 0;
}

void run(dbk_program* program) {
    dbk_engine_config config{2, DBK_CLOCK_MONO_NS, 1'000'000'000, 1};
    dbk_engine* engine = dbk_engine_create(&config);
    std::deque<dbk_probe> probes = named_probes(program);
    // Added from the end: the engine keeps the names, which live in the program.
    for (dbk_probe& probe : probes)
        dbk_probe_add(engine, &probe);
    dbk_consumer_config consumer_config{"fuzz", 1, true, true, 0};
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;
    int error = dbk_consumer_create(engine, program, &consumer_config, &reason, &consumer);
    if (error == 0) {
        uint32_t matched = 0;
        dbk_consumer_enable(consumer, &reason, &matched);
        dbk_consumer_start(consumer);
        fire_all(engine, probes);
        uint32_t bytes;
        const void* image;
        dbk_consumer_agg_snapshot(consumer, 0, &bytes, &image);
        dbk_consumer_stop(consumer);
        if (const char* why = accepted_image_change(program))
            fuzz_finding(why);
    } else if (reason.text[0] == '\0') {
        fuzz_finding("a program was refused without a reason");
    }
    for (dbk_probe& probe : probes)
        dbk_probe_remove(engine, &probe);
    if (consumer)
        dbk_consumer_destroy(consumer);
    else
        dbk_program_destroy(program);
    dbk_engine_destroy(engine);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    dbk_program* program = load_untrusted(data, size);
    if (!program)
        return 0;
    if (const char* why = accepted_wrongly(program))
        fuzz_finding(why);
    if (is_modest(program, kLimits))
        run(program);
    else
        dbk_program_destroy(program);
    return 0;
}
