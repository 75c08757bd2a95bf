// SPDX-License-Identifier: Apache-2.0
//
// Speculations: the state machine against a model, room, commits over segments, many CPUs at once.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/internal.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

using namespace daybreak::engine_test;

namespace {

Difo text(const char* value) {
    return {{sets(1, 1), ret(1)}, string_type(), {}, std::string(1, '\0') + value + '\0'};
}
/// Adds 1 to a global variable: a clause that got there says so.
Difo bump(uint32_t id) {
    return {{ldgs(id, 1), setx(0, 2), op3(DIF_OP_ADD, 1, 2, 1), var_op(DIF_OP_STGS, id, 1), ret(1)},
            no_type(),
            {1},
            "",
            {variable(id, DIFV_SCOPE_GLOBAL)}};
}

/// Probes that do one thing each: arg0 is a speculation, arg1 a token.
struct Bench {
    Engine engine;
    dbk_probe &ask, &speculate, &commit, &discard, &plain;
    dbk_consumer* consumer = nullptr;

    explicit Bench(uint32_t cpus = 2)
        : engine(cpus), ask(engine.probe("test", "m", "f", "ask")),
          speculate(engine.probe("test", "m", "f", "speculate")),
          commit(engine.probe("test", "m", "f", "commit")),
          discard(engine.probe("test", "m", "f", "discard")),
          plain(engine.probe("test", "m", "f", "plain")) {}

    static Dof program() {
        Dof dof;
        dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
        dof.ecb("test:::speculate", {{DTRACEACT_SPECULATE, dof.difo(arg(0))}, dof.trace(arg(1))});
        dof.ecb("test:::commit", {{DTRACEACT_COMMIT, dof.difo(arg(0))}});
        dof.ecb("test:::discard", {{DTRACEACT_DISCARD, dof.difo(arg(0))}});
        dof.ecb("test:::plain", {dof.trace(arg(1))});
        return dof;
    }
    void start(Dof dof) { consumer = engine.start(dof.build()); }
    std::vector<uint64_t> values(uint32_t cpu = 0) const {
        std::vector<uint64_t> list;
        for (const Record& record : records(consumer, cpu))
            list.push_back(record.u64(8));
        return list;
    }
};

using Values = std::vector<uint64_t>;

} // namespace

TEST_CASE("a commit appends what was speculated, with the times it was made", "[engine][spec]") {
    Bench bench;
    bench.start(Bench::program());
    bench.engine.fire(bench.ask);
    bench.engine.fire(bench.speculate, {1, 70});
    bench.engine.fire(bench.plain, {0, 71});
    bench.engine.fire(bench.speculate, {1, 72});
    bench.engine.fire(bench.commit, {1});
    bench.engine.fire(bench.plain, {0, 73});
    CHECK(bench.values() == Values{1, 71, 70, 72, 73});
    auto all = records(bench.consumer);
    CHECK(all[2].ticks < all[1].ticks);
    CHECK(all[3].ticks > all[1].ticks);
    CHECK(all[4].ticks > all[3].ticks);
    CHECK(dbk_consumer_counters(bench.consumer, 0)->records == 5);
    CHECK(ecb_info(bench.consumer, 2)->ecb.flags == DBK_ECB_F_SPECULATES);
}

TEST_CASE("records far apart in time keep their times", "[engine][spec]") {
    Bench bench;
    bench.start(Bench::program());
    bench.engine.fire(bench.ask);
    std::vector<uint64_t> times;
    for (uint64_t i = 0; i < 4; i++) {
        host.ticks += 0x180000000;
        bench.engine.fire(bench.speculate, {1, i});
        times.push_back(host.ticks);
    }
    host.ticks += 0x180000000;
    bench.engine.fire(bench.commit, {1});
    bench.engine.fire(bench.plain, {0, 9});
    auto all = records(bench.consumer);
    REQUIRE(all.size() == 6);
    // Now and then a clause is timed (deadman.c), which reads the clock once more after the record.
    for (size_t i = 0; i < 4; i++)
        CHECK(times[i] - all[1 + i].ticks <= 16);
    CHECK(host.ticks - all[5].ticks <= 16);
}

