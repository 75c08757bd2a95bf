// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: any bytes as DOF.  What the verifier lets through is made a ring of, enabled,
// started, fired on two CPUs, snapshot and stopped: whatever it does, it stays in its memory and
// ends.
#include "tests/support/engine_fuzz.hpp"

using namespace daybreak::engine_test;

namespace {

constexpr FuzzLimit kLimits[] = {{DTRACEOPT_BUFSIZE, 1 << 20, true},
                                 {DTRACEOPT_DYNVARSIZE, 1 << 20, true},
                                 {DTRACEOPT_AGGSIZE, 1 << 20, true},
                                 {DBK_OPT_SEGMENTSIZE, 1 << 16, true}};

/// Reads what a reader would: every committed record of every segment.
void read_back(const dbk_consumer* consumer) {
    dbk_region region;
    uint64_t sum = 0;
    for (uint32_t i = 0; dbk_consumer_region(consumer, i, &region); i++) {
        const auto* bytes = static_cast<const uint8_t*>(region.pages->address);
        for (uint32_t at = 0; at < region.pages->bytes; at += 512)
            sum += bytes[at];
    }
    if (sum == 1)
        fuzz_finding("nothing to read"); // never: headers are not zero; keeps the reading
}

void run(dbk_program* program) {
    dbk_engine_config config{2, DBK_CLOCK_MONO_NS, 1'000'000'000, 1};
    dbk_engine* engine = dbk_engine_create(&config);
    dbk_probe go{}, other{};
    go.provider = other.provider = "test";
    go.module = other.module = "m";
    go.function = other.function = "f";
    go.name = "go";
    other.name = "other";
    dbk_probe_args_in_order(&go, 6);
    dbk_probe_args_in_order(&other, 2);
    dbk_probe_add(engine, &go);
    dbk_consumer_config consumer_config{"fuzz", 1, true, true, 0};
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;
    if (dbk_consumer_create(engine, program, &consumer_config, &reason, &consumer) == 0) {
        uint32_t matched = 0;
        dbk_consumer_enable(consumer, &reason, &matched);
        dbk_probe_add(engine, &other);
        dbk_consumer_start(consumer);
        for (uint32_t i = 0; i < 40; i++) {
            host_cpu = i & 1;
            host.tick_step = i == 20 ? 0x200000000 : 10;
            dbk_probe_fire(&go, kFuzzArgs, nullptr);
            dbk_probe_fire(&other, kFuzzArgs, nullptr);
        }
        host_cpu = 0;
        uint32_t bytes;
        const void* image;
        dbk_consumer_agg_snapshot(consumer, 0, &bytes, &image);
        read_back(consumer);
        dbk_consumer_stop(consumer);
        dbk_consumer_destroy(consumer);
        dbk_probe_remove(engine, &other);
    } else {
        if (reason.text[0] == '\0')
            fuzz_finding("a program was refused without a reason");
        dbk_program_destroy(program);
    }
    dbk_probe_remove(engine, &go);
    dbk_engine_destroy(engine);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    dbk_program* program = load_untrusted(data, size);
    if (!program)
        return 0;
    if (is_modest(program, kLimits))
        run(program);
    else
        dbk_program_destroy(program);
    return 0;
}
