// SPDX-License-Identifier: Apache-2.0
#include "engine/api/trigger.h"
#include "formats/abi/meta.h"
#include "tests/unit/engine/test_host.hpp"
#include "tests/unit/kmod/access.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

namespace {

using namespace daybreak::engine_test;

/// The module's blocks and hooks, in a machine of their own.
class Machine {
public:
    Machine() {
        // The module's triggers are static: what one test entered is long ago for the next.
        static uint64_t loads = 0;
        host.mono_ns += ++loads * 3'600'000'000'000;
        loaded_ = test_machine_load(engine_.get());
    }
    ~Machine() { test_machine_unload(); }
    Machine(const Machine&) = delete;

    bool loaded() const { return loaded_; }
    static const dbk_meta_log& log() {
        return *static_cast<const dbk_meta_log*>(test_machine_log());
    }
    /// The newest bytes that were logged, as many as there is room for.
    static std::string text() {
        const char* ring = reinterpret_cast<const char*>(&log() + 1);
        uint64_t end = log().written_bytes, from = end - std::min<uint64_t>(end, log().room_bytes);
        std::string found;
        for (uint64_t at = from; at < end; at++)
            found += ring[at % log().room_bytes];
        return found;
    }
    static const dbk_meta_crash& crash(dbk_crash_state state) {
        return static_cast<const dbk_meta_crash*>(test_machine_crash())[state - 1];
    }
    Engine& engine() { return engine_; }
    uint64_t triggers() { return dbk_engine_trigger_sequence(engine_.get()); }
    static void say(const std::string& text) {
        dbk_dying_console(text.data(), static_cast<uint32_t>(text.size()));
    }

private:
    Engine engine_;
    bool loaded_ = false;
};

} // namespace

TEST_CASE("text is put together without a formatter, and cut", "[kmod][dying]") {
    CHECK(test_hex(0) == std::string("0x0000000000000000"));
    CHECK(test_hex(0xfedcba9876543210) == std::string("0xfedcba9876543210"));
    CHECK(test_decimal(0, 1) == std::string("0"));
    CHECK(test_decimal(0, 0) == std::string());
    CHECK(test_decimal(7, 6) == std::string("000007"));
    CHECK(test_decimal(UINT64_MAX, 1) == std::string("18446744073709551615"));
    test_text(nullptr, 0);
    CHECK(test_text("one\ntwo", 7) == std::string("one"));
    CHECK(test_text("12345", 2) == std::string("one12"));
    std::string longest(2 * DBK_CRASH_REASON_BYTES, 'x');
    std::string cut = test_text(longest.c_str(), 2 * DBK_CRASH_REASON_BYTES);
    CHECK(cut == "one12" + std::string(DBK_CRASH_REASON_BYTES - 1 - 5, 'x'));
    CHECK(test_text("y", 1) == cut);
}

TEST_CASE("the log has each message in a line of its own, with its time", "[kmod][dying]") {
    Machine machine;
    REQUIRE(machine.loaded());
    host.mono_ns = 12'000'345'678;
    machine.say("first\n");
    machine.say("second");
    machine.say("");
    CHECK(machine.text() == "[12.000345] first\n[12.000345] second\n[12.000345] \n");
    // The kernel's own limit of a message.
    dbk_dying_log(std::string(4000, 'm').data(), 4000);
    CHECK(machine.text().ends_with("] " + std::string(1024, 'm') + "\n"));
}

TEST_CASE("the log wraps and keeps the newest, byte for byte", "[kmod][dying]") {
    Machine machine;
    std::string all;
    for (uint32_t i = 0; all.size() < 3 * machine.log().room_bytes; i++) {
        std::string message = std::to_string(i) + std::string(i % 97, static_cast<char>('a' + i % 26));
        host.mono_ns = 1'000'000'000;
        machine.say(message);
        all += "[1.000000] " + message + "\n";
    }
    CHECK(machine.log().written_bytes == all.size());
    CHECK((machine.text() == all.substr(all.size() - machine.log().room_bytes)));
}