TEST_CASE("a commit larger than a segment goes over several", "[engine][spec]") {
    Bench bench;
    Dof dof = Bench::program();
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_SPECSIZE, 64 << 10);
    SECTION("in a ring") {
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    }
    SECTION("in a fill buffer") {
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL);
    }
    SECTION("for a reader") {
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH);
    }
    bench.start(dof);
    bench.engine.fire(bench.ask);
    Values expected{1};
    for (uint64_t i = 0; i < 2000; i++) {
        bench.engine.fire(bench.speculate, {1, i});
        expected.push_back(i);
    }
    bench.engine.fire(bench.commit, {1});
    CHECK(bench.values() == expected);
    CHECK(segments(bench.consumer, 0).size() > 7);
}

TEST_CASE("all of a commit or nothing", "[engine][spec]") {
    uint32_t policy = GENERATE(DBK_POLICY_FILL, DBK_POLICY_SWITCH);
    Bench bench;
    Dof dof = Bench::program();
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_BUFSIZE, 4 * 4096);
    dof.option(DTRACEOPT_SPECSIZE, 64 << 10);
    dof.option(DTRACEOPT_BUFPOLICY, policy);
    bench.start(dof);
    bench.engine.fire(bench.ask);
    for (uint64_t i = 0; i < 1200; i++) // 19200 bytes
        bench.engine.fire(bench.speculate, {1, i});
    bench.engine.fire(bench.commit, {1});
    CHECK(bench.values() == Values{1});
    uint32_t cause = policy == DBK_POLICY_FILL ? DBK_DROP_FILLED : DBK_DROP_PRINCIPAL;
    CHECK(drops(bench.consumer, cause) == 1200);
    // It is free again, and what fits comes in.
    bench.engine.fire(bench.ask);
    bench.engine.fire(bench.speculate, {1, 5});
    bench.engine.fire(bench.commit, {1});
    CHECK(bench.values() == Values{1, 1, 5});
}

TEST_CASE("specsize limits the records, and drops are reported by a commit", "[engine][spec]") {
    Bench bench;
    Dof dof = Bench::program();
    dof.option(DTRACEOPT_SPECSIZE, 20000); // more than is counted in DTrace's bytes
    bench.start(dof);
    bench.engine.fire(bench.ask);
    for (uint64_t i = 0; i < 1251; i++)
        bench.engine.fire(bench.speculate, {1, i}); // 16 bytes each
    CHECK(drops(bench.consumer, DBK_DROP_SPEC) == 0);
    SECTION("committed") {
        bench.engine.fire(bench.commit, {1});
        CHECK(bench.values().size() == 1 + 1250);
        CHECK(drops(bench.consumer, DBK_DROP_SPEC) == 1);
    }
    SECTION("discarded") {
        bench.engine.fire(bench.discard, {1});
        CHECK(bench.values().size() == 1);
        CHECK(drops(bench.consumer, DBK_DROP_SPEC) == 0);
    }
}

TEST_CASE("strings take what they need of a speculation", "[engine][spec]") {
    Bench bench;
    Dof dof;
    dof.option(DTRACEOPT_SPECSIZE, 16392);
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    dof.ecb("test:::speculate",
            {{DTRACEACT_SPECULATE, dof.difo(arg(0))}, dof.trace(text("twelve bytes"))});
    dof.ecb("test:::commit", {{DTRACEACT_COMMIT, dof.difo(arg(0))}});
    bench.start(dof);
    bench.engine.fire(bench.ask);
    for (int i = 0; i < 600; i++)
        bench.engine.fire(bench.speculate, {1});
    bench.engine.fire(bench.commit, {1});
    auto all = records(bench.consumer);
    // 32 bytes each; the last of 16392 bytes has no room for any.
    CHECK(all.size() == 1 + 512);
    CHECK(all.back().tail(12) == "twelve bytes");
    CHECK(drops(bench.consumer, DBK_DROP_SPEC) == 600 - 512);
}

