// SPDX-License-Identifier: Apache-2.0
//
// Who looks in the middle: readers beside the engine's own writer, NMIs while the control path
// works, threads that share a variable.
#include "engine/api/trigger.h"
#include "engine/translate/library.hpp"
#include "engine/translate/translate.hpp"
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/memory/dynvar.h"
#include "engine/types/internal.h"
}

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <sys/mman.h>
#include <utility>

using namespace daybreak;
using namespace daybreak::engine_test;

namespace {

Dof small(uint64_t bufsize = 16384) {
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DTRACEOPT_BUFSIZE, bufsize);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    return dof;
}
void fire(dbk_engine*, dbk_probe& probe, uint64_t arg0, uint64_t arg1 = 0) {
    uint64_t args[DBK_PROBE_ARGS_MAX] = {arg0, arg1};
    dbk_probe_fire(&probe, args, nullptr);
}

} // namespace

TEST_CASE("a segment that is being reopened has no number", "[engine][beside]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(small().build());
    // Where the segments lie; all are in use after the first round.
    std::vector<const dbk_segment_header*> places;
    for (uint64_t i = 0; i < 4 * 248; i++)
        fire(engine.get(), go, i);
    for (const auto& [sequence, header] : segments(consumer, 0))
        places.push_back(header);
    REQUIRE(places.size() == 4);
    uint32_t opened = 0;
    host.in_mono_ns = [&] { // between the old segment's end and the new one's begin
        opened++;
        uint32_t gone = 0;
        for (const auto* header : places)
            gone += header->sequence == 0;
        CHECK(gone == 1);
    };
    for (uint64_t i = 0; i < 8 * 248; i++)
        fire(engine.get(), go, i);
    host.in_mono_ns = nullptr;
    CHECK(opened == 8);
}

namespace {

/// A page that cannot be used so, once: who does finds what `then` did just before.
struct HeldPage {
    static inline void* page;
    static inline std::function<void()> then;
    static inline struct sigaction before;

    HeldPage(uintptr_t address, int allowed, std::function<void()> first) {
        page = reinterpret_cast<void*>(address & ~uintptr_t{4095});
        then = std::move(first);
        struct sigaction action = {};
        action.sa_flags = SA_NODEFER;
        action.sa_handler = [](int) {
            ::mprotect(page, 4096, PROT_READ | PROT_WRITE);
            then();
        };
        ::sigaction(SIGSEGV, &action, &before);
        ::mprotect(page, 4096, allowed);
    }
    ~HeldPage() {
        ::mprotect(page, 4096, PROT_READ | PROT_WRITE);
        ::sigaction(SIGSEGV, &before, nullptr);
    }
};

} // namespace

namespace {

constexpr uint64_t kMemory = 0x10000;

/// Argument 0, which is also where argument 1 points to, as a clause of each tier that makes
/// records has it.
std::vector<Difo> fields_of(dbk_tier tier) {
    const std::vector<dif_var_entry> vars{variable(kVar, DIFV_SCOPE_THREAD)};
    // By an instruction that no symbol follows.
    const Difo turned = {
        {ldgs(DIF_VAR_ARG0, 1), op3(DIF_OP_NOT, 1, 0, 1), op3(DIF_OP_NOT, 1, 0, 1), ret(1)}};
    switch (tier) {
    case DBK_TIER_ARGUMENTS:
        return {arg(0)};
    case DBK_TIER_MEMBERS:
        return {{{ldgs(DIF_VAR_ARG0 + 1, 1), load(DIF_OP_LDX, 1, 1), ret(1)}}};
    case DBK_TIER_SIMPLE:
        return {constant(4711)};
    case DBK_TIER_CELLS: // self->v = arg0
        return {arg(0),
                {{ldgs(DIF_VAR_ARG0, 1), var_op(DIF_OP_STTS, kVar, 1), ret(1)},
                 no_type(),
                 {},
                 "",
                 vars}};
    default:
        return {turned};
    }
}

} // namespace

