// SPDX-License-Identifier: Apache-2.0
//
// Tiers: a clause leaves the same, whichever way it is run; and which way that is.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/types/internal.h"
}

#include <catch2/catch.hpp>
#include <cstring>
#include <optional>
#include <random>

using namespace daybreak::engine_test;

namespace {

Difo variable_of(uint32_t id, uint32_t bytes = 8) {
    return {{ldgs(id, 1), ret(1)}, int_type(bytes)};
}
Difo combined(uint32_t op, uint32_t left, uint32_t right, uint32_t bytes = 8) {
    return {{ldgs(left, 1), ldgs(right, 2), op3(op, 1, 2, 3), ret(3)}, int_type(bytes)};
}
Difo execname() {
    return {{ldgs(DIF_VAR_EXECNAME, 1), ret(1)}, string_type()};
}
Difo literal(const std::string& text) {
    return {{sets(0, 1), ret(1)}, string_type(), {}, text + '\0'};
}
std::vector<dif_var_entry> two_scalars() {
    return {variable(kVar, DIFV_SCOPE_THREAD, int_type()), variable(kVar + 1, DIFV_SCOPE_THREAD, int_type())};
}
/// self->v = arg
Difo store(uint32_t var, uint32_t from) {
    return {{ldgs(DIF_VAR_ARG0 + from, 1), var_op(DIF_OP_STTS, kVar + var, 1), ret(1)},
            no_type(),
            {},
            "",
            two_scalars()};
}
Difo load_own(uint32_t var, uint32_t bytes = 8) {
    return {{var_op(DIF_OP_LDTS, kVar + var, 1), ret(1)}, int_type(bytes), {}, "", two_scalars()};
}
/// arg1 - self->v
Difo since(uint32_t var) {
    return {{ldgs(DIF_VAR_ARG0 + 1, 1), var_op(DIF_OP_LDTS, kVar + var, 2),
             op3(DIF_OP_SUB, 1, 2, 3), ret(3)},
            int_type(),
            {},
            "",
            two_scalars()};
}
/// The sum of two arguments by way of a subtraction that no symbol follows: it needs the interpreter.
Difo interpreted() {
    return {{ldgs(DIF_VAR_ARG0, 1), op3(DIF_OP_NOT, 1, 0, 1), op3(DIF_OP_NOT, 1, 0, 1), ret(1)}};
}

const uint32_t kVariables[] = {DIF_VAR_PID,       DIF_VAR_TID, DIF_VAR_UID,      DIF_VAR_GID,
                               DIF_VAR_TIMESTAMP, DIF_VAR_CPU, DIF_VAR_CURTHREAD};

class Random {
public:
    uint32_t below(uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(engine_); }
    uint64_t word() { return engine_() << 32 ^ engine_(); }