TEST_CASE("actions out of order are refused, whichever compiler wrote the DOF", "[engine][spec]") {
    auto refusal = [](std::vector<uint32_t> kinds) {
        Dof dof;
        std::vector<Action> list;
        for (uint32_t kind : kinds)
            list.push_back({kind, dof.difo(arg(0))});
        dof.ecb("test:::", list);
        Loaded loaded = load(dof.build());
        dbk_program_destroy(loaded.program);
        return loaded.reason;
    };
    constexpr uint32_t spec = DTRACEACT_SPECULATE, commit = DTRACEACT_COMMIT,
                       discard = DTRACEACT_DISCARD, trace = DTRACEACT_DIFEXPR;
    CHECK(refusal({spec, trace, trace}).empty());
    CHECK(refusal({spec, trace, commit}).empty());
    CHECK(refusal({trace, discard, trace}).empty());
    CHECK(refusal({spec, discard}).empty());
    CHECK_FALSE(refusal({spec, spec}).empty());
    CHECK_FALSE(refusal({commit, spec}).empty());
    CHECK_FALSE(refusal({trace, spec}).empty());
    CHECK_FALSE(refusal({commit, commit}).empty());
    CHECK_FALSE(refusal({trace, commit}).empty());
    CHECK_FALSE(refusal({commit, trace}).empty());
    CHECK_FALSE(refusal({spec, DTRACEACT_EXIT}).empty());
    CHECK_FALSE(refusal({commit, DTRACEACT_EXIT}).empty());
}

TEST_CASE("speculations need memory, or say that there is none", "[engine][spec]") {
    auto bytes = [](uint64_t nspec, uint64_t specsize) {
        Engine engine;
        Dof dof = Bench::program();
        dof.option(DTRACEOPT_NSPEC, nspec);
        dof.option(DTRACEOPT_SPECSIZE, specsize);
        auto* consumer = engine.consumer(dof.build());
        uint64_t given = 0;
        CHECK(dbk_consumer_size(consumer, DTRACEOPT_SPECSIZE, &given));
        CHECK(dbk_consumer_speculation_bytes(consumer) >= 2 * nspec * given);
        return given;
    };
    CHECK(bytes(1, 32768) == 32768);
    CHECK(bytes(4, 15) == 8);
    CHECK(bytes(4, uint64_t{1} << 40) <= 16 << 20);
    Engine engine;
    auto refused = [&](uint64_t nspec, uint64_t specsize, bool manual) {
        Dof dof = Bench::program();
        dof.option(DTRACEOPT_NSPEC, nspec);
        dof.option(DTRACEOPT_SPECSIZE, specsize);
        dof.option(DTRACEOPT_BUFRESIZE, manual);
        Loaded loaded = load(dof.build());
        dbk_reason reason{};
        dbk_consumer* consumer = nullptr;
        dbk_consumer_config config{"test", 1, false, false, 0};
        int error = dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer);
        if (error == 0)
            dbk_consumer_destroy(consumer);
        else
            dbk_program_destroy(loaded.program);
        return error;
    };
    CHECK(refused(1, 7, false) == -ENOSPC);
    CHECK(refused(1, uint64_t{1} << 40, true) == -ENOMEM);
    CHECK(refused(DBK_NSPEC_MAX + 1ull, 8, false) == -ENOMEM);
    CHECK(refused(DBK_NSPEC_MAX, 8, false) == 0);
    CHECK(refused(0, 8, false) == 0);
}

TEST_CASE("programs that do not speculate have no speculations", "[engine][spec]") {
    Engine engine;
    Dof dof;
    dof.ecb("test:::", {dof.trace(arg(0))});
    auto* consumer = engine.consumer(dof.build());
    CHECK(dbk_consumer_speculation_bytes(consumer) == 0);
    CHECK(dbk_consumer_clean_interval_ns(consumer) == 0);
    CHECK_FALSE(dbk_consumer_clean(consumer));
}

