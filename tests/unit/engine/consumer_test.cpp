// SPDX-License-Identifier: Apache-2.0
//
// Consumers: matching, BEGIN to END, exit(), faults into ERROR, nested firings, late probes.
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <memory>
#include <optional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace daybreak::engine_test;

namespace {

Difo load_arg0() {
    return {{ldgs(DIF_VAR_ARG0, 1), load(DIF_OP_LDX, 1, 2), ret(2)}};
}

std::vector<uint64_t> values(const dbk_consumer* consumer, uint32_t cpu = 0) {
    std::vector<uint64_t> list;
    for (const auto& record : records(consumer, cpu))
        list.push_back(record.u64(8));
    return list;
}

} // namespace

TEST_CASE("globs match as probe descriptions do", "[engine][match]") {
    CHECK(dbk_glob_match("", "anything"));
    CHECK(dbk_glob_match("", ""));
    CHECK(dbk_glob_match("*", ""));
    CHECK(dbk_glob_match("abc", "abc"));
    CHECK_FALSE(dbk_glob_match("abc", "abcd"));
    CHECK_FALSE(dbk_glob_match("abcd", "abc"));
    CHECK(dbk_glob_match("a*c", "abbbc"));
    CHECK(dbk_glob_match("*read*", "vfs_readv"));
    CHECK(dbk_glob_match("a?c", "abc"));
    CHECK_FALSE(dbk_glob_match("a?c", "ac"));
    CHECK(dbk_glob_match("[a-c]x", "bx"));
    CHECK_FALSE(dbk_glob_match("[a-c]x", "dx"));
    CHECK(dbk_glob_match("[!a-c]x", "dx"));
    CHECK(dbk_glob_match("[]a]", "]"));
    CHECK(dbk_glob_match("\\*", "*"));
    CHECK_FALSE(dbk_glob_match("\\*", "x"));
    CHECK(dbk_glob_match("[a", "[a"));
    CHECK(dbk_glob_match("*a*b*c*", "xxaxxbxxcxx"));
    CHECK_FALSE(dbk_glob_match("*a*b*c*", "xxaxxbxx"));
    CHECK(dbk_glob_match("[\\]]", "]"));
    // Work stays bounded by the product of the lengths.
    std::string stars, name(127, 'a');
    for (int i = 0; i < 63; i++)
        stars += "*a";
    CHECK_FALSE(dbk_glob_match((stars + "b").c_str(), name.c_str()));
}

TEST_CASE("an enabling matches what is there and what comes later", "[engine][consumer]") {
    Engine engine;
    auto& first = engine.probe("syscall", "vmlinux", "read", "entry");
    engine.probe("syscall", "vmlinux", "read", "return");
    Dof dof;
    dof.ecb("syscall::r*:entry", {dof.trace(constant(1))});
    dof.ecb("syscall:::entry", {dof.trace(constant(2))});
    auto* consumer = engine.start(dof.build());
    CHECK(host.enabled.size() == 1);
    CHECK(host.settled == 1);
    auto& later = engine.probe("syscall", "vmlinux", "write", "entry");
    CHECK(host.settled == 2);
    CHECK(host.enabled.size() == 2);
    engine.fire(first);
    engine.fire(later);
    CHECK(values(consumer) == std::vector<uint64_t>{1, 2, 2});
    SECTION("a batch settles once") {
        dbk_probe more[3]{};
        dbk_probe_add_begin(engine.get());
        for (auto& probe : more) {
            probe.provider = "syscall";
            probe.module = probe.function = "x";
            probe.name = &probe == &more[2] ? "entry" : "return";
            CHECK(dbk_probe_is_awaited(engine.get(), &probe) == (&probe == &more[2]));
            CHECK(dbk_probe_add(engine.get(), &probe) == 0);
        }
        CHECK(host.settled == 2);
        CHECK(dbk_probe_add_end(engine.get()) == 0);
        CHECK(host.settled == 3);
        dbk_probe* list[] = {&more[0], &more[1], &more[2]};
        uint32_t count = dbk_engine_probe_count(engine.get());
        dbk_probe_remove_many(engine.get(), list, 3);
        CHECK(dbk_engine_probe_count(engine.get()) == count - 3);
        CHECK(host.enabled.size() == 2);
        CHECK_FALSE(dbk_probe_is_enabled(&more[1]));
    }
}

