// SPDX-License-Identifier: Apache-2.0
//
// Whatever a CPU writes while its ring is sealed, closed and made larger: a reader never sees a
// seal that does not hold, and nothing is overwritten that option ringtime wants kept and that
// there was room for.
#include "formats/segment/recording.hpp"
#include "live/live_copy.hpp"
#include "tests/unit/engine/test_host.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cinttypes>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

using namespace daybreak;
using namespace daybreak::engine_test;

namespace {

constexpr uint64_t kPerSegment = (4096 - DBK_SEGMENT_DATA_OFFSET) / 16;

uint64_t seed_of_run() {
    const char* given = std::getenv("DAYBREAK_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
}

Dof program(uint64_t bufsize, uint64_t ringtime_ns, uint64_t ringmax) {
    Dof dof;
    dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, int_type(8)})});
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DTRACEOPT_BUFSIZE, bufsize);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    if (ringtime_ns != 0) {
        dof.option(DBK_OPT_RINGTIME, ringtime_ns);
        dof.option(DBK_OPT_RINGMAX, ringmax);
    }
    return dof;
}

/// Copies segments as long as it may, and checks each.
class Reader {
public:
    /// The regions that `consumer` has now; under the control path's lock.
    void list(const dbk_consumer* consumer) {
        std::vector<base::ByteView> found;
        dbk_region region;
        for (uint32_t i = 0; dbk_consumer_region(consumer, i, &region); i++)
            if (region.kind == 1)
                found.emplace_back(static_cast<const std::byte*>(region.pages->address),
                                   region.pages->bytes);
        std::lock_guard lock(mutex_);
        regions_ = std::move(found);
    }
    void run() {
        while (!stop) {
            std::vector<base::ByteView> regions;
            {
                std::lock_guard lock(mutex_);
                regions = regions_;
            }
            for (base::ByteView region : regions)
                for (size_t at = 0; at < region.size(); at += 4096)
                    look(region.subspan(at));
        }
    }
    std::atomic<bool> stop = false;
    std::atomic<uint64_t> copied = 0, sealed = 0, wrong_seals = 0, wrong_records = 0;

private:
    void look(base::ByteView live) {
        live::LiveCopy copy = live::copy_live_piece(live);
        if (copy.outcome != live::CopyOutcome::copied)
            return;
        copied++;
        dbk_segment_header header;
        std::memcpy(&header, copy.bytes.data(), sizeof(header));
        sealed += (header.flags & DBK_SEGMENT_F_SEALED) != 0;
        wrong_seals += !formats::packed_piece(copy.bytes).ok();
        uint64_t first = 0;
        for (size_t at = DBK_SEGMENT_DATA_OFFSET; at + 16 <= copy.bytes.size(); at += 16) {
            uint64_t value;
            std::memcpy(&value, copy.bytes.data() + at + 8, sizeof(value));
            if (at == DBK_SEGMENT_DATA_OFFSET)
                first = value;
            wrong_records += value != first + (at - DBK_SEGMENT_DATA_OFFSET) / 16;
        }
    }

    std::mutex mutex_;
    std::vector<base::ByteView> regions_;
};

} // namespace