TEST_CASE("cleanrate has bounds", "[engine][spec]") {
    auto interval = [](uint64_t rate) {
        Engine engine;
        Dof dof = Bench::program();
        dof.option(DTRACEOPT_CLEANRATE, rate);
        return dbk_consumer_clean_interval_ns(engine.consumer(dof.build()));
    };
    CHECK(interval(0) == DBK_CLEANRATE_MIN_NS);
    CHECK(interval(1'000'000) == 1'000'000);
    CHECK(interval(~0ull >> 1) == DBK_CLEANRATE_MAX_NS);
}

namespace {

/// DTrace's state machine once more, written from its description; and where each CPU looks first.
class Model {
public:
    Model(size_t nspec, size_t cpus) : specs_(nspec), ring(cpus) {
        for (Spec& spec : specs_)
            spec.held.resize(cpus);
        for (size_t cpu = 0; cpu < cpus; cpu++)
            next_.push_back(cpu * nspec / cpus);
    }

    void ask(size_t cpu) {
        bool any_busy = false;
        for (size_t looked = 0; looked < specs_.size(); looked++) {
            size_t i = (next_[cpu] + looked) % specs_.size();
            if (specs_[i].state == "inactive") {
                specs_[i].state = "active";
                ring[cpu].push_back(i + 1);
                next_[cpu] = i + 1;
                return;
            }
            any_busy |= specs_[i].state == "committingmany" || specs_[i].state == "discarding";
        }
        (any_busy ? busy : unavailable)++;
        ring[cpu].push_back(0);
    }
    void speculate(size_t cpu, size_t id, uint64_t token) {
        Spec& spec = specs_[id - 1];
        if (spec.state == "active")
            spec.state = "activeone";
        else if (spec.state == "activeone" && spec.held[cpu].empty())
            spec.state = "activemany";
        if (spec.state == "activeone" || spec.state == "activemany")
            spec.held[cpu].push_back(token);
    }
    void commit(size_t cpu, size_t id) {
        Spec& spec = specs_[id - 1];
        bool alone =
            spec.state == "active" || (spec.state == "activeone" && !spec.held[cpu].empty());
        if (spec.state == "inactive" || spec.state == "discarding")
            return;
        append(cpu, spec);
        spec.state = alone ? "inactive" : "committingmany";
        if (alone)
            next_[cpu] = std::min(next_[cpu], id - 1);
    }
    void discard(size_t cpu, size_t id) {
        Spec& spec = specs_[id - 1];
        if (spec.state == "activeone" && !spec.held[cpu].empty()) {
            spec.state = "inactive";
            next_[cpu] = std::min(next_[cpu], id - 1);
        } else if (spec.state.rfind("active", 0) == 0)
            spec.state = "discarding";
        else {
            return;
        }
        spec.held[cpu].clear();
    }
    void clean() {
        for (Spec& spec : specs_) {
            if (spec.state != "committingmany" && spec.state != "discarding")
                continue;
            for (size_t cpu = 0; cpu < ring.size(); cpu++) {
                if (spec.state == "committingmany")
                    append(cpu, spec);
                spec.held[cpu].clear();
            }
            spec.state = "inactive";
        }
    }

private:
    struct Spec {
        std::string state = "inactive";
        std::vector<std::vector<uint64_t>> held; // by CPU
    };
    void append(size_t cpu, Spec& spec) {
        ring[cpu].insert(ring[cpu].end(), spec.held[cpu].begin(), spec.held[cpu].end());
        spec.held[cpu].clear();
    }
    std::vector<Spec> specs_;
    std::vector<size_t> next_; // by CPU

public:
    std::vector<std::vector<uint64_t>> ring; // by CPU
    uint64_t busy = 0, unavailable = 0;
};

} // namespace

