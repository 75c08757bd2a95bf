// SPDX-License-Identifier: Apache-2.0
//
// SAME_FIRING: every record says whether it is of the same firing as the one before it, whichever
// clauses recorded.  arg0 is a number that each firing has of its own, and each record has first.
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace daybreak::engine_test;

namespace {

/// The way compilers write it; the engine finds it without the interpreter.
Difo is_one(uint32_t index) {
    return {{ldgs(DIF_VAR_ARG0 + index, 1), setx(0, 2), cmp(1, 2), branch(DIF_OP_BE, 6), mov(0, 3),
             branch(DIF_OP_BA, 7), setx(0, 3), ret(3)},
            int_type(4),
            {1}};
}
Difo twice(uint32_t index) {
    return {{ldgs(DIF_VAR_ARG0 + index, 1), op3(DIF_OP_ADD, 1, 1, 1), ret(1)}};
}
Difo execname() {
    return {{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()};
}
/// Faults at the address arg0.
Difo load_arg0() {
    return {{ldgs(DIF_VAR_ARG0, 1), load(DIF_OP_LDX, 1, 2), ret(2)}};
}

/// A clause with a record of `words` more arguments; each kind has a way of its own in the engine.
void clause(Dof& dof, uint32_t words, const Difo& predicate) {
    std::vector<Action> actions{dof.trace(arg(0))};
    for (uint32_t i = 0; i < words; i++)
        actions.push_back(dof.trace(arg(1 + i % 5)));
    dof.ecb("test:::go", actions, dof.difo(predicate));
}
void interpreted_clause(Dof& dof, const Difo& predicate) {
    dof.ecb("test:::go", {dof.trace(arg(0)), dof.trace(twice(1))}, dof.difo(predicate));
}

/// Checks all records of a CPU against the numbers of their firings; how many say that they follow.
size_t check_marks(const dbk_consumer* consumer, uint32_t cpu = 0) {
    std::vector<Record> all = records(consumer, cpu);
    size_t same = 0;
    for (size_t i = 0; i < all.size(); i++) {
        INFO("record " << i << " of EPID " << all[i].epid << ", firing " << all[i].u64(8));
        CHECK(all[i].same_firing == (i > 0 && all[i - 1].u64(8) == all[i].u64(8)));
        same += all[i].same_firing;
    }
    return same;
}

/// How many firings go on in another segment.
size_t divided(const dbk_consumer* consumer) {
    std::vector<Record> all = records(consumer);
    size_t count = 0;
    for (size_t i = 1; i < all.size(); i++)
        count += all[i].same_firing && all[i].sequence != all[i - 1].sequence;
    return count;
}

/// The numbers of the records from one on, each with + when it goes on the firing of the one before
/// it, and ~ when its firing has one elsewhere.
std::string marks(const dbk_consumer* consumer, size_t from) {
    std::vector<Record> all = records(consumer);
    std::string text;
    for (size_t i = from; i < all.size(); i++)
        text += std::to_string(all[i].u64(8)) + (all[i].same_firing    ? "+ "
                                                 : all[i].is_elsewhere ? "~ "
                                                                       : " ");
    return text.substr(0, text.empty() ? 0 : text.size() - 1);
}

} // namespace

TEST_CASE("what a provider could not deliver is counted with interrupts off", "[engine][firing]") {
    Engine engine(1);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});
    auto* consumer = engine.start(dof.build());
    static uint64_t counted_before = 0, counted_after = 0;
    static const dbk_consumer* asked = nullptr;
    asked = consumer;
    host_enter_hook = [] { counted_before = drops(asked, DBK_DROP_MISSED); };
    host_leave_hook = [] { counted_after = drops(asked, DBK_DROP_MISSED); };
    dbk_probe_missed(&go, 3);
    host_enter_hook = host_leave_hook = nullptr;
    CHECK(counted_before == 0);
    CHECK(counted_after == 3);
}

TEST_CASE("a record says that it is of the firing of the one before it", "[engine][firing]") {
    Engine engine(2);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    clause(dof, 0, is_one(1));          // quick
    clause(dof, 9, arg(2));             // without steps, but too long for quick
    interpreted_clause(dof, is_one(3)); // by its steps
    clause(dof, 1, twice(4));           // a predicate that is interpreted
    clause(dof, 1, arg(5));             // quick again
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 20);
    auto* consumer = engine.start(dof.build());
    size_t expected = 0;
    for (uint64_t i = 0; i < 1024; i++) {
        engine.fire(go, {i, i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i >> 4 & 1}, i % 3 == 0);
        size_t stored = static_cast<size_t>(__builtin_popcountll(i & 31));
        expected += stored > 1 ? stored - 1 : 0;
    }
    CHECK(segments(consumer, 0).size() > 3);
    CHECK(check_marks(consumer, 0) + check_marks(consumer, 1) == expected);
    CHECK(divided(consumer) == 0);
}