    /// Something that is simple; argument 5 is one that a firing does not bring along.
    Difo field() {
        const uint32_t bytes = 1u << below(4);
        switch (below(6)) {
        case 0: return execname();
        case 1: return constant(word(), bytes);
        case 2: return variable_of(kVariables[below(7)], bytes);
        case 3: return combined(below(2) != 0 ? DIF_OP_ADD : DIF_OP_XOR, DIF_VAR_ARG0 + below(6),
                                below(2) != 0 ? kVariables[below(7)] : uint32_t{DIF_VAR_ARG0}, bytes);
        default: return arg(below(6), bytes);
        }
    }
    /// Without the time, two firings record the same.
    std::vector<Difo> fields(uint32_t most, bool timed = true) {
        std::vector<Difo> list;
        const auto timestamp = ldgs(DIF_VAR_TIMESTAMP, 0);
        for (uint32_t count = below(most + 1); count > 0; count--) {
            list.push_back(field());
            for (uint32_t word : list.back().code)
                if (!timed && (word | 0xff) == (timestamp | 0xff)) {
                    list.pop_back();
                    break;
                }
        }
        return list;
    }
    /// A name of the probe, or a literal.
    Difo text() {
        static constexpr uint32_t kNames[] = {DIF_VAR_PROBEPROV, DIF_VAR_PROBEMOD,
                                              DIF_VAR_PROBEFUNC, DIF_VAR_PROBENAME};
        if (below(2) != 0)
            return {{ldgs(kNames[below(4)], 1), ret(1)}, string_type()};
        std::string characters;
        for (uint32_t count = below(40); count > 0; count--)
            characters += static_cast<char>(1 + below(255));
        return literal(characters);
    }
    /// Fields, and so many texts in any places; with more of them it would be too much work.
    std::vector<Difo> with_texts(std::vector<Difo> fields, uint32_t count) {
        for (; count > 0; count--)
            fields.insert(fields.begin() + below(static_cast<uint32_t>(fields.size()) + 1), text());
        return fields;
    }
    void change_thread() {
        host.pid = static_cast<uint32_t>(word());
        host.tid = static_cast<uint32_t>(word());
        host.uid = below(2000);
        const uint32_t length = below(16);
        for (uint32_t i = 0; i < 16; i++) // what lies after the NUL is anything
            host.execname[i] = static_cast<char>(i == length ? 0 : 1 + below(255));
        host.execname[15] = 0;
    }
    std::vector<uint64_t> args() {
        std::vector<uint64_t> list;
        for (int i = 0; i < 5; i++)
            list.push_back(word() >> below(64));
        return list;
    }

private:
    std::mt19937 engine_{20261124};
};

std::vector<Action> traces(Dof& dof, const std::vector<Difo>& fields) {
    std::vector<Action> actions;
    for (const Difo& field : fields)
        actions.push_back(dof.trace(field));
    return actions;
}

/// The tiers of a probe's ECBs, in their order.
std::vector<uint32_t> tiers(const dbk_probe& probe) {
    std::vector<uint32_t> list;
    for (const dbk_ecb* ecb = probe.ecbs; ecb != nullptr; ecb = ecb->next)
        list.push_back(ecb->tier);
    return list;
}

/// Clauses that do nothing, as many as make the next one pay.
void fill_up(Dof& dof, uint32_t before) {
    const Difo nothing = {interpreted().code, no_type()};
    for (uint32_t i = before; i < DBK_SIMPLE_ECBS_MAX; i++)
        dof.ecb("test:::go", {dof.trace(nothing)});
}

std::vector<uint8_t> payload(const Record& record) {
    return {record.bytes.begin() + sizeof(dbk_record_header), record.bytes.end()};
}

} // namespace

TEST_CASE("records are the same by the simple and by the general way", "[engine][tier]") {
    Random random;
    constexpr uint32_t kClauses = 8;
    for (int round = 0; round < 60; round++) {
        Engine engine(1);
        const std::string function(random.below(300), 'f');
        auto& go = engine.probe("test", "mod", function.c_str(), "go", 5);
        Dof dof;
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        dof.option(DTRACEOPT_STRSIZE, round % 2 == 0 ? 256 : 16 + random.below(40));
        dof.option(DTRACEOPT_BUFSIZE, 16384); // soon old bytes lie where records come
        std::vector<std::vector<Difo>> clauses;
        for (uint32_t i = 0; i < kClauses; i++) {
            clauses.push_back(i % 2 == 0
                                  ? random.fields(10)
                                  : random.with_texts(random.fields(3), 1 + random.below(2)));
            dof.ecb("test:::go", traces(dof, clauses.back()));
        }
        fill_up(dof, kClauses);
        for (const auto& fields : clauses)
            dof.ecb("test:::go", traces(dof, fields));
        auto* consumer = engine.start(dof.build());
        const auto way = tiers(go);
        for (uint32_t i = 0; i < kClauses; i++) {
            CHECK(way[i] != DBK_TIER_GENERAL);
            CHECK((way[DBK_SIMPLE_ECBS_MAX + i] == DBK_TIER_GENERAL || way[i] == DBK_TIER_ARGUMENTS));
        }
        for (int i = 0; i < 60; i++) {
            random.change_thread();
            engine.fire(go, random.args());
        }
        auto all = records(consumer);
        REQUIRE(all.size() >= 2 * kClauses);
        for (size_t end = all.size(); end >= 2 * kClauses && end > all.size() - 8 * kClauses; end -= 2 * kClauses)
            for (uint32_t i = 0; i < kClauses; i++) {
                INFO("round " << round << ", clause " << i);
                const auto &simple = all[end - 2 * kClauses + i], &general = all[end - kClauses + i];
                REQUIRE(simple.epid == i + 1);
                REQUIRE(general.epid == DBK_SIMPLE_ECBS_MAX + i + 1);
                CHECK(payload(simple) == payload(general));
            }
    }
}