TEST_CASE("a probe that is named by its id is awaited until it comes", "[engine][consumer]") {
    Engine engine;
    auto& last = engine.probe("test", "", "", "there");
    Dof dof;
    dof.ecb(":::", {dof.trace(constant(1))}, DOF_SECIDX_NONE, last.id + 1);
    engine.start(dof.build());
    dbk_probe coming{};
    coming.provider = "test";
    coming.module = coming.function = "";
    coming.name = "coming";
    CHECK(dbk_probe_is_awaited(engine.get(), &coming));
    auto& next = engine.probe("test", "", "", "next");
    CHECK(next.id == last.id + 1);
    CHECK(dbk_probe_is_enabled(&next));
    CHECK_FALSE(dbk_probe_is_awaited(engine.get(), &coming));
}

TEST_CASE("probes without ECBs go at once, those of their host that have some stay",
          "[engine][consumer]") {
    Engine engine;
    int ours = 0, others = 0;
    dbk_probe probes[4]{};
    for (size_t i = 0; i < 4; i++) {
        probes[i].provider = "test";
        probes[i].module = probes[i].function = "";
        probes[i].name = i == 1 ? "used" : "unused";
        probes[i].host_data = i == 2 ? &others : &ours;
        REQUIRE(dbk_probe_add(engine.get(), &probes[i]) == 0);
    }
    Dof dof;
    dof.ecb("test:::used", {dof.trace(constant(1))});
    auto* consumer = engine.start(dof.build());
    const uint32_t count = dbk_engine_probe_count(engine.get());
    const auto waits = host.synchronized;
    dbk_probes_remove_unused(engine.get(), &ours);
    CHECK(host.synchronized == waits);
    CHECK(dbk_engine_probe_count(engine.get()) == count - 2);
    const dbk_probe* at = dbk_engine_probe_at(engine.get(), 3); // after BEGIN, END and ERROR
    REQUIRE(at == &probes[1]);
    CHECK(at->next == &probes[2]);
    CHECK(probes[2].next == nullptr);
    engine.fire(probes[1]);
    CHECK(values(consumer) == std::vector<uint64_t>{1});
    // The list's end is still its end.
    REQUIRE(dbk_probe_add(engine.get(), &probes[3]) == 0);
    CHECK(probes[2].next == &probes[3]);
    dbk_probe* rest[] = {&probes[1], &probes[2], &probes[3]};
    dbk_probe_remove_many(engine.get(), rest, 3);
}

TEST_CASE("an engine that is destroyed under its consumer ends the program", "[engine][consumer]") {
    Engine engine;
    engine.probe("syscall", "vmlinux", "read", "entry");
    Dof dof;
    dof.ecb("syscall::read:entry", {dof.trace(constant(1))});
    engine.start(dof.build());
    pid_t child = fork();
    if (child == 0) {
        const rlimit none{};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGILL, SIG_DFL);
        dbk_engine_destroy(engine.get());
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGILL);
}

TEST_CASE("bad probes are refused", "[engine][consumer]") {
    Engine engine;
    dbk_probe probe{};
    probe.provider = probe.module = probe.function = "x";
    std::string name(DBK_PROBE_NAME_BYTES_MAX + 1, 'n');
    probe.name = name.c_str();
    CHECK(dbk_probe_add(engine.get(), &probe) == -EINVAL);
    name.pop_back();
    probe.arg_count = 11;
    probe.name = name.c_str();
    CHECK(dbk_probe_add(engine.get(), &probe) == -EINVAL);
    probe.arg_count = 10;
    CHECK(dbk_probe_add(engine.get(), &probe) == 0);
    dbk_probe_remove(engine.get(), &probe);
}

TEST_CASE("a probe that goes while the host settles is not looked at again", "[engine][consumer]") {
    Engine engine;
    auto& probe = engine.probe("test", "m", "f", "stays");
    auto gone = std::make_unique<dbk_probe>();
    gone->provider = "test";
    gone->module = gone->function = "m";
    gone->name = "goes";
    REQUIRE(dbk_probe_add(engine.get(), gone.get()) == 0);
    Dof dof;
    dof.ecb("test:::", {dof.trace(constant(1))});
    auto* stays = engine.start(dof.build());
    dbk_reason reason{};
    dbk_consumer* consumer = engine.created(dof.build(), {"test", 2, false, false, 0});
    uint32_t matched = 0;
    REQUIRE(dbk_consumer_enable(consumer, &reason, &matched) == 0);
    CHECK(matched == 2);
    bool goes = GENERATE(false, true);
    host.in_synchronize = [&] {
        if (!std::exchange(goes, false))
            return;
        dbk_probe_remove(engine.get(), gone.get());
        gone.reset();
    };
    dbk_consumer_destroy(consumer);
    engine.fire(probe);
    CHECK(values(stays) == std::vector<uint64_t>{1});
    host.in_synchronize = nullptr;
    if (gone)
        dbk_probe_remove(engine.get(), gone.get());
}