TEST_CASE("a panic is believed while the kernel means it", "[kmod][dying]") {
    Machine machine;
    machine.say("Kernel panic - not syncing: made up\n");
    CHECK(machine.crash(DBK_CRASH_PANIC).state == DBK_CRASH_NONE);
    CHECK(machine.triggers() == 0);
    test_oops_in_progress(1);
    machine.say("Kernel panic - not syncing: first\nmore");
    machine.say("---[ end Kernel panic - not syncing: last ]---");
    machine.say("end Kernel panic - not syncing: at the very start");
    test_panic("second");
    machine.say("Kernel panic - not syncing: third");
    test_oops_in_progress(0);
    CHECK(machine.crash(DBK_CRASH_PANIC).state == DBK_CRASH_PANIC);
    CHECK(machine.crash(DBK_CRASH_PANIC).reason == std::string("first"));
    CHECK(machine.crash(DBK_CRASH_PANIC).count == 1);
    CHECK(machine.triggers() == 1);
    // Far into a message it is a process's text.
    test_oops_in_progress(1);
    machine.say(std::string(48, '.') + "BUG: soft lockup");
    test_oops_in_progress(0);
    CHECK(machine.triggers() == 1);
    machine.say(std::string(47, '.') + "BUG: soft lockup");
    CHECK(machine.triggers() == 2);
}

TEST_CASE("an oops has what the kernel said of it, and no process's name", "[kmod][dying]") {
    Machine machine;
    // A process called so, whose segfault is logged, long before.
    machine.say("BUG: x[7]: segfault at 0 ip 0 sp 0 error 4");
    test_oops("Oops", 0xffffffff81000010);
    CHECK(machine.crash(DBK_CRASH_OOPS).reason ==
          std::string("Oops at 0xffffffff81000010, tester[100]"));
    CHECK(machine.crash(DBK_CRASH_OOPS).count == 1);
    host.mono_ns += 10'000'000'000;
    test_oops("Oops", 0);
    CHECK(machine.crash(DBK_CRASH_OOPS).count == 2);
    CHECK(machine.triggers() == 2);
}

TEST_CASE("the line of a bug is the reason of the oops that follows, once", "[kmod][dying]") {
    std::string said = "BUG: kernel NULL pointer dereference, address: 0000000000000000";
    Machine machine;
    test_oops_in_progress(1);
    machine.say(said + "\n");
    test_oops_in_progress(0);
    test_oops("Oops", 1);
    CHECK(machine.crash(DBK_CRASH_OOPS).reason == said + " at 0x0000000000000001, tester[100]");
}

TEST_CASE("an orderly end is marked with its kind", "[kmod][dying]") {
    for (auto [event, what] : {std::pair(1ul, "restart"), std::pair(2ul, "halt"), std::pair(3ul, "power off")}) {
        Machine machine;
        test_reboot(event);
        CHECK(machine.crash(DBK_CRASH_RESTART).reason == std::string(what));
    }
}

TEST_CASE("what CPUs had open is sealed by an oops, a panic and a sleep", "[kmod][dying]") {
    Machine machine;
    dbk_probe& probe = machine.engine().probe("syscall", "vmlinux", "open", "entry");
    Dof dof;
    dof.ecb("syscall:::entry", {dof.snapshot("slow")});
    dbk_consumer* consumer = machine.engine().start(dof.build());
    auto open_count = [&] {
        size_t count = 0;
        for (uint32_t cpu : {0u, 1u})
            for (const auto& [sequence, header] : segments(consumer, cpu))
                count += (header->flags & DBK_SEGMENT_F_SEALED) == 0;
        return count;
    };
    for (uint32_t cpu : {0u, 1u})
        machine.engine().fire(probe, {}, cpu);
    test_dying_add(consumer);
    SECTION("oops, and another at once") {
        test_oops("Oops", 0);
        CHECK(open_count() == 0);
        machine.engine().fire(probe, {}, 0);
        test_oops("Oops", 0); // too soon after the first to be worth it
        CHECK(open_count() == 1);
    }
    SECTION("panic") {
        test_panic("now");
        CHECK(open_count() == 0);
        CHECK(machine.crash(DBK_CRASH_PANIC).sealed == 2);
    }
    SECTION("sleep, before and after: processes run, and may end a ring meanwhile") {
        uint32_t unsafe = test_seals_outside_rcu();
        bool hibernates = GENERATE(false, true);
        for (bool begins : {true, false}) {
            test_sleep(begins, hibernates);
            CHECK(open_count() == 0);
            machine.engine().fire(probe, {}, 0);
        }
        CHECK(test_seals_outside_rcu() == unsafe);
        CHECK(machine.triggers() == 3); // one of the program, two of sleep
    }
    SECTION("panic, and sealing takes its time: the others' segments stay as they are") {
        host.in_mono_ns = [] { host.mono_ns += 300'000'000; };
        test_panic("now");
        host.in_mono_ns = nullptr;
        CHECK(open_count() == 1);
    }
    SECTION("a ring that has gone is left alone") {
        test_dying_remove(consumer);
        test_panic("now");
        CHECK(open_count() == 2);
        CHECK(machine.crash(DBK_CRASH_PANIC).sealed == 0);
        return;
    }
    test_dying_remove(consumer);
}
