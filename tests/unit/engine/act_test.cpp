// SPDX-License-Identifier: Apache-2.0
//
// Destructive actions, and the subroutines that ask the kernel or write into processes.
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <cstring>

using namespace daybreak::engine_test;

namespace {

Difo number(uint64_t value, uint32_t bytes = 4) {
    return {{setx(0, 1), ret(1)}, int_type(bytes), {value}};
}

/// What one firing of these actions did: the host's acts, errors and records.
struct Result {
    std::vector<std::string> acts;
    uint64_t errors = 0;
    size_t records = 0;
};

Result fire_once(Dof& dof, const std::vector<Action>& actions, size_t acts_max = ~size_t{0}) {
    Engine engine;
    host.acts.clear();
    host.acts_max = acts_max;
    dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
    dof.option(DTRACEOPT_DESTRUCTIVE, 1);
    dof.ecb("syscall:::entry", actions);
    dbk_consumer* consumer = engine.start(dof.build());
    engine.fire(probe);
    return {host.acts, dbk_consumer_counters(consumer, 0)->errors, records(consumer).size()};
}

/// A subroutine of integers, with a destructive program.
Result call_with(uint32_t id, std::vector<uint64_t> integers, std::string strings = "",
                 uint64_t* value_ret = nullptr) {
    Engine engine;
    Difo d{{}, int_type(), std::move(integers), std::move(strings)};
    uint32_t first = 0;
    if (!d.strings.empty()) {
        d.code.push_back(sets(1, 1));
        d.code.push_back(push_string(1));
    }
    for (; first < d.integers.size(); first++) {
        d.code.push_back(setx(first, 4));
        d.code.push_back(push_value(4));
    }
    for (uint32_t word : {call(id, 3), flushts(), ret(3)})
        d.code.push_back(word);
    dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
    Dof dof;
    dof.option(DTRACEOPT_DESTRUCTIVE, 1);
    dof.ecb("syscall:::entry", {dof.trace(d)});
    dbk_consumer* consumer = engine.start(dof.build());
    engine.fire(probe);
    std::vector<Record> found = records(consumer);
    if (value_ret != nullptr)
        *value_ret = found.empty() ? 0xdead : found[0].u64(8);
    return {{}, dbk_consumer_counters(consumer, 0)->errors, found.size()};
}

uint64_t value_of(uint32_t id, uint64_t address) {
    uint64_t value = 0;
    call_with(id, {address}, "", &value);
    return value;
}

std::string words(std::initializer_list<uint64_t> list) {
    std::string bytes;
    for (uint64_t word : list)
        bytes.append(reinterpret_cast<const char*>(&word), sizeof(word));
    return bytes;
}

} // namespace

TEST_CASE("destructive actions reach the host and leave no record", "[engine][act]") {
    Dof dof;
    Result result = fire_once(dof, {{DTRACEACT_RAISE, dof.difo(number(9))},
                                    {DTRACEACT_STOP, DOF_SECIDX_NONE},
                                    {DTRACEACT_BREAKPOINT, DOF_SECIDX_NONE},
                                    {DTRACEACT_CHILL, dof.difo(number(1000))},
                                    {DTRACEACT_PANIC, DOF_SECIDX_NONE}});
    CHECK(result.acts == std::vector<std::string>{"raise 9", "raise 19", "breakpoint entry 1",
                                                  "chill 1000", "panic entry 1"});
    CHECK(result.errors == 0);
    CHECK(result.records == 0);
}

TEST_CASE("an action that cannot be noted is a fault", "[engine][act]") {
    for (auto kind : {DTRACEACT_STOP, DTRACEACT_BREAKPOINT, DTRACEACT_PANIC})
        for (size_t room : {0u, 1u}) {
            Dof dof;
            auto result = fire_once(dof, {{kind, DOF_SECIDX_NONE}, dof.trace(number(7, 8))}, room);
            CHECK(result.acts.size() == room);
            CHECK(result.errors == 1 - room);
            CHECK(result.records == room);
        }
}

TEST_CASE("a record beside a destructive action is kept", "[engine][act]") {
    Dof dof;
    Result result = fire_once(dof, {{DTRACEACT_STOP, DOF_SECIDX_NONE}, dof.trace(number(7, 8))});
    CHECK(result.records == 1);
    CHECK(result.acts.size() == 1);
}

TEST_CASE("chill() has half of each second", "[engine][act]") {
    auto chills = [](std::vector<uint64_t> times) {
        Dof dof;
        std::vector<Action> actions;
        for (uint64_t ns : times)
            actions.push_back({DTRACEACT_CHILL, dof.difo(number(ns, 8))});
        return fire_once(dof, actions);
    };
    CHECK(chills({500'000'000}).errors == 0);
    CHECK(chills({500'000'001}).errors == 1);
    CHECK(chills({300'000'000, 200'000'000}).errors == 0);
    CHECK(chills({300'000'000, 200'000'001}).acts.size() == 1);
    CHECK(chills({0 - 1ull}).errors == 1);
    CHECK(chills({0}).errors == 0);
}

