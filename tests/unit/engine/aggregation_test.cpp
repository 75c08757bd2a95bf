// SPDX-License-Identifier: Apache-2.0
//
// Aggregations: cells, keys, snapshots, and that both ways of aggregating make the same cells.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/memory/buffer.h"
#include "engine/shared/cells.h"
}

#include <catch2/catch.hpp>
#include <mutex>
#include <random>
#include <thread>

using namespace daybreak::engine_test;

namespace {

Difo weight(uint32_t index) {
    return {{ldgs(DIF_VAR_ARG0 + index, 1), ret(1)}, no_type()};
}

constexpr uint64_t kLinear = 0x000a000a00000000;       // lquantize(x, 0, 100, 10)
constexpr uint64_t kLogLinear = 0x001400060000000aull; // llquantize(x, 10, 0, 6, 20)

std::vector<uint64_t> cells(uint32_t kind, uint64_t parameter,
                            const std::vector<std::pair<int64_t, int64_t>>& values) {
    uint32_t count = kind == DTRACEAGG_QUANTIZE     ? 127
                     : kind == DTRACEAGG_LQUANTIZE  ? 13
                     : kind == DTRACEAGG_LLQUANTIZE ? 7 * 18 * 2 + 4
                     : kind == DTRACEAGG_STDDEV     ? 4
                     : kind == DTRACEAGG_AVG        ? 2
                                                    : 1;
    std::vector<uint64_t> result(count, 0xee);
    dbk_cells_init(result.data(), count, kind, parameter);
    for (auto [value, increment] : values)
        dbk_cells_add(result.data(), kind, parameter, value, increment);
    return result;
}

/// `test:::go { @[arg0] = count(); }`
std::vector<uint8_t> counting(uint64_t aggsize) {
    Dof dof;
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    dof.option(DTRACEOPT_AGGSIZE, aggsize);
    dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_COUNT, {arg(0)}));
    return dof.build();
}

size_t bucket(uint32_t kind, uint64_t parameter, int64_t value) {
    auto all = cells(kind, parameter, {{value, 1}});
    for (size_t i = kind == DTRACEAGG_QUANTIZE ? 0 : 1; i < all.size(); i++)
        if (all[i] != 0)
            return i;
    return 9999;
}

} // namespace

TEST_CASE("cells of the simple functions", "[engine][aggregate]") {
    const std::vector<std::pair<int64_t, int64_t>> values{{5, 1}, {-7, 1}, {3, 1}};
    CHECK(cells(DTRACEAGG_COUNT, 0, values) == std::vector<uint64_t>{3});
    CHECK(cells(DTRACEAGG_SUM, 0, values) == std::vector<uint64_t>{1});
    CHECK(cells(DTRACEAGG_MIN, 0, values) == std::vector<uint64_t>{static_cast<uint64_t>(-7)});
    CHECK(cells(DTRACEAGG_MAX, 0, values) == std::vector<uint64_t>{5});
    CHECK(cells(DTRACEAGG_AVG, 0, values) == std::vector<uint64_t>{3, 1});
    CHECK(cells(DTRACEAGG_STDDEV, 0, values) == std::vector<uint64_t>{3, 1, 83, 0});
    CHECK(cells(DTRACEAGG_MIN, 0, {}) == std::vector<uint64_t>{INT64_MAX});
    CHECK(cells(DTRACEAGG_MAX, 0, {}) == std::vector<uint64_t>{1ull << 63});
    // INT64_MIN squared twice: 2^127.
    CHECK(cells(DTRACEAGG_STDDEV, 0, {{INT64_MIN, 1}, {INT64_MIN, 1}}) ==
          std::vector<uint64_t>{2, 0, 0, 1ull << 63});
}

TEST_CASE("quantize buckets", "[engine][aggregate]") {
    auto at = [](int64_t value) { return bucket(DTRACEAGG_QUANTIZE, 0, value); };
    CHECK(at(0) == 63);
    CHECK(at(1) == 64);
    CHECK(at(2) == 65);
    CHECK(at(3) == 65);
    CHECK(at(4) == 66);
    CHECK(at(INT64_MAX) == 126);
    CHECK(at(-1) == 62);
    CHECK(at(-2) == 61);
    CHECK(at(-3) == 61);
    CHECK(at(-4) == 60);
    CHECK(at(INT64_MIN) == 0);
    CHECK(at(INT64_MIN + 1) == 0);
    CHECK(cells(DTRACEAGG_QUANTIZE, 0, {{5, 10}, {6, -3}})[66] == 7);
}