TEST_CASE("a record is whole before it is committed", "[engine][beside]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    host.kernel_memory[kMemory] = std::string("\x67\x12\0\0\0\0\0\0", 8); // 4711
    const auto tier = GENERATE(DBK_TIER_ARGUMENTS, DBK_TIER_MEMBERS, DBK_TIER_SIMPLE,
                               DBK_TIER_CELLS, DBK_TIER_NATIVE, DBK_TIER_GENERAL);
    Dof dof;
    std::vector<Action> actions;
    for (const Difo& field : fields_of(tier))
        actions.push_back(dof.trace(field));
    dof.ecb("test:::go", actions);
    dof.option(DBK_OPT_SEGMENTSIZE, 65536);
    auto* consumer = engine.created(dof.build(), {"test", 1, true, true, 0});
    std::unique_ptr<translate::Library> library;
    if (tier == DBK_TIER_NATIVE) {
        auto built = translate::Library::build(translate::native_file_head() +
                                                   translate::translate(*consumer, {}, "test").text,
                                               translate::Host::own, translate::Speed::quickly_run);
        REQUIRE(built.ok());
        library = std::move(*built);
        REQUIRE(dbk_consumer_bind(consumer, library->find("test")));
    }
    dbk_reason reason{};
    uint32_t matched = 0;
    REQUIRE(dbk_consumer_enable(consumer, &reason, &matched) == 0);
    REQUIRE(dbk_consumer_start(consumer) == 0);
    REQUIRE(go.ecbs->tier == tier);
    for (uint64_t i = 0; i < 4096 / 16; i++) // what comes next lies in another page than the header
        fire(engine.get(), go, i, kMemory);
    const auto* header = segments(consumer, 0).at(1);
    uint64_t record[2] = {};
    uint32_t looked = 0;
    {
        HeldPage held(reinterpret_cast<uintptr_t>(header), PROT_READ, [&] {
            looked++;
            std::memcpy(record, reinterpret_cast<const char*>(header) + header->committed_bytes,
                        16);
        });
        fire(engine.get(), go, 4711, kMemory);
    }
    CHECK(looked == 1);
    CHECK(static_cast<uint32_t>(record[0]) == 1);
    CHECK(record[1] == 4711);
    dbk_consumer_destroy(consumer);
}

TEST_CASE("what an NMI fires while speculations are moved is a nested drop", "[engine][beside]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto& ask = engine.probe("test", "m", "f", "ask");
    auto& speculate = engine.probe("test", "m", "f", "speculate");
    auto& commit = engine.probe("test", "m", "f", "commit");
    Dof dof = small(1 << 16);
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    dof.ecb("test:::speculate", {{DTRACEACT_SPECULATE, dof.difo(constant(1))}, dof.trace(arg(0))});
    dof.ecb("test:::commit", {{DTRACEACT_COMMIT, dof.difo(constant(1))}});
    auto* consumer = engine.start(dof.build());
    engine.fire(ask);
    for (uint64_t i = 0; i < 5; i++)
        engine.fire(speculate, {70 + i}, 1);
    engine.fire(commit, {}, 0);
    uint32_t fired = 0;
    host.on_cpu = [&](uint32_t cpu, const std::function<void()>& run) {
        host_cpu = cpu;
        run();
        host_cpu = 0;
    };
    host.in_ticks = [&] {
        if (host_cpu != 1 || fired != 0)
            return;
        fired++;
        fire(engine.get(), go, 99);
    };
    CHECK(dbk_consumer_clean(consumer));
    host.in_ticks = nullptr;
    host.on_cpu = nullptr;
    CHECK(fired == 1);
    CHECK(drops(consumer, DBK_DROP_NESTED, 1) == 1);
    auto all = records(consumer, 1);
    REQUIRE(all.size() == 5);
    for (uint64_t i = 0; i < 5; i++)
        CHECK(all[i].u64(8) == 70 + i);
}