TEST_CASE("a seal that a reader sees holds, whatever the writer does", "[prop][seal]") {
    uint64_t seed = seed_of_run();
    std::mt19937_64 random(seed);
    uint64_t copied = 0, sealed = 0;
    for (int round = 0; round < 12; round++) {
        INFO("seed " << seed << " round " << round);
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        bool grows = random() % 2 != 0;
        auto* consumer = engine.start(
            program(8192 + random() % 5 * 4096, grows ? 1'000'000 : 0, 64 * 4096).build());
        std::atomic<uint64_t> fired = 0;
        std::atomic<bool> stop = false;
        std::thread writer([&] {
            while (!stop) {
                engine.fire(go, {fired++});
                // So that segments are also closed young, and looked at at every age.
                if (fired % 5000 == 0)
                    std::this_thread::yield();
            }
        });
        Reader reader;
        reader.list(consumer);
        std::thread reading([&] { reader.run(); });
        // Between a checksum and its seal the writer often has time to reopen the slot.
        host_enter_hook = [] { std::this_thread::yield(); };
        auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
        while (reader.sealed == 0 || std::chrono::steady_clock::now() < end) {
            switch (random() % 4) {
            case 0:
                dbk_consumer_seal(consumer, 0, DBK_SEAL_OPEN);
                break;
            case 1:
                dbk_consumer_seal(consumer, 0, DBK_SEAL_CLOSED);
                break;
            default:
                dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
                reader.list(consumer);
            }
        }
        host_enter_hook = nullptr;
        stop = reader.stop = true;
        writer.join();
        reading.join();
        CHECK(reader.wrong_seals == 0);
        CHECK(reader.wrong_records == 0);
        copied += reader.copied;
        sealed += reader.sealed;
        // And nothing is lost between the oldest and the newest.
        auto left = records(consumer);
        REQUIRE_FALSE(left.empty());
        CHECK(left.back().u64(8) == fired - 1);
        for (size_t i = 1; i < left.size(); i++)
            REQUIRE(left[i].u64(8) == left[i - 1].u64(8) + 1);
        CHECK(dbk_consumer_counters(consumer, 0)->oldest_sequence ==
              segments(consumer, 0).begin()->first);
    }
    std::printf("seed %" PRIu64 ": %" PRIu64 " segments copied, %" PRIu64 " of them sealed\n", seed,
                copied, sealed);
    CHECK(sealed > 0);
}

TEST_CASE("a growing ring overwrites nothing it should keep", "[prop][grow]") {
    uint64_t seed = seed_of_run(), overwritten = 0, bursts = 0, limited = 0;
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; round++) {
        INFO("seed " << seed << " round " << round);
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        const uint64_t ringtime_ns = (1 + random() % 40) * 100'000'000;
        const uint64_t slots_max = 8 + random() % 600;
        auto* consumer = engine.start(
            program(8192 + random() % 4 * 4096, ringtime_ns, slots_max * 4096).build());
        const dbk_meta_cpu* facts = dbk_consumer_counters(consumer, 0);
        std::vector<uint64_t> began_ns{0}; // by sequence
        uint64_t value = 0, rate = random() % 8, last_opened = 0;
        for (int tick = 0; tick < 120; tick++) {
            if (random() % 8 == 0)
                rate = random() % (random() % 4 == 0 ? 40 : 8);
            bool memory = random() % 16 != 0;
            uint64_t before = facts->segments;
            for (uint64_t i = 0; i < rate * kPerSegment; i++) {
                uint64_t segments = facts->segments, oldest = facts->oldest_sequence;
                engine.fire(go, {value++});
                host.mono_ns += 90'000'000 / (rate * kPerSegment);
                if (facts->segments == segments)
                    continue;
                began_ns.push_back(host.mono_ns);
                if (oldest == 0 || facts->oldest_sequence == oldest)
                    continue;
                overwritten++;
                REQUIRE(facts->oldest_sequence == oldest + 1);
                bool wanted = began_ns[oldest + 1] + ringtime_ns > host.mono_ns + 1'000'000;
                bool full = facts->segment_slots == slots_max || facts->growths_refused != 0;
                bool burst = facts->segments - before > 2 * last_opened + 1;
                limited += wanted && full;
                bursts += wanted && burst;
                if (wanted && !full && !burst)
                    FAIL("segment " << oldest << " was wanted for "
                                    << began_ns[oldest + 1] + ringtime_ns - host.mono_ns
                                    << " ns more, " << facts->segment_slots << " slots");
            }
            last_opened = facts->segments - before;
            host.mono_ns += 10'000'000;
            host.allocations_left = memory ? -1 : 0;
            dbk_consumer_tend(consumer, DBK_PAGES_ANYWHERE);
            host.allocations_left = -1;
            REQUIRE(facts->segment_slots <= slots_max);
        }
        auto left = records(consumer);
        for (size_t i = 1; i < left.size(); i++)
            REQUIRE(left[i].u64(8) == left[i - 1].u64(8) + 1);
        if (value != 0)
            CHECK(left.back().u64(8) == value - 1);
    }
    std::printf("seed %" PRIu64 ": %" PRIu64
                " segments overwritten; wanted, but at the maximum %" PRIu64 ", in a burst %" PRIu64
                "\n",
                seed, overwritten, limited, bursts);
    CHECK(overwritten > 0);
}