TEST_CASE("any order of calls on any CPUs does what the model says", "[engine][spec]") {
    uint64_t seed = GENERATE(range(1, 31));
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    uint32_t cpus = 1 + random() % 4, nspec = 1 + random() % 3;
    Bench bench(cpus);
    Dof dof = Bench::program();
    dof.option(DTRACEOPT_NSPEC, nspec);
    dof.option(DTRACEOPT_SPECSIZE, 1 << 20);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    bench.start(dof);
    Model model(nspec, cpus);
    for (uint64_t token = 100; token < 4100; token++) {
        auto cpu = static_cast<uint32_t>(random() % cpus);
        uint64_t id = 1 + random() % nspec, what = random() % 32;
        if (what < 4) {
            bench.engine.fire(bench.ask, {}, cpu);
            model.ask(cpu);
        } else if (what < 24) {
            bench.engine.fire(bench.speculate, {id, token}, cpu);
            model.speculate(cpu, id, token);
        } else if (what < 28) {
            bench.engine.fire(bench.commit, {id}, cpu);
            model.commit(cpu, id);
        } else if (what < 30) {
            bench.engine.fire(bench.discard, {id}, cpu);
            model.discard(cpu, id);
        } else {
            dbk_consumer_clean(bench.consumer);
            model.clean();
        }
    }
    uint64_t busy = 0, unavailable = 0;
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        CHECK(bench.values(cpu) == model.ring[cpu]);
        busy += drops(bench.consumer, DBK_DROP_SPECBUSY, cpu);
        unavailable += drops(bench.consumer, DBK_DROP_SPECUNAVAIL, cpu);
        CHECK(drops(bench.consumer, DBK_DROP_SPEC, cpu) == 0);
    }
    CHECK(busy == model.busy);
    CHECK(unavailable == model.unavailable);
}

TEST_CASE("speculation() finds a free one without a walk over those that are taken", "[engine][spec]") {
    constexpr uint32_t kNspec = 600, kCpus = 3;
    Bench bench(kCpus);
    Dof dof = Bench::program();
    dof.option(DTRACEOPT_NSPEC, kNspec);
    dof.option(DTRACEOPT_SPECSIZE, DBK_SPECSIZE_MIN);
    bench.start(dof);
    auto work = [&](uint32_t cpu) {
        bench.engine.fire(bench.ask, {}, cpu);
        return DBK_WORK_FIRING - bench.engine.get()->cpus[cpu]->work_left;
    };
    const uint32_t first = work(0);
    for (uint32_t i = 1; i < kNspec; i++)
        CHECK(work(i % kCpus) == first);
    CHECK(bench.values(1)[0] == kNspec / kCpus + 1);
    std::set<uint64_t> ids;
    for (uint32_t cpu = 0; cpu < kCpus; cpu++)
        for (uint64_t id : bench.values(cpu))
            ids.insert(id);
    CHECK((ids.size() == kNspec && *ids.begin() == 1 && *ids.rbegin() == kNspec));
    // None is left, and to know that takes a look at all of them.
    CHECK(work(1) > first + (kNspec - 1) * DBK_WORK_HOT / 2);
    CHECK(drops(bench.consumer, DBK_DROP_SPECUNAVAIL, 1) == 1);
    // Its own that is given back is the next one, wherever the others are.
    bench.engine.fire(bench.commit, {kNspec / kCpus + 7}, 1);
    CHECK(work(1) == first);
    CHECK(bench.values(1).back() == kNspec / kCpus + 7);
}

