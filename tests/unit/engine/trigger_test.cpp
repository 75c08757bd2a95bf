// SPDX-License-Identifier: Apache-2.0
//
// Triggers: entries, their rate limit, and the action that enters them.
#include "engine/api/trigger.h"
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <thread>

using namespace daybreak::engine_test;

namespace {

const dbk_meta_triggers& head_of(const Engine& engine) {
    const dbk_pages* pages = dbk_engine_triggers(engine.get());
    return *reinterpret_cast<const dbk_meta_triggers*>(static_cast<const uint8_t*>(pages->address) +
                                                       DBK_META_DATA_OFFSET);
}

const dbk_meta_trigger& entry_of(const Engine& engine, uint64_t sequence) {
    const dbk_meta_triggers& head = head_of(engine);
    return reinterpret_cast<const dbk_meta_trigger*>(&head + 1)[(sequence - 1) % head.slots];
}

constexpr uint64_t kSecond = 1'000'000'000;

std::string refusal(Dof& dof, const std::vector<Action>& actions) {
    dof.ecb("syscall:::entry", actions);
    Loaded loaded = load(dof.build());
    dbk_program_destroy(loaded.program);
    return loaded.reason;
}

} // namespace

TEST_CASE("the block of triggers is whole from the start", "[engine][trigger]") {
    Engine engine;
    const dbk_pages* pages = dbk_engine_triggers(engine.get());
    const auto* header = static_cast<const dbk_meta_header*>(pages->address);
    CHECK(header->magic == DBK_META_MAGIC);
    CHECK(header->kind == DBK_META_TRIGGERS);
    CHECK(header->ring_id == 0);
    CHECK(header->committed_bytes == header->block_bytes);
    CHECK(head_of(engine).entered == 0);
    CHECK(head_of(engine).slots == 84);
    CHECK(dbk_engine_trigger_sequence(engine.get()) == 0);
}

TEST_CASE("a trigger is entered with when, where and which", "[engine][trigger]") {
    Engine engine;
    dbk_trigger trigger{};
    dbk_trigger_init(&trigger, DBK_TRIGGER_OOM, 0, "oom-kill", kSecond);
    host.triggered = 0;
    CHECK(dbk_trigger_fire(engine.get(), &trigger, 0) == 1);
    const dbk_meta_trigger& entry = entry_of(engine, 1);
    CHECK(entry.sequence == 1);
    CHECK(entry.kind == DBK_TRIGGER_OOM);
    CHECK(entry.mono_ns + 10 >= host.mono_ns);
    CHECK(entry.wall_ns == host.wall_ns);
    CHECK(std::string(entry.name) == "oom-kill");
    CHECK(entry.suppressed == 0);
    CHECK(host.triggered == 1);
    CHECK(dbk_trigger_enter(engine.get(), &trigger, 0) == 0);
    uint64_t entered_ns = entry.mono_ns;
    host.mono_ns = entered_ns + kSecond - 2; // a reading adds 1
    CHECK(dbk_trigger_fire(engine.get(), &trigger, 0) == 0);
    CHECK(entry.suppressed == 2);
    CHECK(host.triggered == 1);
    host.mono_ns = entered_ns + kSecond - 1;
    CHECK(dbk_trigger_fire(engine.get(), &trigger, 0) == 2);
    CHECK(entry.suppressed == 2);
    CHECK(entry_of(engine, 2).suppressed == 0);
    CHECK(dbk_engine_trigger_sequence(engine.get()) == 2);
}

TEST_CASE("time that starts at 0 or goes back a little enters nothing twice", "[engine][trigger]") {
    Engine engine;
    dbk_trigger trigger{};
    dbk_trigger_init(&trigger, DBK_TRIGGER_OOPS, 0, "oops", kSecond);
    host.mono_ns = 0;
    CHECK(dbk_trigger_enter(engine.get(), &trigger, 0) == 1);
    CHECK(dbk_trigger_enter(engine.get(), &trigger, 0) == 0);
    host.mono_ns = 5 * kSecond;
    CHECK(dbk_trigger_enter(engine.get(), &trigger, 0) == 2);
    host.mono_ns = host.mono_ns - 1000;
    CHECK(dbk_trigger_enter(engine.get(), &trigger, 0) == 0);
}

TEST_CASE("without a limit each is entered, and the entries wrap", "[engine][trigger]") {
    Engine engine;
    dbk_trigger trigger{};
    dbk_trigger_init(&trigger, DBK_TRIGGER_ACTION, 1, "all", 0);
    uint32_t slots = head_of(engine).slots;
    for (uint64_t i = 1; i <= slots + 3; i++)
        CHECK(dbk_trigger_enter(engine.get(), &trigger, 7) == i);
    CHECK(entry_of(engine, 1).sequence == slots + 1);
    CHECK(entry_of(engine, 4).sequence == 4);
    CHECK(entry_of(engine, 4).epid == 7);
}

TEST_CASE("a name is cut to what an entry holds", "[engine][trigger]") {
    dbk_trigger trigger{};
    dbk_trigger_init(&trigger, DBK_TRIGGER_ACTION, 1, std::string(60, 'x').c_str(), 0);
    CHECK(std::string(trigger.name) == std::string(47, 'x'));
}