TEST_CASE("a host that cannot arm fails the enabling and keeps nothing", "[engine][consumer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::", {dof.trace(constant(1))});
    dbk_reason reason{};
    dbk_consumer* consumer = engine.created(dof.build());
    uint32_t matched = 0;
    SECTION("probe_enable()") {
        host.enable_error = -EBUSY;
        CHECK(dbk_consumer_enable(consumer, &reason, &matched) == -EBUSY);
        CHECK(std::string(reason.text) == "probe test:m:f:go cannot be enabled");
        CHECK_FALSE(dbk_probe_is_enabled(&go));
    }
    SECTION("settle()") {
        host.settle_error = -EIO;
        CHECK(dbk_consumer_enable(consumer, &reason, &matched) == -EIO);
        CHECK(std::string(reason.text) == "the probes cannot be armed");
    }
    dbk_consumer_destroy(consumer);
    CHECK(host.enabled.empty());
}

TEST_CASE("a later probe that cannot be armed is a drop of each who named it",
          "[engine][consumer]") {
    Engine engine;
    Dof dof, other;
    dof.ecb("test:::late", {dof.trace(constant(1))});
    other.ecb("test:::another", {other.trace(constant(2))});
    auto* consumer = engine.start(dof.build());
    auto* second = engine.start(other.build(), {"other", 2, true, false, 0});
    dbk_probe late = {};
    late.provider = "test", late.module = "m", late.function = "f", late.name = "late";
    host.allocations_left = 0;
    CHECK(dbk_probe_add(engine.get(), &late) == -ENOMEM);
    host.allocations_left = -1;
    CHECK(drops(consumer, DBK_DROP_MISSED) == 1);
    CHECK(drops(second, DBK_DROP_MISSED) == 0);
    dbk_probe_remove(engine.get(), &late);
}

TEST_CASE("later probes that the host cannot arm when it settles are drops of each who named them",
          "[engine][consumer]") {
    Engine engine;
    Dof dof, other;
    dof.ecb("test:::late*", {dof.trace(constant(1))});
    dof.ecb("test:::late*", {dof.trace(constant(2))});
    other.ecb("test:::late2", {other.trace(constant(3))});
    other.ecb("test:::there", {other.trace(constant(4))});
    engine.probe("test", "m", "f", "there");
    auto* consumer = engine.start(dof.build());
    auto* second = engine.start(other.build(), {"other", 2, true, false, 0});
    dbk_probe late[3]{};
    const char* const names[] = {"late0", "late1", "late2"};
    for (int i = 0; i < 3; i++) {
        late[i].provider = "test";
        late[i].module = late[i].function = "m";
        late[i].name = names[i];
    }
    const auto add_all = [&] {
        dbk_probe_add_begin(engine.get());
        for (auto& probe : late)
            CHECK(dbk_probe_add(engine.get(), &probe) == 0);
        return dbk_probe_add_end(engine.get());
    };
    SECTION("one by one") {
        host.settle_error = -ENOMEM;
        for (auto& probe : late)
            CHECK(dbk_probe_add(engine.get(), &probe) == -ENOMEM);
        CHECK(drops(consumer, DBK_DROP_MISSED) == 3); // one of a probe, whatever its clauses
        CHECK(drops(second, DBK_DROP_MISSED) == 1);
    }
    SECTION("in a batch") {
        host.settle_error = -ENOMEM;
        CHECK(add_all() == -ENOMEM);
        CHECK(drops(consumer, DBK_DROP_MISSED) == 3);
        CHECK(drops(second, DBK_DROP_MISSED) == 1);
    }
    SECTION("those that are armed all the same are none") {
        host.settle_error = -ENOMEM;
        host.arms_anyway = [&](const dbk_probe* probe) { return probe != &late[1]; };
        CHECK(add_all() == -ENOMEM);
        CHECK(drops(consumer, DBK_DROP_MISSED) == 1);
        CHECK(drops(second, DBK_DROP_MISSED) == 0);
    }
    SECTION("those of another settling are none, whatever became of it") {
        CHECK(add_all() == 0);
        host.settle_error = -EIO;
        host.armed.clear();
        dbk_probe more = late[0];
        more.name = "late3";
        CHECK(dbk_probe_add(engine.get(), &more) == -EIO);
        CHECK(drops(consumer, DBK_DROP_MISSED) == 1);
        CHECK(drops(second, DBK_DROP_MISSED) == 0);
        dbk_probe_remove(engine.get(), &more);
        CHECK(drops(consumer, DBK_DROP_MISSED) == 1);
    }
    SECTION("what the host adds while it settles counts its own") {
        dbk_probe within = late[0];
        within.name = "late3";
        host.in_settle = [&] {
            host.settle_error = -EIO;
            CHECK(dbk_probe_add(engine.get(), &within) == -EIO);
            CHECK(drops(consumer, DBK_DROP_MISSED) == 1);
        };
        CHECK(add_all() == -EIO);
        CHECK(drops(consumer, DBK_DROP_MISSED) == 1 + 3);
        CHECK(drops(second, DBK_DROP_MISSED) == 1);
        dbk_probe_remove(engine.get(), &within);
    }
    host.settle_error = 0;
    dbk_probe* list[] = {&late[0], &late[1], &late[2]};
    dbk_probe_remove_many(engine.get(), list, 3);
}