TEST_CASE("as many records with a text fit by the simple and by the general way", "[engine][tier]") {
    for (size_t length : {0, 7, 8, 9, 16}) {
        size_t fitted[2];
        for (bool general : {false, true}) {
            Engine engine(1);
            auto& go = engine.probe("test", "m", "f", "go");
            Dof dof;
            dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL);
            dof.option(DBK_OPT_SEGMENTSIZE, 4096);
            dof.option(DTRACEOPT_BUFSIZE, 8192);
            dof.ecb("test:::go", traces(dof, {literal(std::string(length, 'x')), general ? interpreted() : arg(0)}));
            auto* consumer = engine.start(dof.build());
            CHECK((tiers(go)[0] == DBK_TIER_GENERAL) == general);
            for (int i = 0; i < 1000; i++)
                engine.fire(go, {7});
            fitted[general] = records(consumer).size();
        }
        INFO("a text of " << length << " characters");
        CHECK(fitted[0] == fitted[1]);
    }
}

TEST_CASE("cells are the same by the simple and by the general way", "[engine][tier][aggregate]") {
    Random random;
    constexpr uint32_t kClauses = 6;
    const uint32_t kinds[] = {DTRACEAGG_COUNT, DTRACEAGG_SUM, DTRACEAGG_QUANTIZE, DTRACEAGG_MAX, DTRACEAGG_STDDEV};
    for (int round = 0; round < 40; round++) {
        Engine engine(1);
        auto& go = engine.probe("test", "m", "f", "go", 5);
        Dof dof;
        dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
        std::vector<std::vector<Difo>> keys;
        std::vector<uint32_t> functions;
        auto clause = [&](uint32_t i, uint32_t id) {
            auto actions = traces(dof, {arg(0, 4)});
            for (const Action& action : dof.aggregate(id, functions[i], keys[i], arg(1)))
                actions.push_back(action);
            actions.push_back(dof.trace(execname()));
            dof.ecb("test:::go", actions);
        };
        for (uint32_t i = 0; i < kClauses; i++) {
            keys.push_back(random.fields(4));
            functions.push_back(kinds[random.below(5)]);
            clause(i, 1 + i);
        }
        fill_up(dof, kClauses);
        for (uint32_t i = 0; i < kClauses; i++)
            clause(i, 101 + i);
        auto* consumer = engine.start(dof.build());
        CHECK(tiers(go)[0] == DBK_TIER_CELLS);
        CHECK(tiers(go).back() == DBK_TIER_GENERAL);
        std::vector<std::string> names;
        for (int i = 0; i < 20; i++) {
            if (i % 3 == 0)
                random.change_thread();
            names.emplace_back(host.execname);
            engine.fire(go, random.args());
        }
        std::map<uint32_t, std::vector<AggEntry>> of; // by EPID
        for (const auto& entry : snapshot(consumer))
            of[entry.header.epid].push_back(entry);
        for (uint32_t i = 1; i <= kClauses; i++) {
            INFO("round " << round << ", clause " << i);
            const auto &simple = of[i], &general = of[DBK_SIMPLE_ECBS_MAX + i];
            REQUIRE(simple.size() == general.size());
            REQUIRE(!simple.empty());
            for (size_t e = 0; e < simple.size(); e++) {
                CHECK(simple[e].key == general[e].key);
                CHECK(simple[e].cells == general[e].cells);
            }
        }
        auto all = records(consumer);
        REQUIRE(all.size() == names.size() * 2 * kClauses);
        for (size_t i = 0; i < all.size(); i++)
            CHECK(all[i].tail(sizeof(dbk_record_header) + 8) == names[i / (2 * kClauses)]);
    }
}