TEST_CASE("the records of a firing lie in one segment", "[engine][firing]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    Difo text = {{ldgs(DIF_VAR_ARG0 + 1, 1), ret(1)}, string_type()};
    const uint64_t texts = 0xffff888000000000;
    for (size_t i = 0; i < 3; i++)
        host.kernel_memory[texts + i * 4096] = std::string(45 * i, 'x') + '\0';
    bool faults = GENERATE(false, true);
    if (faults)
        dof.ecb("dtrace:::ERROR", {dof.trace(arg(5)), dof.trace(execname())});
    if (faults)
        clause(dof, 0, load_arg0()); // before it has asked for room
    clause(dof, 0, is_one(2));
    dof.ecb("test:::go", {dof.trace(arg(0)), dof.trace(text)});
    if (faults)
        dof.ecb("test:::go", {dof.trace(load_arg0())});
    interpreted_clause(dof, is_one(3));
    dof.ecb("test:::go", {dof.trace(arg(0)), dof.trace(text), dof.trace(execname())});
    clause(dof, 9, is_one(2));
    dof.option(DTRACEOPT_STRSIZE, 100);
    dof.option(DBK_OPT_SEGMENTSIZE, 8192);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 20);
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < 1000; i++)
        engine.fire(go, {0xdead0 + i, texts + i % 3 * 4096, i & 1, i >> 1 & 1});
    CHECK(segments(consumer, 0).size() > 10);
    CHECK(records(consumer).size() == 1000 * (faults ? 4 : 2) + 500 * 3);
    CHECK(divided(consumer) == 0);
}

TEST_CASE("a segment's end is left free only by firings that may need it", "[engine][firing]") {
    Engine engine;
    auto& one = engine.probe("test", "m", "f", "one");
    auto& go = engine.probe("test", "m", "f", "go");
    uint64_t policy = GENERATE(DBK_POLICY_SWITCH, DBK_POLICY_FILL);
    bool alone = GENERATE(true, false);
    Dof dof;
    dof.ecb("test:::one", {dof.trace(arg(0))}); // 16 bytes
    clause(dof, 13, is_one(1));                 // 120
    clause(dof, 13, is_one(2));
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 18);
    dof.option(DTRACEOPT_BUFPOLICY, policy);
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < 1 << 15; i++)
        engine.fire(alone ? one : go, {i, 1});
    CHECK(drops(consumer, policy == DBK_POLICY_FILL ? DBK_DROP_FILLED : DBK_DROP_PRINCIPAL) > 0);
    // The second clause would have had room, but in the last segment.
    auto all = segments(consumer, 0);
    for (auto [sequence, header] : all) {
        bool is_last = sequence == all.rbegin()->first;
        uint32_t firings = is_last || policy == DBK_POLICY_FILL ? 33 : 31;
        CHECK(header->committed_bytes == (alone ? 4096 : DBK_SEGMENT_DATA_OFFSET + firings * 120));
    }
}

TEST_CASE("what other consumers recorded of a firing is not in this one's ring",
          "[engine][firing]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    std::vector<dbk_consumer*> consumers;
    for (uint16_t i = 0; i < 3; i++) {
        Dof dof;
        bool quick = i != 1;
        clause(dof, 0, quick ? is_one(1 + i) : arg(1 + i));
        clause(dof, 0, is_one(4));
        clause(dof, 1, is_one(5));
        consumers.push_back(engine.start(dof.build(), {"test", uint16_t(1 + i), true, true, 0}));
    }
    for (uint64_t i = 0; i < 64; i++)
        engine.fire(go, {i, i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i >> 4 & 1});
    // Of eight: 2 with all three clauses, 3 x 2 with two of them.
    for (dbk_consumer* consumer : consumers)
        CHECK(check_marks(consumer) == 8 * (2 + 3));
    dbk_consumer_stop(consumers[0]);
    for (uint64_t i = 64; i < 128; i++)
        engine.fire(go, {i, i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i >> 4 & 1});
    CHECK(check_marks(consumers[0]) == 8 * 5);
    CHECK(check_marks(consumers[1]) == 16 * 5);
    CHECK(check_marks(consumers[2]) == 16 * 5);
}

TEST_CASE("a record that was dropped is not the one before", "[engine][firing]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    clause(dof, 100, is_one(1));
    clause(dof, 0, is_one(2));
    clause(dof, 40, is_one(3));
    clause(dof, 1, is_one(4));
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 18);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL);
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < 512; i++)
        engine.fire(go, {i, 1, 1, 1, 1});
    CHECK(drops(consumer, DBK_DROP_FILLED) > 0);
    std::vector<Record> all = records(consumer);
    CHECK(all.back().epid == 2); // the last firings had room for the shortest alone
    CHECK_FALSE(all.back().same_firing);
    CHECK(check_marks(consumer) > 0);
}