TEST_CASE("triggers of several threads have each a number of their own",
          "[engine][trigger][parallel]") {
    Engine engine;
    constexpr int kThreads = 4, kEach = 15; // below the slots
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++)
        threads.emplace_back([&engine] {
            dbk_trigger trigger{};
            dbk_trigger_init(&trigger, DBK_TRIGGER_ACTION, 1, "all", 0);
            for (int i = 0; i < kEach; i++)
                dbk_trigger_enter(engine.get(), &trigger, 0);
        });
    for (std::thread& thread : threads)
        thread.join();
    std::set<uint64_t> seen;
    for (uint64_t i = 1; i <= kThreads * kEach; i++)
        seen.insert(entry_of(engine, i).sequence);
    CHECK(seen.size() == kThreads * kEach);
    CHECK(*seen.begin() == 1);
}

TEST_CASE("snapshot() enters its name and records the number", "[engine][trigger]") {
    Engine engine;
    dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
    Dof dof;
    dof.ecb("syscall:::entry", {dof.snapshot("slow"), dof.snapshot("other")});
    dof.ecb("syscall:::entry", {dof.snapshot("slow")});
    dbk_consumer* consumer = engine.start(dof.build());
    engine.fire(probe);
    host.mono_ns += 2 * kSecond;
    engine.fire(probe);
    std::vector<Record> found = records(consumer);
    REQUIRE(found.size() == 4);
    CHECK(found[0].u64(8) == 1);
    CHECK(found[0].u64(16) == 2);
    CHECK(found[1].u64(8) == 0); // of the same name, in the same second
    CHECK(found[2].u64(8) == 3);
    const dbk_meta_trigger& entry = entry_of(engine, 1);
    CHECK(std::string(entry.name) == "slow");
    CHECK(entry.kind == DBK_TRIGGER_ACTION);
    CHECK(entry.ring_id == dbk_consumer_ring_id(consumer));
    CHECK(entry.epid == found[0].epid);
    CHECK(entry.suppressed == 1);
}

TEST_CASE("option snapshotrate is the time between two entries", "[engine][trigger]") {
    auto entered = [](uint64_t rate_ns) {
        Engine engine;
        dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
        Dof dof;
        dof.option(DBK_OPT_SNAPSHOTRATE, rate_ns);
        dof.ecb("syscall:::entry", {dof.snapshot("slow")});
        engine.start(dof.build());
        for (int i = 0; i < 10; i++) {
            engine.fire(probe);
            host.mono_ns += kSecond / 10;
        }
        return dbk_engine_trigger_sequence(engine.get());
    };
    CHECK(entered(0) == 10);
    CHECK(entered(kSecond / 5) == 5);
    CHECK(entered(UINT64_MAX) == 1);
}

TEST_CASE("a snapshot() that makes no sense is refused", "[engine][trigger]") {
    for (const char* name : {"", ".hidden", "a/b", "a b", "\xc3\xa9"}) {
        Dof dof;
        INFO(name);
        CHECK(refusal(dof, {dof.snapshot(name)}).find("none that a file can have") !=
              std::string::npos);
    }
    Dof fits, too_long, no_name, no_value, narrow, speculative, many;
    CHECK(refusal(fits, {fits.snapshot(std::string(47, 'x'))}).empty());
    CHECK_FALSE(refusal(too_long, {too_long.snapshot(std::string(48, 'x'))}).empty());
    Action action = no_name.snapshot("x");
    action.arg_is_string = false;
    CHECK_FALSE(refusal(no_name, {action}).empty());
    action = no_value.snapshot("x");
    action.difo = DOF_SECIDX_NONE;
    CHECK_FALSE(refusal(no_value, {action}).empty());
    action = narrow.snapshot("x");
    action.difo = narrow.difo({{setx(0, 1), ret(1)}, int_type(4), {0}});
    CHECK_FALSE(refusal(narrow, {action}).empty());
    Action speculate{DTRACEACT_SPECULATE,
                     speculative.difo({{setx(0, 1), ret(1)}, int_type(4), {1}})};
    CHECK_FALSE(refusal(speculative, {speculate, speculative.snapshot("x")}).empty());
}

TEST_CASE("a program has at most 64 names of snapshots", "[engine][trigger]") {
    for (uint32_t count : {DBK_SNAPSHOT_NAMES_MAX, DBK_SNAPSHOT_NAMES_MAX + 1}) {
        Engine engine;
        Dof dof;
        std::vector<Action> actions;
        for (uint32_t i = 0; i < count; i++)
            actions.push_back(dof.snapshot("n" + std::to_string(i)));
        dof.ecb("syscall:::entry", actions);
        Loaded loaded = load(dof.build());
        REQUIRE(loaded.program != nullptr);
        dbk_consumer_config config{};
        config.ring_id = 1;
        dbk_reason reason{};
        dbk_consumer* consumer = nullptr;
        int error = dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer);
        CHECK((error == 0) == (count == DBK_SNAPSHOT_NAMES_MAX));
        if (error != 0)
            dbk_program_destroy(loaded.program);
        dbk_consumer_destroy(consumer);
    }
}