TEST_CASE("keys with texts are the same by the quick and by the general way",
          "[engine][tier][aggregate]") {
    Random random;
    constexpr uint32_t kClauses = 6;
    for (int round = 0; round < 40; round++) {
        const std::string module(random.below(400), 'm'), function(random.below(40), 'f');
        const uint32_t strsize = round % 2 == 0 ? 256 : 16 + random.below(20);
        std::vector<std::vector<Difo>> keys;
        for (uint32_t i = 0; i < kClauses; i++)
            keys.push_back(random.with_texts(random.fields(1), 1 + random.below(2)));
        std::vector<std::pair<HostState, std::vector<uint64_t>>> firings;
        for (int i = 0; i < 20; i++) {
            if (i % 3 == 0)
                random.change_thread();
            firings.emplace_back(host, random.args());
        }
        // Enables so many clauses, then those of the general way; entries by EPID, and how many clauses ran.
        auto count = [&](uint32_t clauses, bool general) {
            Engine engine(1);
            auto& go = engine.probe("test", module.c_str(), function.c_str(), "go", 5);
            Dof dof;
            dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
            dof.option(DTRACEOPT_STRSIZE, strsize);
            for (uint32_t i = 0; i < clauses; i++)
                dof.ecb("test:::go", dof.aggregate(1 + i, DTRACEAGG_SUM, keys[i], arg(1)));
            if (general)
                fill_up(dof, clauses);
            for (uint32_t i = 0; general && i < clauses; i++)
                dof.ecb("test:::go", dof.aggregate(101 + i, DTRACEAGG_SUM, keys[i], arg(1)));
            auto* consumer = engine.start(dof.build());
            CHECK(tiers(go)[0] == DBK_TIER_CELLS);
            CHECK(tiers(go).back() == (general ? DBK_TIER_GENERAL : DBK_TIER_CELLS));
            for (const auto& [state, args] : firings) {
                host.pid = state.pid, host.tid = state.tid, host.uid = state.uid;
                std::copy(std::begin(state.execname), std::end(state.execname), std::begin(host.execname));
                engine.fire(go, args);
            }
            std::map<uint32_t, std::vector<AggEntry>> of;
            for (const auto& entry : snapshot(consumer))
                of[entry.header.epid].push_back(entry);
            return std::pair{of, dbk_consumer_counters(consumer, 0)->firings};
        };
        auto same = [](const std::vector<AggEntry>& left, const std::vector<AggEntry>& right) {
            REQUIRE(left.size() == right.size());
            REQUIRE(!left.empty());
            for (size_t e = 0; e < left.size(); e++) {
                CHECK(left[e].key == right[e].key);
                CHECK(left[e].cells == right[e].cells);
            }
        };
        auto [of, all_ran] = count(kClauses, true);
        CHECK(all_ran == firings.size() * (DBK_SIMPLE_ECBS_MAX + kClauses));
        for (uint32_t i = 1; i <= kClauses; i++) {
            INFO("round " << round << ", clause " << i);
            same(of[i], of[DBK_SIMPLE_ECBS_MAX + i]);
        }
        INFO("round " << round << ", the first clause alone");
        auto [of_alone, ran] = count(1, false);
        CHECK(ran == firings.size());
        same(of_alone[1], of[1]);
    }
}

TEST_CASE("thread-locals are the same by the simple and by the general way", "[engine][tier][thread]") {
    Random random;
    constexpr uint32_t kClauses = 6;
    for (int round = 0; round < 40; round++) {
        Engine engine(1);
        auto& go = engine.probe("test", "m", "f", "go", 5);
        Dof dof;
        dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
        std::vector<std::vector<Difo>> clauses;
        for (uint32_t i = 0; i < kClauses; i++) {
            // What it finds is what it left, so that both ways begin alike.
            std::vector<Difo> fields = {store(0, random.below(5)), store(1, random.below(5)),
                                        load_own(0), execname()};
            for (uint32_t more = random.below(4); more > 0; more--) {
                const uint32_t var = random.below(2);
                fields.push_back(random.below(3) == 0   ? random.field()
                                 : random.below(2) != 0 ? since(var)
                                                        : load_own(var, 1u << random.below(4)));
            }
            clauses.push_back(fields);
        }
        auto clause = [&](uint32_t i, uint32_t id) {
            auto actions = traces(dof, clauses[i]);
            for (const Action& action : dof.aggregate(id, DTRACEAGG_SUM, {load_own(0)}, since(1)))
                actions.push_back(action);
            actions.push_back(dof.trace(load_own(1)));
            dof.ecb("test:::go", actions);
        };
        for (uint32_t i = 0; i < kClauses; i++)
            clause(i, 1 + i);
        fill_up(dof, kClauses);
        for (uint32_t i = 0; i < kClauses; i++)
            clause(i, 101 + i);
        auto* consumer = engine.start(dof.build());
        CHECK(tiers(go)[0] == DBK_TIER_CELLS);
        CHECK(tiers(go).back() == DBK_TIER_GENERAL);
        for (int i = 0; i < 30; i++) {
            random.change_thread();
            host.tid = 1 + random.below(8);
            auto args = random.args();
            args[random.below(5)] = 0;
            engine.fire(go, args);
        }
        auto all = records(consumer);
        REQUIRE(all.size() == 30 * 2 * kClauses);
        for (size_t at = 0; at < all.size(); at += 2 * kClauses)
            for (uint32_t i = 0; i < kClauses; i++) {
                INFO("round " << round << ", clause " << i);
                CHECK(payload(all[at + i]) == payload(all[at + kClauses + i]));
            }
        std::map<uint32_t, std::vector<AggEntry>> of; // by EPID
        for (const auto& entry : snapshot(consumer))
            of[entry.header.epid].push_back(entry);
        for (uint32_t i = 1; i <= kClauses; i++) {
            const auto &simple = of[i], &general = of[DBK_SIMPLE_ECBS_MAX + i];
            REQUIRE(simple.size() == general.size());
            REQUIRE(!simple.empty());
            for (size_t e = 0; e < simple.size(); e++) {
                CHECK(simple[e].key == general[e].key);
                CHECK(simple[e].cells == general[e].cells);
            }
        }
    }
}