TEST_CASE("records of ERROR clauses are of the firing that faulted", "[engine][firing]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("dtrace:::ERROR", {dof.trace(arg(5))}); // the address
    dof.ecb("test:::go", {dof.trace(load_arg0())});
    clause(dof, 0, is_one(1));
    dof.ecb("test:::go", {dof.trace(load_arg0())});
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < 4; i++)
        engine.fire(go, {0xdead0 + i, i & 1});
    CHECK(records(consumer).size() == 4 * 2 + 2);
    CHECK(check_marks(consumer) == 4 + 2);
}

TEST_CASE("a speculation keeps its own records of a firing together", "[engine][firing]") {
    Engine engine;
    auto& ask = engine.probe("test", "m", "f", "ask");
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    clause(dof, 0, is_one(1));
    dof.ecb("test:::go", {{DTRACEACT_SPECULATE, dof.difo(arg(4))}, dof.trace(arg(0))},
            dof.difo(is_one(2)));
    dof.ecb("test:::go", {{DTRACEACT_SPECULATE, dof.difo(arg(4))}, dof.trace(arg(0))},
            dof.difo(is_one(2)));
    dof.ecb("test:::go", {{DTRACEACT_COMMIT, dof.difo(arg(4))}}, dof.difo(is_one(3)));
    clause(dof, 0, is_one(1));
    clause(dof, 0, is_one(1));
    auto* consumer = engine.start(dof.build());
    engine.fire(ask);
    engine.fire(go, {10, 0, 1, 0, 1});
    engine.fire(go, {11, 1, 1, 0, 1});
    CHECK(marks(consumer, 1) == "11 11+ 11+");
    engine.fire(go, {12, 1, 1, 1, 1});
    CHECK(marks(consumer, 4) == "12 10 10+ 11~ 11+ 12~ 12+ 12+ 12+");
}

TEST_CASE("what speculations hold of a firing and the first record after it have one time",
          "[engine][firing]") {
    Engine engine;
    auto& ask = engine.probe("test", "m", "f", "ask");
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DTRACEOPT_NSPEC, 3);
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    for (uint32_t speculation : {4, 5})
        dof.ecb("test:::go", {{DTRACEACT_SPECULATE, dof.difo(arg(speculation))}, dof.trace(arg(0))},
                dof.difo(arg(speculation)));
    dof.ecb("test:::go", {{DTRACEACT_DISCARD, dof.difo(arg(1))}}, dof.difo(arg(1)));
    clause(dof, 0, is_one(3));
    interpreted_clause(dof, is_one(3));
    dof.ecb("test:::go", {{DTRACEACT_COMMIT, dof.difo(arg(2))}}, dof.difo(arg(2)));
    auto* consumer = engine.start(dof.build());
    for (int i = 0; i < 3; i++)
        engine.fire(ask);
    engine.fire(go, {20, 0, 0, 1, 1}); // held by 1, then in the ring
    engine.fire(go, {21, 0, 0, 1});
    engine.fire(go, {22, 2, 0, 1, 2});    // what 2 held was discarded at once
    engine.fire(go, {23, 0, 0, 0, 3, 1}); // held by two
    engine.fire(go, {24, 0, 1, 1});       // commits 1 after its own records
    CHECK(marks(consumer, 3) == "20 20+ 21 21+ 22 22+ 24 24+ 20 23");
    engine.fire(go, {25, 0, 3});
    CHECK(marks(consumer, 3 + 10) == "23");
    std::map<uint64_t, std::vector<uint64_t>> ticks; // of each firing
    for (const Record& record : records(consumer))
        ticks[record.u64(8)].push_back(record.ticks);
    CHECK(ticks[20][0] == ticks[20][2]);
    CHECK(ticks[20][0] < ticks[20][1]);
    CHECK(ticks[23][0] == ticks[23][1]);
    CHECK(ticks[21][0] > ticks[20][1]);
}

TEST_CASE("one time for a firing, also where a segment ends", "[engine][firing]") {
    Engine engine;
    auto& ask = engine.probe("test", "m", "f", "ask");
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    dof.ecb("test:::go", {{DTRACEACT_SPECULATE, dof.difo(arg(1))}, dof.trace(arg(0))});
    dof.ecb("test:::go", {dof.trace(arg(0)), dof.trace(execname())});
    dof.ecb("test:::go", {{DTRACEACT_COMMIT, dof.difo(arg(1))}}, dof.difo(is_one(2)));
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 20);
    dof.option(DTRACEOPT_SPECSIZE, 1 << 20);
    auto* consumer = engine.start(dof.build());
    engine.fire(ask);
    for (uint64_t i = 100; i < 1000; i++)
        engine.fire(go, {i, 1, i == 999});
    CHECK(segments(consumer, 0).size() > 5);
    std::map<uint64_t, std::set<uint64_t>> ticks; // of each firing
    for (const Record& record : records(consumer))
        if (record.epid > 1)
            ticks[record.u64(record.epid == 2 ? 8 : 16)].insert(record.ticks);
    CHECK(ticks.size() == 900);
    for (const auto& [firing, times] : ticks)
        CHECK(times.size() == 1);
}