TEST_CASE("lquantize and llquantize buckets", "[engine][aggregate]") {
    auto at = [](int64_t value) { return bucket(DTRACEAGG_LQUANTIZE, kLinear, value); };
    CHECK(at(-1) == 1);
    CHECK(at(0) == 2);
    CHECK(at(9) == 2);
    CHECK(at(10) == 3);
    CHECK(at(99) == 11);
    CHECK(at(100) == 12);
    CHECK(at(INT32_MAX) == 12);
    CHECK(at(1ll << 32) == 2); // values are 32 bits
    CHECK(cells(DTRACEAGG_LQUANTIZE, kLinear, {})[0] == kLinear);
    auto log = [](int64_t value) { return bucket(DTRACEAGG_LLQUANTIZE, kLogLinear, value); };
    const size_t centre = 1 + 7 * 18 + 1;
    CHECK(log(0) == centre);
    CHECK(log(1) == centre + 1);
    CHECK(log(-1) == centre - 1);
    CHECK(log(9) == centre + 17);
    CHECK(log(10) == centre + 19);
    CHECK(log(9999999) == centre + 7 * 18);
    CHECK(log(10000000) == centre + 7 * 18 + 1);
    CHECK(log(INT64_MIN) == 1);
}

TEST_CASE("keys make entries, per CPU", "[engine][aggregate]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto& other = engine.probe("test", "m", "f", "other");
    Dof dof;
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    dof.ecb("test:::",
            dof.aggregate(1, DTRACEAGG_SUM, {text_variable(DIF_VAR_EXECNAME), arg(0)}, arg(1)));
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {1, 10});
    engine.fire(other, {1, 5}); // another ECB, the same aggregation
    engine.fire(go, {2, 7});
    std::strcpy(host.execname, "x");
    engine.fire(go, {1, 1});
    engine.fire(go, {1, 100}, 1);
    auto info = ecb_info(consumer, 1);
    REQUIRE(info);
    CHECK(info->ecb.flags == DBK_ECB_F_NO_RECORD);
    REQUIRE(info->fields.size() == 2);
    CHECK(info->fields[0].offset == 0);
    CHECK(info->fields[0].shape == DBK_FIELD_STRING);
    CHECK(info->fields[0].flags == DBK_FIELD_F_KEY);
    CHECK(info->fields[1].offset == 8);
    auto entries = snapshot(consumer);
    REQUIRE(entries.size() == 3);
    CHECK(entries[0].header.epid == 1);
    CHECK(entries[0].header.action == 3);
    CHECK(entries[0].cells == std::vector<uint64_t>{15});
    CHECK(entries[1].cells == std::vector<uint64_t>{7});
    CHECK(entries[2].cells == std::vector<uint64_t>{1});
    dbk_tail_ref ref;
    std::memcpy(&ref, entries[0].key.data(), sizeof(ref));
    CHECK(std::string(reinterpret_cast<char*>(entries[0].key.data()) + ref.offset, ref.bytes) ==
          "tester");
    CHECK(entries[0].key.size() == 16 + 8);
    CHECK(snapshot(consumer, 1).size() == 1);
    CHECK(snapshot(consumer).empty()); // taken
    engine.fire(go, {1, 3});
    CHECK(snapshot(consumer)[0].cells == std::vector<uint64_t>{3});
    CHECK(records(consumer).empty());
}

TEST_CASE("a full aggregation buffer drops new keys only", "[engine][aggregate]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    dof.option(DTRACEOPT_AGGSIZE, 1024);
    dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_COUNT, {arg(0)}));
    auto* consumer = engine.start(dof.build());
    CHECK(dbk_consumer_ring(consumer)->aggbuf_bytes == DBK_AGGSIZE_MIN);
    for (uint64_t key = 0; key < 200; key++)
        engine.fire(go, {key});
    uint64_t lost = drops(consumer, DBK_DROP_AGGREGATION);
    CHECK(lost > 0);
    engine.fire(go, {0});
    CHECK(drops(consumer, DBK_DROP_AGGREGATION) == lost);
    auto entries = snapshot(consumer);
    CHECK(entries.size() + lost == 200);
    CHECK(entries[0].cells[0] == 2);
    for (uint64_t key = 0; key < 10; key++)
        engine.fire(go, {key});
    CHECK(snapshot(consumer).size() == 10);
}