TEST_CASE("a record that a thread-local without room ends leaves the next one first", "[engine][tier][thread]") {
    const bool general = GENERATE(false, true);
    Engine engine(1);
    auto& go = engine.probe("test", "m", "f", "go", 5);
    Dof dof;
    dof.option(DTRACEOPT_DYNVARSIZE, 31); // one variable
    if (general)
        fill_up(dof, 0);
    dof.ecb("test:::go", {dof.trace(execname()), dof.trace(store(0, 0)), dof.trace(arg(1))});
    dof.ecb("test:::go", {dof.trace(store(0, 0))});
    dof.ecb("test:::go", {dof.trace(arg(2))});
    auto* consumer = engine.start(dof.build());
    CHECK(tiers(go)[general ? DBK_SIMPLE_ECBS_MAX : 0] == (general ? DBK_TIER_GENERAL : DBK_TIER_CELLS));
    for (host.tid = 1; host.tid <= 3; host.tid++)
        engine.fire(go, {7});
    const auto all = records(consumer);
    REQUIRE(all.size() == 4);
    CHECK_FALSE(all[0].same_firing);
    CHECK(all[1].same_firing);
    for (size_t i = 2; i < 4; i++) {
        CHECK(all[i].epid == all[1].epid);
        CHECK_FALSE(all[i].same_firing);
    }
    CHECK(drops(consumer, DBK_DROP_DYNAMIC) == 4);
    CHECK(dbk_consumer_counters(consumer, 0)->records == 4);
}

TEST_CASE("the only clause of a probe records as one of two does", "[engine][tier]") {
    Random random;
    for (int round = 0; round < 40; round++) {
        Engine engine(1);
        auto &alone = engine.probe("test", "m", "alone", "go", 5), &pair = engine.probe("test", "m", "pair", "go", 5);
        Dof dof;
        const auto fields = random.fields(8, false);
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        dof.option(DTRACEOPT_BUFSIZE, 8192);
        dof.ecb("test::alone:go", traces(dof, fields));
        dof.ecb("test::pair:go", traces(dof, fields));
        dof.ecb("test::pair:go", {});
        auto* consumer = engine.start(dof.build());
        const uint64_t kFirings = 600; // the ring wraps many times
        for (uint64_t i = 0; i < kFirings; i++) {
            const auto args = random.args();
            random.change_thread();
            engine.fire(alone, args);
            engine.fire(pair, args);
        }
        const auto* counters = dbk_consumer_counters(consumer, 0);
        CHECK(counters->firings == 3 * kFirings);
        CHECK(counters->records == 3 * kFirings);
        auto all = records(consumer);
        for (size_t i = 0; i + 2 < all.size(); i++) {
            CHECK(all[i].same_firing == (all[i].epid == 3));
            if (all[i].epid != 1)
                continue;
            REQUIRE(all[i + 1].epid == 2);
            CHECK(payload(all[i]) == payload(all[i + 1]));
            CHECK(payload(all[i + 2]).empty());
        }
    }
}