TEST_CASE("CPUs that speculate, commit and clean at once lose and repeat nothing",
          "[engine][spec][parallel]") {
    constexpr uint32_t kCpus = 4;
    constexpr uint64_t kNspec = 3, kRounds = 15000;
    bool discards = GENERATE(false, true);
    Engine engine(kCpus);
    Dof dof;
    dof.option(DTRACEOPT_NSPEC, kNspec);
    dof.option(DTRACEOPT_SPECSIZE, 8 << 20);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DTRACEOPT_BUFSIZE, 8 << 20);
    std::vector<dbk_probe*> speculate;
    std::vector<std::string> names;
    for (uint32_t cpu = 0; cpu < kCpus; cpu++)
        names.push_back("speculate" + std::to_string(cpu));
    for (uint32_t cpu = 0; cpu < kCpus; cpu++) {
        speculate.push_back(&engine.probe("test", "m", "f", names[cpu].c_str()));
        // Each CPU counts for itself what was taken.
        dof.ecb("test:::" + names[cpu], {{DTRACEACT_SPECULATE, dof.difo(arg(0))},
                                         dof.trace(arg(1)),
                                         dof.trace(bump(0x500 + cpu))});
        dof.ecb("test:::report", {dof.trace({{ldgs(0x500 + cpu, 1), ret(1)}})});
    }
    auto& ask = engine.probe("test", "m", "f", "ask");
    auto& commit = engine.probe("test", "m", "f", "commit");
    auto& discard = engine.probe("test", "m", "f", "discard");
    auto& report = engine.probe("test", "m", "f", "report");
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}, no_type()})});
    dof.ecb("test:::commit", {{DTRACEACT_COMMIT, dof.difo(arg(0))}});
    dof.ecb("test:::discard", {{DTRACEACT_DISCARD, dof.difo(arg(0))}});
    auto* consumer = engine.start(dof.build());
    host.tick_step = 0; // the clock is shared between the threads

    // A CPU is what holds its mutex: a firing, or the cleaner's interrupt.
    std::vector<std::mutex> cpus(kCpus);
    host.on_cpu = [&](uint32_t cpu, const std::function<void()>& run) {
        std::lock_guard lock(cpus[cpu]);
        run();
    };
    auto fire = [&](uint32_t cpu, dbk_probe& probe, uint64_t id, uint64_t token) {
        uint64_t args[DBK_PROBE_ARGS_MAX] = {id, token};
        std::lock_guard lock(cpus[cpu]);
        host_cpu = cpu;
        dbk_probe_fire(&probe, args, nullptr);
    };
    std::atomic<uint32_t> running = kCpus;
    std::atomic<uint64_t> cleanings = 0;
    std::vector<std::thread> threads;
    for (uint32_t cpu = 0; cpu < kCpus; cpu++)
        threads.emplace_back([&, cpu] {
            std::mt19937_64 random(cpu + 1);
            for (uint64_t i = 0; i < kRounds; i++) {
                // However busy the machine is, all of them are cleaned now and then.
                uint64_t seen = cleanings;
                while (i % 64 == 0 && cleanings == seen)
                    std::this_thread::yield();
                uint64_t id = 1 + random() % kNspec, what = random() % 64;
                if (what < 6)
                    fire(cpu, ask, 0, 0);
                else if (what < 61)
                    fire(cpu, *speculate[cpu], id, uint64_t{cpu} << 32 | (i + 1));
                else if (what < 63 || !discards)
                    fire(cpu, commit, id, 0);
                else
                    fire(cpu, discard, id, 0);
            }
            running--;
        });
    while (running != 0) {
        dbk_consumer_clean(consumer);
        cleanings++;
    }
    for (auto& thread : threads)
        thread.join();
    for (uint64_t id = 1; id <= kNspec; id++)
        fire(0, commit, id, 0);
    dbk_consumer_clean(consumer);

    uint64_t taken = 0, found = 0;
    uint64_t before = dbk_consumer_counters(consumer, 0)->records;
    fire(0, report, 0, 0);
    auto all = records(consumer, 0);
    REQUIRE(dbk_consumer_counters(consumer, 0)->records == before + kCpus);
    for (size_t i = all.size() - kCpus; i < all.size(); i++)
        taken += all[i].u64(8);
    all.resize(all.size() - kCpus);
    std::set<uint64_t> tokens;
    for (uint32_t cpu = 0; cpu < kCpus; cpu++) {
        for (const Record& record : cpu == 0 ? all : records(consumer, cpu)) {
            uint64_t token = record.u64(8);
            CHECK(token >> 32 == cpu);
            CHECK(tokens.insert(token).second);
            found++;
        }
        CHECK(drops(consumer, DBK_DROP_SPEC, cpu) == 0);
        CHECK(drops(consumer, DBK_DROP_NESTED, cpu) == 0);
    }
    CHECK(taken > kRounds / 50);
    if (discards)
        CHECK(found < taken);
    else
        CHECK(found == taken);
    // All are free again.
    for (uint64_t i = 0; i < kNspec; i++)
        fire(0, ask, 0, 0);
    uint64_t unavailable = drops(consumer, DBK_DROP_SPECUNAVAIL);
    fire(0, ask, 0, 0);
    CHECK(drops(consumer, DBK_DROP_SPECUNAVAIL) == unavailable + 1);
}