TEST_CASE("the next interval of chill() begins anew", "[engine][act]") {
    Engine engine;
    host.acts.clear();
    dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
    Dof dof;
    dof.option(DTRACEOPT_DESTRUCTIVE, 1);
    dof.ecb("syscall:::entry", {{DTRACEACT_CHILL, dof.difo(number(500'000'000, 8))}});
    dbk_consumer* consumer = engine.start(dof.build());
    engine.fire(probe);
    engine.fire(probe);
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 1);
    host.mono_ns += 1'000'000'001;
    engine.fire(probe);
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 1);
    CHECK(host.acts.size() == 2);
}

TEST_CASE("copyout() and copyoutstr() write into the process", "[engine][act]") {
    SECTION("what was written") {
        Difo d{{setx(0, 4), push_value(4), setx(1, 4), push_value(4), setx(2, 4), push_value(4),
                call(DIF_SUBR_COPYOUT, 3), flushts(), ret(0)},
               no_type(),
               {0x7000, 0x1002, 6}};
        Engine engine;
        host.kernel_memory[0x7000] = "secret";
        host.user_memory[0x1000] = "..........";
        dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
        Dof dof;
        dof.option(DTRACEOPT_DESTRUCTIVE, 1);
        dof.ecb("syscall:::entry", {dof.trace(d)});
        dbk_consumer* consumer = engine.start(dof.build());
        engine.fire(probe);
        CHECK(host.user_memory[0x1000] == "..secret..");
        CHECK(dbk_consumer_counters(consumer, 0)->errors == 0);
    }
    SECTION("a string, cut to the room") {
        Difo d{{sets(1, 1), push_string(1), setx(0, 4), push_value(4), setx(1, 4), push_value(4),
                call(DIF_SUBR_COPYOUTSTR, 3), flushts(), ret(0)},
               no_type(),
               {0x1000, 3},
               std::string("\0hello\0", 7)};
        Engine engine;
        host.user_memory[0x1000] = "..........";
        dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
        Dof dof;
        dof.option(DTRACEOPT_DESTRUCTIVE, 1);
        dof.ecb("syscall:::entry", {dof.trace(d)});
        engine.start(dof.build());
        engine.fire(probe);
        CHECK(host.user_memory[0x1000] == "hel.......");
    }
    SECTION("faults") {
        CHECK(call_with(DIF_SUBR_COPYOUT, {0x7000, 0x9000, 6}).errors == 1); // neither is there
        CHECK(call_with(DIF_SUBR_COPYOUT, {0x7000, 0x9000, 1 << 20}).errors == 1); // no scratch
        CHECK(call_with(DIF_SUBR_COPYOUTSTR, {0x9000, 6}, std::string("\0hello\0", 7)).errors == 1);
        CHECK(call_with(DIF_SUBR_COPYOUT, {0x7000}).errors == 1); // arguments are missing
    }
}

TEST_CASE("copyout() needs option destructive", "[engine][act]") {
    Dof dof;
    dof.ecb("a:::", {dof.trace({{setx(0, 4), push_value(4), push_value(4), push_value(4),
                                 call(DIF_SUBR_COPYOUT, 3), ret(3)},
                                int_type(),
                                {1}})});
    Loaded loaded = load(dof.build());
    CHECK(loaded.reason.find("copyout() is destructive, and option destructive is not set") !=
          std::string::npos);
}

TEST_CASE("locks answer from what the kernel keeps in them", "[engine][act]") {
    auto prepare = [] {
        host.kernel_memory[0x7000] = words({host.curthread | 1});
        host.kernel_memory[0x7100] = words({0xffff888000009000});
        host.kernel_memory[0x7200] = words({0});
        host.kernel_memory[0x7300] = words({0x200}); // one reader
        host.kernel_memory[0x7400] = words({0xff});  // a writer
        host.kernel_memory[0x7500] = words({0x300}); // a reader, and a writer waits
    };
    auto ask = [&](uint32_t id, uint64_t address) {
        Difo d{{setx(0, 4), push_value(4), call(id, 3), flushts(), ret(3)}, int_type(), {address}};
        Engine engine;
        prepare();
        dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
        Dof dof;
        dof.ecb("syscall:::entry", {dof.trace(d)});
        dbk_consumer* consumer = engine.start(dof.build());
        engine.fire(probe);
        std::vector<Record> found = records(consumer);
        return found.empty() ? 0xdead : found[0].u64(8);
    };
    CHECK(ask(DIF_SUBR_MUTEX_OWNED, 0x7000) == 1);
    CHECK(ask(DIF_SUBR_MUTEX_OWNED, 0x7100) == 0);
    CHECK(ask(DIF_SUBR_MUTEX_OWNED, 0x7200) == 0);
    CHECK(ask(DIF_SUBR_MUTEX_OWNER, 0x7100) == 0xffff888000009000);
    CHECK(ask(DIF_SUBR_MUTEX_OWNER, 0x7200) == 0);
    CHECK(ask(DIF_SUBR_MUTEX_TYPE_ADAPTIVE, 0x7000) == 1);
    CHECK(ask(DIF_SUBR_MUTEX_TYPE_SPIN, 0x7000) == 0);
    CHECK(ask(DIF_SUBR_RW_READ_HELD, 0x7200) == 0);
    CHECK(ask(DIF_SUBR_RW_READ_HELD, 0x7300) == 1);
    CHECK(ask(DIF_SUBR_RW_READ_HELD, 0x7400) == 0);
    CHECK(ask(DIF_SUBR_RW_WRITE_HELD, 0x7400) == 1);
    CHECK(ask(DIF_SUBR_RW_WRITE_HELD, 0x7500) == 0);
    CHECK(ask(DIF_SUBR_RW_ISWRITER, 0x7400) == 1);
    CHECK(ask(DIF_SUBR_RW_ISWRITER, 0x7500) == 1);
    CHECK(ask(DIF_SUBR_RW_ISWRITER, 0x7300) == 0);
    for (uint32_t id : {DIF_SUBR_MUTEX_OWNED, DIF_SUBR_MUTEX_OWNER, DIF_SUBR_MUTEX_TYPE_ADAPTIVE,
                        DIF_SUBR_MUTEX_TYPE_SPIN, DIF_SUBR_RW_READ_HELD, DIF_SUBR_RW_WRITE_HELD,
                        DIF_SUBR_RW_ISWRITER})
        CHECK(value_of(id, 0x10) == 0xdead);
}