TEST_CASE("the only clause of a probe finds its gate closed", "[engine][tier]") {
    for (const Difo& field : {arg(0), variable_of(DIF_VAR_PID)}) {
        Engine engine(1);
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.ecb("test:::go", {dof.trace(field)});
        auto* consumer = engine.consumer(dof.build());
        engine.fire(go, {1});
        CHECK(dbk_consumer_counters(consumer, 0)->firings == 0);
        REQUIRE(dbk_consumer_start(consumer) == 0);
        engine.fire(go, {2});
        dbk_consumer_stop(consumer);
        engine.fire(go, {3});
        CHECK(dbk_consumer_counters(consumer, 0)->firings == 1);
        CHECK(records(consumer).size() == 1);
        CHECK(drops(consumer, DBK_DROP_PRINCIPAL) == 0);
    }
}

TEST_CASE("what fires within the only clause of a probe is a drop", "[engine][tier]") {
    for (const Difo& field : {arg(0), variable_of(DIF_VAR_TIMESTAMP)}) {
        Engine engine(1);
        auto& go = engine.probe("test", "m", "f", "go");
        auto& within = engine.probe("test", "m", "f", "within");
        Dof dof;
        dof.ecb("test:::go", {dof.trace(field)});
        dof.ecb("test:::within", {dof.trace(field)});
        auto* consumer = engine.start(dof.build());
        engine.fire(go, {7}); // a segment is open from here on
        host.in_ticks = [&] {
            auto nested = std::move(host.in_ticks);
            host.in_ticks = nullptr;
            const uint64_t args[6] = {1};
            dbk_probe_fire(&within, args, nullptr);
        };
        engine.fire(go, {8});
        host.in_ticks = nullptr;
        CHECK(drops(consumer, DBK_DROP_NESTED) == 1);
        CHECK(dbk_consumer_counters(consumer, 0)->nested_probe_id == within.id);
        auto all = records(consumer);
        REQUIRE(all.size() == 2);
        CHECK(all[1].epid == 1);
        CHECK_FALSE(all[1].same_firing);
        engine.fire(within, {9});
        CHECK(records(consumer).size() == 3);
    }
}

TEST_CASE("a clause whose record has no room is run the general way", "[engine][tier]") {
    for (const std::vector<Difo>& fields :
         {std::vector<Difo>{arg(0), arg(1)}, {variable_of(DIF_VAR_PID, 4)}, {execname(), arg(0)}}) {
        Engine engine(1);
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        dof.option(DTRACEOPT_BUFSIZE, 8192);
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL);
        dof.ecb("test:::go", traces(dof, fields));
        auto* consumer = engine.start(dof.build());
        for (uint64_t i = 0; i < 2000; i++)
            engine.fire(go, {i, i});
        const auto* counters = dbk_consumer_counters(consumer, 0);
        CHECK(counters->firings == 2000);
        CHECK(counters->records == records(consumer).size());
        CHECK(counters->records + drops(consumer, DBK_DROP_FILLED) == 2000);
        // No hole at a segment's end that such a record would fit in; a name is not known to be short before.
        size_t needs = records(consumer)[0].bytes.size() + (fields[0].type.kind == DIF_TYPE_STRING ? 8 : 0);
        for (const auto& [sequence, header] : segments(consumer, 0))
            CHECK(header->committed_bytes + needs > header->segment_bytes);
    }
}

TEST_CASE("the tier of a clause", "[engine][tier]") {
    Engine engine(1);
    auto& go = engine.probe("test", "m", "f", "go", 5);
    Dof dof;
    const Difo asked = interpreted();
    dof.ecb("test:::go", {});
    dof.ecb("test:::go", traces(dof, std::vector<Difo>(8, arg(4))));
    dof.ecb("test:::go", traces(dof, std::vector<Difo>(9, arg(4)))); // too many for the first cache line
    dof.ecb("test:::go", {dof.trace(arg(5))});                       // the host is asked for it
    dof.ecb("test:::go", {dof.trace(arg(0, 4))});
    dof.ecb("test:::go", traces(dof, {execname(), variable_of(DIF_VAR_PID, 4)}));
    dof.ecb("test:::go", {dof.trace(asked)});
    dof.ecb("test:::go", {dof.trace(arg(0))}, dof.difo(asked));
    dof.ecb("test:::go", {dof.trace(variable_of(DIF_VAR_PPID))});
    dof.ecb("test:::go", traces(dof, std::vector<Difo>(40, arg(0)))); // much work
    dof.ecb("test:::go", {dof.trace(variable_of(DIF_VAR_TID))}, dof.difo(arg(1)));
    dof.ecb("test:::go", {dof.trace(store(0, 0))});
    dof.ecb("test:::go", {dof.trace(since(0))}, dof.difo(load_own(0)));
    dof.ecb("test:::go", traces(dof, {literal("a text"), arg(0)}));
    dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_PROBEFUNC, 1), ret(1)}, string_type()})});
    dof.ecb("test:::go", {dof.trace(literal(std::string(DBK_SIMPLE_TEXT_MAX + 1, 'x')))});
    dof.ecb("test:::go", traces(dof, std::vector<Difo>(8, literal(std::string(256, 'x'))))); // much work
    engine.start(dof.build());
    CHECK(tiers(go) == std::vector<uint32_t>{
                           DBK_TIER_ARGUMENTS, DBK_TIER_ARGUMENTS, DBK_TIER_SIMPLE, DBK_TIER_SIMPLE,
                           DBK_TIER_SIMPLE, DBK_TIER_SIMPLE, DBK_TIER_GENERAL, DBK_TIER_GENERAL,
                           DBK_TIER_GENERAL, DBK_TIER_GENERAL, DBK_TIER_SIMPLE, DBK_TIER_CELLS,
                           DBK_TIER_SIMPLE, DBK_TIER_CELLS, DBK_TIER_CELLS, DBK_TIER_GENERAL,
                           DBK_TIER_GENERAL});
}