TEST_CASE("BEGIN is first and alone, END is last", "[engine][consumer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(constant(2))});
    dof.ecb("dtrace:::BEGIN", {dof.trace(constant(1))});
    dof.ecb("dtrace:::END", {dof.trace(constant(3))});
    auto* consumer = engine.consumer(dof.build());
    CHECK(dbk_consumer_activity(consumer) == DBK_ACTIVITY_INACTIVE);
    engine.fire(go);
    CHECK(records(consumer).empty());
    CHECK(dbk_consumer_start(consumer) == 0);
    CHECK(dbk_consumer_activity(consumer) == DBK_ACTIVITY_ACTIVE);
    CHECK(dbk_consumer_start(consumer) == -EINVAL);
    engine.fire(go);
    CHECK(dbk_consumer_stop(consumer) == 0);
    CHECK(dbk_consumer_activity(consumer) == DBK_ACTIVITY_STOPPED);
    CHECK(dbk_consumer_ring(consumer)->activity == DBK_ACTIVITY_STOPPED);
    engine.fire(go);
    CHECK(dbk_consumer_stop(consumer) == 0);
    CHECK(values(consumer) == std::vector<uint64_t>{1, 2, 3});
}

TEST_CASE("stopping what never started fires nothing", "[engine][consumer]") {
    Engine engine;
    Dof dof;
    dof.ecb("dtrace:::END", {dof.trace(constant(3))});
    auto* consumer = engine.consumer(dof.build());
    CHECK(dbk_consumer_stop(consumer) == 0);
    CHECK(records(consumer).empty());
    CHECK(dbk_consumer_start(consumer) == -EINVAL);
}

TEST_CASE("exit() lets no clause run after it", "[engine][consumer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    Action leave{DTRACEACT_EXIT, dof.difo({{setx(0, 1), ret(1)}, int_type(4), {7}})};
    dof.ecb("dtrace:::END", {dof.trace(constant(9))});
    SECTION("in a probe") {
        dof.ecb("test:::go", {dof.trace(constant(1)), leave});
        dof.ecb("test:::go", {dof.trace(constant(2))});
        auto* consumer = engine.start(dof.build());
        engine.fire(go);
        engine.fire(go);
        engine.fire(go, {}, 1);
        CHECK(dbk_consumer_activity(consumer) == DBK_ACTIVITY_DRAINING);
        CHECK(dbk_consumer_ring(consumer)->activity == DBK_ACTIVITY_DRAINING);
        CHECK(dbk_consumer_exit_status(consumer) == 7);
        CHECK(dbk_consumer_stop(consumer) == 0);
        CHECK(values(consumer) == std::vector<uint64_t>{1, 9});
    }
    SECTION("in ERROR, whose other clauses still run") {
        dof.ecb("test:::go", {dof.trace(load_arg0())});
        dof.ecb("dtrace:::ERROR", {leave});
        dof.ecb("dtrace:::ERROR", {dof.trace(constant(4))});
        auto* consumer = engine.start(dof.build());
        engine.fire(go, {0xdead});
        engine.fire(go, {0xdead});
        CHECK(records(consumer).size() == 2);
        CHECK(records(consumer)[1].u64(8) == 4);
    }
    SECTION("in BEGIN") {
        dof.ecb("dtrace:::BEGIN", {leave});
        dof.ecb("test:::go", {dof.trace(constant(2))});
        auto* consumer = engine.start(dof.build());
        CHECK(dbk_consumer_activity(consumer) == DBK_ACTIVITY_DRAINING);
        engine.fire(go);
        CHECK(dbk_consumer_stop(consumer) == 0);
        CHECK(records(consumer).size() == 2);
    }
}