namespace {

/// A tree of files: "/" -> "usr" (a mount of its own) -> "lib" -> "libc.so".
void map_tree() {
    auto dentry = [](uint64_t at, uint64_t parent, uint64_t name) {
        host.kernel_memory[at] = words({0, 0, 0, parent, 0, name});
    };
    // A struct mount at `at`; its vfsmount is 32 bytes further on.
    auto mount = [](uint64_t at, uint64_t parent, uint64_t mountpoint, uint64_t root) {
        host.kernel_memory[at] = words({0, 0, parent, mountpoint, root});
    };
    host.kernel_memory[0x100] = std::string("/\0", 2);
    host.kernel_memory[0x110] = std::string("usr\0", 4);
    host.kernel_memory[0x120] = std::string("lib\0", 4);
    host.kernel_memory[0x130] = std::string("libc.so\0", 8);
    dentry(0x1000, 0x1000, 0x100); // the first root
    dentry(0x1100, 0x1000, 0x110); // usr in it
    dentry(0x2000, 0x2000, 0x100); // the root of what is mounted on it
    dentry(0x2100, 0x2000, 0x120);
    dentry(0x2200, 0x2100, 0x130);
    mount(0x5000, 0x5000, 0x1000, 0x1000);
    mount(0x5100, 0x5000, 0x1100, 0x2000);
    host.kernel_memory[0x6000] = words({0x5120, 0x2200}); // struct path
    host.kernel_memory[0x6100] = words({0x5020, 0x1000}); // "/"
    host.kernel_memory[0x6200] = words({0x5020, 0x3333}); // a dentry that is none
}

std::string path_of(uint64_t address) {
    Difo d{{setx(0, 4), push_value(4), call(DIF_SUBR_D_PATH, 3), flushts(), ret(3)},
           string_type(),
           {address}};
    Engine engine;
    map_tree();
    dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
    Dof dof;
    dof.ecb("syscall:::entry", {dof.trace(d)});
    dbk_consumer* consumer = engine.start(dof.build());
    engine.fire(probe);
    std::vector<Record> found = records(consumer);
    return found.empty() ? "<fault>" : found[0].tail(12);
}

} // namespace

TEST_CASE("d_path() follows dentries and mounts", "[engine][act]") {
    CHECK(path_of(0x6000) == "/usr/lib/libc.so");
    CHECK(path_of(0x6100) == "/");
    CHECK(path_of(0x6200) == "<fault>");
    CHECK(path_of(0) == "<fault>");
}

TEST_CASE("strtok() goes on in the next clause, and faults when nothing is left", "[engine][act]") {
    auto token = [](bool first) {
        Difo d{{sets(1, 1), sets(8, 2), push_string(first ? 1u : 0u), push_string(2),
                call(DIF_SUBR_STRTOK, 3), flushts(), ret(3)},
               string_type(),
               {},
               std::string("\0a,,b c\0,\0", 10)};
        return d;
    };
    Engine engine;
    dbk_probe& probe = engine.probe("syscall", "vmlinux", "open", "entry");
    Dof dof;
    dof.ecb("syscall:::entry", {dof.trace(token(true))});
    dof.ecb("syscall:::entry", {dof.trace(token(false))});
    // NULL, which cannot be stored as a string; then there is nothing to go on with.
    Difo last = token(false);
    last.type = int_type();
    dof.ecb("syscall:::entry", {dof.trace(last)});
    dof.ecb("syscall:::entry", {dof.trace(last)});
    dbk_consumer* consumer = engine.start(dof.build());
    engine.fire(probe);
    std::vector<Record> found = records(consumer);
    REQUIRE(found.size() == 3);
    CHECK(found[0].tail(12) == "a");
    CHECK(found[1].tail(12) == "b c");
    CHECK(found[2].u64(8) == 0);
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 1);
}