TEST_CASE("what a probe's only clause is, others come and go", "[engine][tier]") {
    const Difo one = {{ldgs(DIF_VAR_ARG0, 1), setx(0, 2), cmp(1, 2), branch(DIF_OP_BE, 6), mov(0, 3),
                       branch(DIF_OP_BA, 7), setx(0, 3), ret(3)},
                      int_type(4),
                      {1}};
    auto tier = [](uint32_t number) { return DBK_ALONE_ARGUMENTS + number; };
    const struct {
        Difo field;
        std::optional<Difo> predicate;
        uint32_t alone; // enum dbk_alone
        size_t holds; // of the firings with arg0 0, 1 and 2
    } cases[] = {
        {arg(1), {}, DBK_ALONE_ARGUMENTS, 3},
        {arg(1), one, DBK_ALONE_EQUAL_ARG, 1},
        {variable_of(DIF_VAR_PID), {}, tier(DBK_TIER_SIMPLE), 3},
        {variable_of(DIF_VAR_PID), one, DBK_ALONE_EQUAL_ARG, 1},
        {interpreted(), {}, tier(DBK_TIER_GENERAL), 3},
        {interpreted(), one, DBK_ALONE_EQUAL_ARG, 1},
        {arg(1), arg(0), DBK_ALONE_VALUE, 2},
        {interpreted(), arg(0), DBK_ALONE_VALUE, 2},
        {arg(1), variable_of(DIF_VAR_UID), DBK_ALONE_VALUE, 3},
        {arg(1), arg(5), DBK_ALONE_EARLY, 3}, // the host is asked, and says what is not 0
        {arg(1), variable_of(DIF_VAR_TIMESTAMP), DBK_ALONE_NOT, 3},
        {arg(1), interpreted(), DBK_ALONE_NOT, 2},
        {arg(1), load_own(0), DBK_ALONE_THREAD, 0},
        {store(0, 0), {}, tier(DBK_TIER_CELLS), 0},
    };
    for (const auto& c : cases) {
        Engine engine(1);
        auto& go = engine.probe("test", "m", "f", "go", 5);
        auto consumer = [&](uint16_t ring) {
            Dof dof;
            dof.ecb("test:::go", {dof.trace(c.field)}, c.predicate ? dof.difo(*c.predicate) : DOF_SECIDX_NONE);
            return engine.start(dof.build(), {"test", ring, true, true, 0});
        };
        auto fire = [&] {
            for (uint64_t i = 0; i < 3; i++)
                engine.fire(go, {i, i});
        };
        auto* first = consumer(1);
        CHECK(go.ecbs->alone == c.alone);
        fire();
        auto* second = consumer(2);
        CHECK(go.ecbs->alone == DBK_ALONE_NOT);
        fire();
        CHECK(records(first).size() == 2 * c.holds);
        CHECK(records(second).size() == c.holds);
        engine.destroy(first);
        CHECK(go.ecbs->alone == c.alone);
        fire();
        auto* third = consumer(3);
        engine.destroy(third);
        CHECK(go.ecbs->alone == c.alone);
        fire();
        CHECK(records(second).size() == 3 * c.holds);
        CHECK(dbk_consumer_counters(second, 0)->firings == 9);
    }
}