TEST_CASE("a seal that the segment outlived is not set", "[engine][beside]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(small().build());
    for (uint64_t i = 0; i < 248 + 1; i++)
        fire(engine.get(), go, i);
    static Engine* the_engine;
    static dbk_probe* the_probe;
    static uint32_t rounds;
    the_engine = &engine;
    the_probe = &go;
    rounds = 0;
    // Between the checksum and the flag the ring wraps: what was segment 1 is 5.
    host_enter_hook = [] {
        host_enter_hook = nullptr;
        for (uint64_t i = 0; i < 4 * 248; i++, rounds++)
            fire(the_engine->get(), *the_probe, i);
    };
    dbk_consumer_seal(consumer, 0, DBK_SEAL_CLOSED);
    host_enter_hook = nullptr;
    CHECK(rounds == 4 * 248);
    for (const auto& [sequence, header] : segments(consumer, 0)) {
        INFO(sequence);
        if ((header->flags & DBK_SEGMENT_F_SEALED) == 0)
            CHECK(header->crc32c == 0);
        CHECK((sequence != 5 || (header->flags & DBK_SEGMENT_F_SEALED) == 0));
    }
}

TEST_CASE("a firing that is seen late keeps the open segment from being sealed",
          "[engine][beside]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(small().build());
    for (uint64_t i = 0; i < 7; i++)
        fire(engine.get(), go, i);
    static dbk_cpu* cpu;
    cpu = engine.get()->cpus[0];
    // It had found room before that went, and will commit its record when the seal is there.
    host_enter_hook = [] {
        host_enter_hook = nullptr;
        cpu->nesting = 1;
    };
    CHECK(dbk_consumer_seal(consumer, 0, DBK_SEAL_OPEN) == 0);
    CHECK(host_enter_hook == nullptr);
    cpu->nesting = 0;
    CHECK((segments(consumer, 0).at(1)->flags & DBK_SEGMENT_F_SEALED) == 0);
}

TEST_CASE("a seal that an unseen firing made wrong is taken off", "[engine][beside]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(small().build());
    for (uint64_t i = 0; i < 7; i++)
        fire(engine.get(), go, i);
    static dbk_segment_header* open;
    open = const_cast<dbk_segment_header*>(segments(consumer, 0).at(1));
    // After the seal, and before it is looked at once more.
    host_leave_hook = [] {
        host_leave_hook = nullptr;
        reinterpret_cast<uint8_t*>(open)[DBK_SEGMENT_DATA_OFFSET + 8] ^= 1;
    };
    CHECK(dbk_consumer_seal(consumer, 0, DBK_SEAL_OPEN) == 0);
    CHECK(host_leave_hook == nullptr);
    CHECK((open->flags & DBK_SEGMENT_F_SEALED) == 0);
}

TEST_CASE("an entry of a trigger that is being written has no number", "[engine][beside]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.snapshot("x")});
    dof.option(DBK_OPT_SNAPSHOTRATE, 0);
    engine.start(dof.build());
    const auto* head = reinterpret_cast<const dbk_meta_triggers*>(
        static_cast<const uint8_t*>(dbk_engine_triggers(engine.get())->address) +
        DBK_META_DATA_OFFSET);
    const auto* entries = reinterpret_cast<const dbk_meta_trigger*>(head + 1);
    for (uint32_t i = 0; i < head->slots; i++)
        engine.fire(go);
    uint32_t half_written = 0;
    host.in_wall_ns = [&] { // between the entry's first word and its last
        uint64_t sequence = head->entered;
        if (sequence > head->slots)
            half_written += entries[(sequence - 1) % head->slots].sequence == 0;
    };
    engine.fire(go);
    host.in_wall_ns = nullptr;
    CHECK(half_written >= 1);
    CHECK(entries[0].sequence == head->slots + 1);
}