TEST_CASE("a snapshot says how many keys were lost in it", "[engine][aggregate]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(counting(1024));
    for (uint64_t round = 0; round < 3; round++) {
        uint64_t before = drops(consumer, DBK_DROP_AGGREGATION);
        for (uint64_t key = 0; key < 200 + round; key++)
            engine.fire(go, {key});
        uint32_t bytes;
        const void* image;
        REQUIRE(dbk_consumer_agg_snapshot(consumer, 0, &bytes, &image) == 0);
        uint64_t lost = drops(consumer, DBK_DROP_AGGREGATION) - before;
        CHECK(lost > 0);
        CHECK(losses(static_cast<const dbk_segment_header*>(image)).drops[DBK_DROP_AGGREGATION] ==
              lost);
    }
}

TEST_CASE("a thousand snapshots leave the buffer as empty as the first", "[engine][aggregate]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(counting(128 << 10));
    for (uint64_t round = 0; round < 1000; round++) {
        for (uint64_t key = 0; key < 100; key++)
            engine.fire(go, {key * key + round});
        auto entries = snapshot(consumer);
        REQUIRE(entries.size() == 100);
        for (const auto& entry : entries)
            REQUIRE(entry.cells == std::vector<uint64_t>{1});
    }
    // And as much fits as in the first.
    uint64_t fitted = 0;
    for (int round = 0; round < 3; round++) {
        for (uint64_t key = 0; key < 10000; key++)
            engine.fire(go, {key});
        uint64_t fits = snapshot(consumer).size();
        CHECK((fitted == 0 || fits == fitted));
        fitted = fits;
    }
    CHECK(fitted > 2000);
}

TEST_CASE("buffers are switched on their CPU, between two firings", "[engine][aggregate]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(counting(64 << 10));
    const dbk_aggbuf* counted_into = consumer->buffers[1].aggbuf;
    int switched = 0;
    host.on_cpu = [&](uint32_t cpu, const std::function<void()>& run) {
        CHECK(cpu == 1);
        CHECK(consumer->buffers[1].aggbuf == counted_into);
        engine.fire(go, {1}, 1); // a firing that the call waited for
        run();
        CHECK(consumer->buffers[1].aggbuf != counted_into);
        engine.fire(go, {2}, 1); // the next, before the caller knows
        switched++;
    };
    auto first = snapshot(consumer, 1);
    CHECK(switched == 1);
    REQUIRE(first.size() == 1);
    CHECK(first[0].key[0] == 1);
    counted_into = consumer->buffers[1].aggbuf;
    auto second = snapshot(consumer, 1);
    REQUIRE(second.size() == 2); // what came before the switch, and in it
    CHECK(second[0].key[0] == 2);
    CHECK(host.synchronized == 0);
    host.on_cpu = nullptr;
}

TEST_CASE("no count is lost or torn by snapshots beside firing CPUs",
          "[engine][aggregate][parallel]") {
    constexpr uint32_t kCpus = 3;
    constexpr uint64_t kFirings = 20000, kKeys = 50;
    Engine engine(kCpus);
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(counting(64 << 10));
    std::mutex interrupts[kCpus]; // held: they are off
    host.on_cpu = [&](uint32_t cpu, const std::function<void()>& run) {
        std::lock_guard off(interrupts[cpu]);
        run();
    };
    std::vector<std::thread> cpus;
    for (uint32_t cpu = 0; cpu < kCpus; cpu++)
        cpus.emplace_back([&, cpu] {
            host_cpu = cpu;
            for (uint64_t i = 0; i < kFirings; i++) {
                uint64_t args[DBK_PROBE_ARGS_MAX] = {i % kKeys};
                std::lock_guard off(interrupts[cpu]);
                dbk_probe_fire(&go, args, nullptr);
            }
        });
    std::map<uint64_t, uint64_t> counts;
    auto take = [&] {
        for (uint32_t cpu = 0; cpu < kCpus; cpu++)
            for (const auto& entry : snapshot(consumer, cpu))
                counts[entry.key[0]] += entry.cells[0];
    };
    for (int i = 0; i < 200; i++)
        take();
    for (auto& thread : cpus)
        thread.join();
    take();
    CHECK(counts.size() == kKeys);
    for (auto [key, count] : counts)
        CHECK(count == kCpus * kFirings / kKeys);
    host.on_cpu = nullptr;
}