TEST_CASE("a fault fires ERROR with what went wrong", "[engine][fault]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("dtrace:::ERROR", {dof.trace(arg(1)), dof.trace(arg(2)), dof.trace(arg(3)),
                               dof.trace(arg(4)), dof.trace(arg(5))});
    dof.ecb("test:::go", {dof.trace(constant(1)), dof.trace(load_arg0())});
    dof.ecb("test:::go", {dof.trace(constant(2))});
    dof.ecb("test:::go", {dof.trace(constant(3))}, dof.difo(load_arg0()));
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {0xdead});
    auto all = records(consumer);
    REQUIRE(all.size() == 3);
    auto check = [&](const Record& record, uint64_t epid, uint64_t action) {
        CHECK(record.epid == 1);
        CHECK(record.u64(8) == epid);
        CHECK(record.u64(16) == action);
        CHECK(record.u64(24) == 4);
        CHECK(record.u64(32) == DTRACEFLT_BADADDR);
        CHECK(record.u64(40) == 0xdead);
    };
    check(all[0], 2, 2); // the second action
    CHECK(all[1].u64(8) == 2);
    check(all[2], 4, 0); // the predicate
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 2);
}

TEST_CASE("every fault has its code", "[engine][fault]") {
    auto code = [](const Difo& d) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.ecb("dtrace:::ERROR", {dof.trace(arg(4))});
        dof.ecb("test:::go", {dof.trace(d)});
        auto* consumer = engine.start(dof.build());
        engine.fire(go);
        auto all = values(consumer);
        REQUIRE(all.size() == 1);
        return all[0];
    };
    CHECK(code({{op3(DIF_OP_SDIV, 1, 0, 1), ret(1)}}) == DTRACEFLT_DIVZERO);
    CHECK(code({{load(DIF_OP_LDX, 0, 1), ret(1)}}) == DTRACEFLT_BADADDR);
    CHECK(code({{setx(0, 1), load(DIF_OP_ALLOCS, 1, 2), ret(2)}, int_type(), {1 << 20}}) ==
          DTRACEFLT_NOSCRATCH);
    CHECK(code({{call(DIF_SUBR_STRLEN, 1), ret(1)}}) == DTRACEFLT_ILLOP);
    Difo tuple;
    tuple.code.assign(9, push_value(0));
    tuple.code.push_back(ret(0));
    CHECK(code(tuple) == DTRACEFLT_TUPOFLOW);
}

TEST_CASE("a fault in ERROR is counted and fires nothing", "[engine][fault]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("dtrace:::ERROR", {dof.trace(load_arg0())});
    dof.ecb("test:::go", {dof.trace(load_arg0())});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {0xdead});
    CHECK(records(consumer).empty());
    CHECK(drops(consumer, DBK_DROP_DBLERROR) == 1);
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 2);
}

TEST_CASE("ERROR belongs to the consumer that failed", "[engine][fault]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof failing, watching;
    failing.ecb("test:::go", {failing.trace(load_arg0())});
    watching.ecb("dtrace:::ERROR", {watching.trace(constant(1))});
    auto* a = engine.start(failing.build());
    auto* b = engine.start(watching.build(), {"other", 2, true, false, 0});
    engine.fire(go, {0xdead});
    CHECK(dbk_consumer_counters(a, 0)->errors == 1);
    CHECK(records(b).empty());
}