TEST_CASE("a string that others replace is read whole", "[engine][beside]") {
    Engine engine(2);
    auto& put = engine.probe("test", "m", "f", "put");
    auto& get = engine.probe("test", "m", "f", "get");
    std::vector<dif_var_entry> vars{
        variable(kVar, DIFV_SCOPE_GLOBAL, string_type(), DIFV_KIND_ARRAY)};
    Dof dof;
    dof.option(DTRACEOPT_STRSIZE, 8192);
    dof.option(DBK_OPT_SEGMENTSIZE, 65536);
    // One key for all: x[0] = arg0 as an address; trace(x[0]).
    dof.ecb("test:::put", {dof.trace({{push_value(0), ldgs(DIF_VAR_ARG0, 2),
                                       var_op(DIF_OP_STGAA, kVar, 2), flushts(), ret(0)},
                                      no_type(),
                                      {},
                                      "",
                                      vars})});
    dof.ecb("test:::get",
            {dof.trace({{push_value(0), var_op(DIF_OP_LDGAA, kVar, 3), flushts(), ret(3)},
                        string_type(),
                        {},
                        "",
                        vars})});
    auto* consumer = engine.start(dof.build());
    host.kernel_memory[0x10000] = std::string(8000, 'a') + '\0';
    host.kernel_memory[0x20000] = std::string(8000, 'b') + '\0';
    fire(engine.get(), put, 0x10000);
    const dbk_dynvars& dynvars = consumer->dynvars;
    const uint8_t *begin = dynvars.chunks,
                  *end = begin + uint64_t{dynvars.chunk_bytes} * dynvars.chunk_count;
    const uint8_t* text = std::search_n(begin, end, 8000, 'a');
    REQUIRE(text != end);
    auto on_cpu = [&](uint32_t cpu, dbk_probe& probe, uint64_t arg0) {
        uint32_t before = std::exchange(host_cpu, cpu);
        fire(engine.get(), probe, arg0);
        host_cpu = before;
    };
    const auto middle = reinterpret_cast<uintptr_t>(text) + 4095;
    SECTION("by one who comes while it is read") {
        HeldPage held(middle, PROT_NONE, [&] { on_cpu(1, put, 0x20000); });
        fire(engine.get(), get, 0);
    }
    SECTION("by one who is at it when the reader comes") {
        HeldPage held(middle, PROT_READ, [&] { on_cpu(0, get, 0); });
        on_cpu(1, put, 0x20000);
        CHECK(records(consumer).empty());
        CHECK(drops(consumer, DBK_DROP_DYNAMIC) == 1);
        fire(engine.get(), get, 0);
    }
    auto found = records(consumer);
    REQUIRE(found.size() == 1);
    CHECK(found[0].tail(12) == std::string(8000, 'b'));
}

TEST_CASE("threads whose keys have one hash have variables of their own", "[engine][beside]") {
    Engine engine(1);
    auto& set = engine.probe("test", "m", "f", "set");
    auto& get = engine.probe("test", "m", "f", "get");
    std::vector<dif_var_entry> vars{variable(kVar, DIFV_SCOPE_THREAD)};
    Dof dof;
    dof.option(DTRACEOPT_DYNVARSIZE, 64 << 20);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.ecb("test:::set", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), var_op(DIF_OP_STTS, kVar, 1), ret(0)},
                                      no_type(),
                                      {},
                                      "",
                                      vars})});
    dof.ecb("test:::get",
            {dof.trace({{var_op(DIF_OP_LDTS, kVar, 1), ret(1)}, int_type(), {}, "", vars}),
             dof.trace(arg(0))});
    dof.option(DTRACEOPT_BUFSIZE, 16 << 20);
    auto* consumer = engine.start(dof.build());
    // Of 2^18 hashes of 32 bits some eight pairs are equal.
    constexpr uint32_t kThreads = 1 << 18;
    for (uint32_t tid = 1; tid <= kThreads; tid++) {
        host.tid = tid;
        fire(engine.get(), set, tid);
    }
    for (uint32_t tid = 1; tid <= kThreads; tid++) {
        host.tid = tid;
        fire(engine.get(), get, tid);
    }
    CHECK(drops(consumer, DBK_DROP_DYNAMIC) == 0);
    uint64_t wrong = 0;
    for (const auto& record : records(consumer))
        wrong += record.u64(8) != record.u64(16);
    CHECK(wrong == 0);
}
