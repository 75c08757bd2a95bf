// SPDX-License-Identifier: Apache-2.0
//
// Many CPUs: which cache lines a firing writes (docs/design/0086-lines-of-cache.md)
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/internal.h"

#include <catch2/catch.hpp>
#include <set>

using namespace daybreak;
using namespace daybreak::engine_test;

namespace {

constexpr uint32_t kLineBytes = 64, kCpus = 3;

using Lines = std::set<uintptr_t>;

/// The lines whose bytes changed while `run` ran.
Lines changed_by(const std::function<void()>& run) {
    std::map<const uint8_t*, std::vector<uint8_t>> before;
    for (auto [memory, bytes] : host.memory)
        before[memory].assign(memory, memory + bytes);
    run();
    Lines lines;
    for (const auto& [memory, old] : before)
        for (size_t at = 0; at < old.size(); at++)
            if (memory[at] != old[at])
                lines.insert((reinterpret_cast<uintptr_t>(memory) + at) / kLineBytes);
    return lines;
}

class Machine {
public:
    explicit Machine(Dof& dof) : engine_(kCpus), probe_(engine_.probe("test", "", "", "go")) {
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        host.packs = true; // as the kernel: what is rounded up here is not there
        consumer_ = engine_.start(dof.build(), {"test", kCpus, true, true, DBK_AGGREGATE_ENGINE});
    }

    /// The lines that a CPU writes while its thread fires some times.  All of struct dbk_cpu is
    /// among them: a firing leaves much of it as it found it.
    Lines written_by(uint32_t cpu, int firings) {
        host.tid = 100 + cpu;
        host.curthread = 0xffff888000001000 + cpu * 0x4000;
        Lines lines = changed_by([&] {
            for (int i = 0; i < firings; i++)
                engine_.fire(probe_, {cpu, static_cast<uint64_t>(i % 7), ++value_}, cpu);
        });
        const auto start = reinterpret_cast<uintptr_t>(engine_.get()->cpus[cpu]);
        for (uintptr_t at = start; at < start + sizeof(dbk_cpu); at++)
            lines.insert(at / kLineBytes);
        return lines;
    }

    /// Lines that more than one CPU writes.
    size_t shared(int firings) {
        for (uint32_t cpu = 0; cpu < kCpus; cpu++)
            written_by(cpu, 20); // variables and cells are there
        std::map<uintptr_t, int> writers;
        for (uint32_t cpu = 0; cpu < kCpus; cpu++)
            for (uintptr_t line : written_by(cpu, firings))
                writers[line]++;
        return static_cast<size_t>(std::count_if(writers.begin(), writers.end(),
                                                 [](const auto& line) { return line.second > 1; }));
    }

private:
    Engine engine_;
    dbk_probe& probe_;
    dbk_consumer* consumer_ = nullptr;
    uint64_t value_ = 0; // another one each time: what is stored changes
};

std::vector<dif_var_entry> variables() {
    return {variable(kVar, DIFV_SCOPE_GLOBAL), variable(kVar + 1, DIFV_SCOPE_LOCAL),
            variable(kVar + 2, DIFV_SCOPE_THREAD)};
}

Difo stored(uint32_t op, uint32_t var) {
    return {
        {ldgs(DIF_VAR_ARG0 + 2, 1), var_op(op, var, 1), ret(1)}, no_type(), {}, "", variables()};
}

} // namespace

TEST_CASE("no cache line is written by the firings of two CPUs", "[engine][lines]") {
    Dof dof;
    const int firings = GENERATE(1, 100, 2000); // within a segment, and over some
    SECTION("records") {
        dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}})});
        dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()})});
    }
    SECTION("aggregations") {
        const uint32_t id = dof.difo({{setx(0, 1), ret(1)}, int_type(4), {1}});
        dof.ecb("test:::go", {{DTRACEACT_DIFEXPR, id},
                              dof.trace({{ldgs(DIF_VAR_ARG0 + 1, 1), ret(1)}}),
                              {DTRACEAGG_COUNT, DOF_SECIDX_NONE, 0, 2}});
    }
    SECTION("thread-local variables")
    dof.ecb("test:::go", {dof.trace(stored(DIF_OP_STTS, kVar + 2))});
    SECTION("clause-local variables")
    dof.ecb("test:::go", {dof.trace(stored(DIF_OP_STLS, kVar + 1))});
    SECTION("records into a speculation") {
        dof.option(DTRACEOPT_NSPEC, 1);
        dof.ecb("test:::go", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
        dof.ecb("test:::go",
                {{DTRACEACT_SPECULATE, dof.difo({{setx(0, 1), ret(1)}, int_type(), {1}})},
                 dof.trace({{ldgs(DIF_VAR_ARG0 + 2, 1), ret(1)}})});
    }
    SECTION("predicates that do not hold")
    dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}})},
            dof.difo({{ldgs(DIF_VAR_ARG0 + 5, 1), ret(1)}, int_type()}));
    CHECK(Machine(dof).shared(firings) == 0);
}

TEST_CASE("what is one for all CPUs is a line that they share", "[engine][lines]") {
    Dof dof;
    size_t lines = 1;
    SECTION("a global variable")
    dof.ecb("test:::go", {dof.trace(stored(DIF_OP_STGS, kVar))});
    SECTION("an element of an associative array, and its bucket") {
        dof.ecb("test:::go",
                {dof.trace({{push_value(0), ldgs(DIF_VAR_ARG0 + 2, 1),
                             var_op(DIF_OP_STGAA, kVar, 1), flushts(), ret(1)},
                            no_type(),
                            {},
                            "",
                            {variable(kVar, DIFV_SCOPE_GLOBAL, int_type(), DIFV_KIND_ARRAY)}})});
        lines = 2;
    }
    SECTION("snapshot() too soon after the last: its entry counts them")
    dof.ecb("test:::go", {dof.snapshot("slow")});
    CHECK(Machine(dof).shared(100) == lines);
}