namespace {

/// How far from its place a key lies, on average, after these were counted.
double probes_per_key(const std::vector<std::pair<uint64_t, uint64_t>>& keys) {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_COUNT, {arg(0), arg(1)}));
    auto* consumer = engine.start(dof.build());
    for (auto [a, b] : keys)
        engine.fire(go, {a, b});
    CHECK(drops(consumer, DBK_DROP_AGGREGATION) == 0);
    const dbk_aggbuf* aggbuf = consumer->buffers[0].aggbuf;
    CHECK(aggbuf->entry_count == keys.size());
    const auto& secret = engine.get()->cpus[0]->secret;
    const auto* base = static_cast<const uint8_t*>(aggbuf->pages.address);
    uint64_t sum = 0, found = 0;
    for (uint32_t i = 0; i < aggbuf->index_count; i++) {
        const dbk_agg_ref& ref = aggbuf->index[i];
        if (ref.tag >> 32 != aggbuf->round)
            continue;
        const auto* entry = reinterpret_cast<const dbk_agg_entry*>(base + ref.offset);
        uint64_t hash = dbk_hash(&secret, uint64_t{ref.class_id} << 32 | entry->key_bytes,
                                 reinterpret_cast<const uint8_t*>(entry + 1), entry->key_bytes);
        sum += (i - static_cast<uint32_t>(hash >> 32)) & (aggbuf->index_count - 1);
        found++;
    }
    CHECK(found == keys.size());
    return 1 + static_cast<double>(sum) / static_cast<double>(found);
}

} // namespace

// The second word was the unkeyed hash of the first, so that all keys met in one place.
TEST_CASE("chosen keys are no slower than random ones", "[engine][aggregate][hash]") {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ull;
    std::mt19937_64 random(1);
    std::vector<std::pair<uint64_t, uint64_t>> chosen, any, counted;
    for (uint64_t i = 0; i < 8000; i++) {
        uint64_t hash = ((uint64_t{16} << 32 ^ 1) ^ i) * kGolden;
        hash ^= hash >> 32;
        chosen.emplace_back(i, hash);
        any.emplace_back(random(), random());
        counted.emplace_back(i << 40, 0);
    }
    double usual = probes_per_key(any);
    CHECK(usual < 2);
    CHECK(probes_per_key(chosen) < 2 * usual);
    CHECK(probes_per_key(counted) < 2 * usual);
}

TEST_CASE("a key that finds no place near its own is a drop", "[engine][aggregate][hash]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    // As if the secret were known: the hash is the key, and its upper half the place.
    for (uint32_t cpu = 0; cpu < 2; cpu++)
        engine.get()->cpus[cpu]->secret = {0, 1};
    auto* consumer = engine.start(counting(1 << 20));
    for (uint64_t key = 0; key < 300; key++)
        engine.fire(go, {key});
    CHECK(drops(consumer, DBK_DROP_AGGREGATION) == 300 - 256);
    for (uint64_t key = 0; key < 256; key++)
        engine.fire(go, {key});
    CHECK(drops(consumer, DBK_DROP_AGGREGATION) == 300 - 256);
    auto entries = snapshot(consumer);
    CHECK(entries.size() == 256);
    for (const auto& entry : entries)
        CHECK(entry.cells[0] == 2);
}

TEST_CASE("snapshots are refused where there is nothing to take", "[engine][aggregate]") {
    Engine engine;
    Dof dof;
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_RECORD);
    dof.ecb("test:::go", {});
    auto* consumer = engine.start(dof.build());
    uint32_t bytes;
    const void* image;
    CHECK(dbk_consumer_agg_snapshot(consumer, 0, &bytes, &image) == -ENODATA);
    CHECK(dbk_consumer_agg_snapshot(consumer, 2, &bytes, &image) == -EINVAL);
}