TEST_CASE("an enabling pauses, and ends when its process is killed or it takes too much",
          "[engine][consumer]") {
    constexpr uint32_t kProbes = 3000, kClauses = 5;
    Engine engine;
    for (uint32_t i = 0; i < kProbes; i++)
        engine.probe("test", "m", "f", "go");
    Dof dof;
    for (uint32_t i = 0; i < kClauses; i++)
        dof.ecb("test:::go", {dof.trace(load_arg0())});
    dof.ecb("test:::other", {dof.trace(load_arg0())});
    dbk_reason reason{};
    dbk_consumer* consumer = engine.created(dof.build());
    uint32_t matched = 0, before = host.pauses;
    SECTION("it is wanted") {
        CHECK(dbk_consumer_enable(consumer, &reason, &matched) == 0);
        CHECK(matched == kProbes);
        // Each clause, and each thousand of what was made.
        CHECK(host.pauses - before >= kClauses + 1 + kProbes * kClauses / 1024);
        before = host.pauses;
    }
    SECTION("its process is being killed") {
        host.pauses_left = 7;
        CHECK(dbk_consumer_enable(consumer, &reason, &matched) == -EINTR);
        CHECK(host.pauses - before == 8);
    }
    SECTION("too many clauses on too many probes") {
        host.alloc_max = 1 << 20;
        CHECK(dbk_consumer_enable(consumer, &reason, &matched) == -E2BIG);
        CHECK(std::string(reason.text) ==
              "its clauses on all their probes take more than 1048576 bytes of memory");
    }
    dbk_consumer_destroy(consumer);
    CHECK(host.pauses > before);
    CHECK(host.enabled.empty());
}

TEST_CASE("names of probes count as memory of an enabling", "[engine][consumer]") {
    Engine engine;
    const std::string path = "/" + std::string(4000, 'x');
    for (int i = 0; i < 2000; i++)
        engine.probe("pid", path.c_str(), "f", "entry");
    Dof dof;
    dof.ecb("pid:::entry", {dof.trace(load_arg0())});
    dbk_reason reason{};
    dbk_consumer* consumer = engine.created(dof.build());
    uint32_t matched = 0;
    host.alloc_max = 3 << 20;
    CHECK(dbk_consumer_enable(consumer, &reason, &matched) == -E2BIG);
    CHECK(std::string(reason.text) ==
          "its clauses on all their probes take more than 3145728 bytes of memory");
    dbk_consumer_destroy(consumer);
}

TEST_CASE("probes that come and go take no more memory than an enabling may",
          "[engine][consumer]") {
    Engine engine;
    Dof dof;
    dof.ecb("test:::go", {dof.trace(constant(7))});
    auto* consumer = engine.start(dof.build());
    dbk_probe probe{};
    probe.provider = "test";
    probe.module = probe.function = "";
    probe.name = "go";
    host.alloc_max = 1 << 14;
    uint32_t comings = 0;
    while (dbk_probe_add(engine.get(), &probe) == 0 && ++comings < 1000)
        dbk_probe_remove(engine.get(), &probe);
    CHECK(comings > 50);
    CHECK(comings < 300); // of a probe, its name and a clause
    CHECK(drops(consumer, DBK_DROP_MISSED) == 1);
    CHECK_FALSE(dbk_probe_is_enabled(&probe));
    dbk_probe_remove(engine.get(), &probe);
    host.alloc_max = 1 << 20;
    CHECK(dbk_probe_add(engine.get(), &probe) == 0);
    engine.fire(probe);
    CHECK(values(consumer) == std::vector<uint64_t>{7});
    dbk_probe_remove(engine.get(), &probe);
}

TEST_CASE("a nested firing is a drop, never a recursion", "[engine][nested]") {
    Engine engine;
    auto& outer = engine.probe("test", "m", "f", "outer");
    auto& inner = engine.probe("test", "m", "f", "inner");
    Dof dof, other;
    dof.ecb("test:::outer", {dof.trace(load_arg0())});
    dof.ecb("test:::inner", {dof.trace(constant(2))});
    dof.ecb("test:::inner", {dof.trace(constant(3))});
    other.ecb("test:::inner", {other.trace(constant(4))});
    auto* consumer = engine.start(dof.build());
    auto* second = engine.start(other.build(), {"other", 2, true, false, 0});
    host.kernel_memory[0x1000] = std::string(8, '\1');
    host.in_load = [&] { engine.fire(inner); };
    engine.fire(outer, {0x1000});
    host.in_load = nullptr;
    CHECK(values(consumer) == std::vector<uint64_t>{0x0101010101010101});
    CHECK(drops(consumer, DBK_DROP_NESTED) == 1); // one firing, whatever its clauses
    CHECK(drops(second, DBK_DROP_NESTED) == 1);
    engine.fire(inner);
    CHECK(values(consumer).size() == 3);
    CHECK(losses(segments(consumer, 0).begin()->second).drops[DBK_DROP_NESTED] == 1);
    SECTION("what the host missed is counted for each consumer") {
        dbk_probe_missed(&inner, 5);
        dbk_probe_missed(&outer, 2);
        CHECK(drops(consumer, DBK_DROP_MISSED) == 7);
        CHECK(drops(second, DBK_DROP_MISSED) == 5);
        CHECK(losses(segments(consumer, 0).begin()->second).drops[DBK_DROP_MISSED] == 7);
        dbk_probe_missed(&outer, 0xffffffff);
        CHECK(drops(consumer, DBK_DROP_MISSED) == 7 + 0xffffffffull);
        CHECK(losses(segments(consumer, 0).begin()->second).drops[DBK_DROP_MISSED] == 0xffffffff);
    }
    SECTION("on another CPU it is not nesting") {
        host.in_load = [&] { engine.fire(inner, {}, 1); };
        engine.fire(outer, {0x1000});
        CHECK(values(consumer, 1) == std::vector<uint64_t>{2, 3});
    }
}