TEST_CASE("recorded and engine aggregation make the same cells", "[engine][aggregate][property]") {
    auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    struct Case {
        uint32_t kind;
        uint64_t parameter;
        bool weighted;
    };
    const Case cases[] = {{DTRACEAGG_COUNT, 0, false},
                          {DTRACEAGG_SUM, 0, false},
                          {DTRACEAGG_MIN, 0, false},
                          {DTRACEAGG_MAX, 0, false},
                          {DTRACEAGG_AVG, 0, false},
                          {DTRACEAGG_STDDEV, 0, false},
                          {DTRACEAGG_QUANTIZE, 0, false},
                          {DTRACEAGG_QUANTIZE, 0, true},
                          {DTRACEAGG_LQUANTIZE, kLinear, true},
                          {DTRACEAGG_LLQUANTIZE, kLogLinear, true}};
    for (const Case& c : cases) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        auto program = [&](uint64_t mode) {
            Dof dof;
            Difo increment = weight(2);
            dof.option(DBK_OPT_AGGREGATE, mode);
            dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
            dof.ecb("test:::go", dof.aggregate(1, c.kind, {text_variable(DIF_VAR_EXECNAME), arg(0)},
                                               c.kind == DTRACEAGG_COUNT ? Difo{} : arg(1),
                                               c.parameter, c.weighted ? &increment : nullptr));
            return dof.build();
        };
        auto* recorded = engine.start(program(DBK_AGGREGATE_RECORD));
        auto* counted = engine.start(program(DBK_AGGREGATE_ENGINE), {"e", 2, true, false, 0});
        for (int i = 0; i < 500; i++) {
            uint64_t value = random() >> (random() % 64);
            engine.fire(go, {random() % 5, random() % 2 ? value : 0 - value, random() % 7});
        }
        auto info = ecb_info(recorded, 1);
        REQUIRE(info);
        const dbk_meta_field *value = nullptr, *increment = nullptr;
        for (const auto& field : info->fields) {
            if (field.flags == DBK_FIELD_F_VALUE)
                value = &field;
            if (field.flags == DBK_FIELD_F_INCREMENT)
                increment = &field;
        }
        CHECK((value == nullptr) == (c.kind == DTRACEAGG_COUNT));
        CHECK((increment != nullptr) == c.weighted);
        std::map<uint64_t, std::vector<uint64_t>> expected;
        for (const auto& record : records(recorded)) {
            CHECK(record.tail(12) == "tester");
            auto& have =
                expected.try_emplace(record.u64(16), cells(c.kind, c.parameter, {})).first->second;
            dbk_cells_add(have.data(), c.kind, c.parameter,
                          value ? static_cast<int64_t>(record.u64(value->offset)) : 0,
                          increment ? static_cast<int64_t>(record.u64(increment->offset)) : 1);
        }
        auto entries = snapshot(counted);
        CHECK(entries.size() == expected.size());
        for (const auto& entry : entries) {
            uint64_t key;
            std::memcpy(&key, entry.key.data() + 8, 8);
            CHECK(entry.cells == expected[key]);
        }
    }
}

TEST_CASE("snapshots of a CPU are numbered without a hole", "[engine][aggregate]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(counting(128 << 10));
    uint64_t last = 0;
    for (uint64_t round = 0; round < 100; round++) {
        engine.fire(go, {round});
        const void* image;
        uint32_t bytes;
        REQUIRE(dbk_consumer_agg_snapshot(consumer, 0, &bytes, &image) == 0);
        const uint64_t sequence = static_cast<const dbk_segment_header*>(image)->sequence;
        if (round > 0)
            REQUIRE(sequence == last + 1);
        last = sequence;
    }
}

TEST_CASE("a snapshot that could not be used comes again", "[engine][aggregate]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(counting(128 << 10));
    uint64_t counted = 0, taken = 0;
    for (uint64_t round = 0; round < 100; round++) {
        engine.fire(go, {round});
        auto entries = snapshot(consumer);
        taken++;
        dbk_consumer_agg_keep(consumer, 0, taken - 1); // it is not the newest: nothing comes again
        for (uint64_t again = 0; again < round % 3; again++) {
            engine.fire(go, {1000 + again}); // goes to the other buffer
            dbk_consumer_agg_keep(consumer, 0, taken);
            auto same = snapshot(consumer);
            REQUIRE(same.size() == entries.size());
            CHECK(same[0].key == entries[0].key);
        }
        for (const auto& entry : entries)
            counted += entry.cells[0];
    }
    for (const auto& entry : snapshot(consumer))
        counted += entry.cells[0];
    CHECK(counted == 100 + 33 + 2 * 33);
}

TEST_CASE("aggregations of one name and another argument never share cells", "[engine][aggregate]") {
    // No D says so; of a hostile program the second would write after the first one's cells.
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    constexpr uint64_t kOneLevel = 0x000a000100000000; // lquantize(x, 0, 10, 10)
    for (uint64_t parameter : {kOneLevel, kLinear})
        dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_LQUANTIZE, {arg(0)}, arg(1), parameter));
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {7, 95});
    auto entries = snapshot(consumer);
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].cells.size() == 4);
    CHECK(entries[1].cells.size() == 13);
    CHECK(entries[1].cells[11] == 1);
}