TEST_CASE("clause-local variables live for one firing", "[engine][variables]") {
    constexpr uint32_t var = DIF_VAR_OTHER_UBASE;
    std::vector<dif_var_entry> vars{variable(var, DIFV_SCOPE_LOCAL),
                                    variable(var + 1, DIFV_SCOPE_LOCAL, string_type())};
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    Difo get{{var_op(DIF_OP_LDLS, var, 1), ret(1)}, int_type(), {}, "", vars};
    Difo text{{var_op(DIF_OP_LDLS, var + 1, 1), ret(1)}, string_type(), {}, "", vars};
    Difo set{{ldgs(DIF_VAR_ARG0, 1), var_op(DIF_OP_STLS, var, 1), sets(0, 2),
              var_op(DIF_OP_STLS, var + 1, 2), ret(0)},
             no_type(),
             {},
             {"abc", 4},
             vars};
    dof.ecb("test:::go", {dof.trace(get), dof.trace(text)});
    dof.ecb("test:::go", {dof.trace(set)});
    dof.ecb("test:::go", {dof.trace(get), dof.trace(text)});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {5});
    engine.fire(go, {6});
    auto all = records(consumer);
    REQUIRE(all.size() == 4);
    const uint64_t expected[] = {0, 5, 0, 6};
    const char* texts[] = {"", "abc", "", "abc"};
    for (size_t i = 0; i < 4; i++) {
        CHECK(all[i].u64(16) == expected[i]);
        CHECK(all[i].tail(24) == texts[i]);
    }
}

TEST_CASE("option cpu records one CPU only", "[engine][consumer]") {
    Engine engine(3);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DTRACEOPT_CPU, 1);
    dof.ecb("test:::go", {dof.trace(arg(0))});
    auto* consumer = engine.start(dof.build());
    for (uint32_t cpu = 0; cpu < 3; cpu++)
        engine.fire(go, {cpu}, cpu);
    CHECK(values(consumer, 0).empty());
    CHECK(values(consumer, 1) == std::vector<uint64_t>{1});
    CHECK(values(consumer, 2).empty());
    CHECK(dbk_consumer_stop(consumer) == 0);
}

TEST_CASE("BEGIN fires for the consumer that starts, where option cpu says", "[engine][consumer]") {
    Engine engine(2);
    auto start = [&](uint64_t value, std::optional<uint32_t> cpu) {
        Dof dof;
        if (cpu)
            dof.option(DTRACEOPT_CPU, *cpu);
        dof.ecb("dtrace:::BEGIN", {dof.trace(constant(value))});
        dof.ecb("dtrace:::BEGIN", {dof.trace(constant(value))});
        return engine.start(dof.build());
    };
    auto* first = start(1, {});
    auto* second = start(2, {});
    for (auto [consumer, value] : {std::pair{first, 1u}, std::pair{second, 2u}}) {
        CHECK(values(consumer, 0) == std::vector<uint64_t>{value, value});
        const auto all = records(consumer, 0);
        CHECK((!all[0].same_firing && all[1].same_firing));
    }
    host.on_cpu = [](uint32_t cpu, const std::function<void()>& run) {
        const uint32_t here = std::exchange(host_cpu, cpu);
        run();
        host_cpu = here;
    };
    auto* there = start(3, 1);
    CHECK(values(there, 0).empty());
    CHECK(values(there, 1) == std::vector<uint64_t>{3, 3});
    CHECK_FALSE(records(there, 1)[0].same_firing);
    host.on_cpu = [](uint32_t, const std::function<void()>& run) { run(); }; // it is offline: another one is asked
    auto* nowhere = start(4, 1);
    CHECK(values(nowhere, 0).empty());
    CHECK(values(nowhere, 1).empty());
    host.on_cpu = nullptr;
}

TEST_CASE("options out of bounds are refused", "[engine][consumer]") {
    Engine engine;
    auto refused = [&](uint32_t option, uint64_t value) {
        Dof dof;
        dof.option(option, value);
        // Else sizes beyond all memory are halved until they fit.
        dof.option(DTRACEOPT_BUFRESIZE, DBK_BUFRESIZE_MANUAL);
        dof.ecb("test:::go", {});
        Loaded loaded = load(dof.build());
        REQUIRE(loaded.error == 0);
        dbk_reason reason{};
        dbk_consumer* consumer = nullptr;
        dbk_consumer_config config{"test", 1, false, false, 0};
        int error = dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer);
        if (error == 0)
            dbk_consumer_destroy(consumer);
        else
            dbk_program_destroy(loaded.program);
        return error != 0;
    };
    CHECK(refused(DTRACEOPT_BUFPOLICY, 3));
    CHECK_FALSE(refused(DTRACEOPT_BUFPOLICY, 2));
    CHECK(refused(DTRACEOPT_BUFSIZE, 0));
    CHECK(refused(DTRACEOPT_BUFSIZE, DBK_BUFSIZE_MAX + 8));
    CHECK(refused(DBK_OPT_SEGMENTSIZE, 4095));
    CHECK(refused(DBK_OPT_SEGMENTSIZE, 5000));
    CHECK(refused(DBK_OPT_SEGMENTSIZE, (1 << 20) + 1));
    CHECK_FALSE(refused(DBK_OPT_SEGMENTSIZE, 1 << 20));
    CHECK(refused(DBK_OPT_AGGREGATE, 2));
    CHECK(refused(DTRACEOPT_STACKFRAMES, 0));
    CHECK(refused(DTRACEOPT_STACKFRAMES, 513));
    CHECK_FALSE(refused(DTRACEOPT_STACKFRAMES, 512));
    CHECK(refused(DTRACEOPT_CPU, 2));
    CHECK(refused(DTRACEOPT_DYNVARSIZE, DBK_DYNVARSIZE_MAX + 1ull));
    CHECK(refused(DTRACEOPT_DESTRUCTIVE, 1));
}

TEST_CASE("an engine's configuration has bounds", "[engine]") {
    auto created = [](dbk_engine_config config) {
        dbk_engine* engine = dbk_engine_create(&config);
        dbk_engine_destroy(engine);
        return engine != nullptr;
    };
    CHECK_FALSE(created({0, 0, 1, 0}));
    CHECK(created({1, 0, 1, 0}));
    CHECK_FALSE(created({DBK_CPUS_MAX + 1, 0, 1, 0}));
    CHECK_FALSE(created({1, 2, 1, 0}));
    CHECK_FALSE(created({1, 0, 0, 0}));
}

TEST_CASE("several consumers on one probe keep apart", "[engine][consumer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});
    auto* a = engine.start(dof.build());
    auto* b = engine.start(dof.build(), {"b", 2, true, false, 0});
    engine.fire(go, {1});
    engine.destroy(a);
    CHECK(dbk_probe_is_enabled(&go));
    engine.fire(go, {2});
    CHECK(values(b) == std::vector<uint64_t>{1, 2});
    engine.destroy(b);
    CHECK_FALSE(dbk_probe_is_enabled(&go));
    engine.fire(go, {3});
}

TEST_CASE("a consumer that comes after the newest went is one of all", "[engine][consumer]") {
    Engine engine;
    Dof dof;
    dof.ecb("test:::later*", {dof.trace(arg(0))});
    auto* a = engine.start(dof.build());
    auto* b = engine.start(dof.build(), {"b", 2, true, false, 0});
    engine.destroy(b);
    auto* c = engine.start(dof.build(), {"c", 3, true, false, 0});
    engine.fire(engine.probe("test", "m", "f", "later-1"), {1}); // is matched with each
    CHECK(values(a) == std::vector<uint64_t>{1});
    CHECK(values(c) == std::vector<uint64_t>{1});
    engine.destroy(a);
    engine.destroy(c);
    auto* d = engine.start(dof.build(), {"d", 4, true, false, 0});
    engine.fire(engine.probe("test", "m", "f", "later-2"), {2});
    CHECK(values(d) == std::vector<uint64_t>{2});
}
