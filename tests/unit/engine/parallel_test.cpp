// SPDX-License-Identifier: Apache-2.0
//
// Programs that come and go while several CPUs fire.  What a CPU sees of a program is what was
// published to it, and nothing of it is given back while a CPU may be inside: with
// -DDAYBREAK_SANITIZE=thread (tests/nightly races) a barrier that is missing is a data race,
// whatever the machine orders by itself.
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <mutex>
#include <span>
#include <thread>

using namespace daybreak::engine_test;

namespace {

constexpr uint32_t kAllCpus = 4, kControl = kAllCpus - 1; // the last one is the control path's

/// CPUs that fire one probe until they are stopped; a firing is what synchronize() waits for, and
/// holds interrupts off.
class FiringCpus {
public:
    explicit FiringCpus(dbk_probe& probe) {
        host.on_cpu = [this](uint32_t cpu, const std::function<void()>& run) {
            std::lock_guard off(cpus_[cpu].interrupts);
            run();
        };
        host.in_synchronize = [this] { wait_for_all(); };
        host_cpu = kControl;
        for (uint32_t cpu = 0; cpu < kControl; cpu++)
            threads_.emplace_back([this, cpu, &probe] { fire(cpu, probe); });
    }
    ~FiringCpus() {
        is_over_ = true;
        for (auto& thread : threads_)
            thread.join();
        host.on_cpu = nullptr;
        host.in_synchronize = nullptr;
        host_cpu = 0;
    }
    FiringCpus(const FiringCpus&) = delete;

    /// Each CPU fires so often at least.
    void wait_for_firings(uint64_t count) {
        for (Cpu& cpu : std::span(cpus_).first(kControl))
            for (uint64_t start = cpu.entered_or_left; cpu.entered_or_left < start + 2 * count;)
                std::this_thread::yield();
    }

private:
    struct Cpu {
        std::atomic<uint64_t> entered_or_left = 0; ///< odd: it is in a firing
        std::mutex interrupts;                     ///< held: they are off
    };

    void fire(uint32_t cpu, dbk_probe& probe) {
        host_cpu = cpu;
        for (uint64_t i = 0; !is_over_.load(std::memory_order_relaxed); i++) {
            uint64_t args[DBK_PROBE_ARGS_MAX] = {i % 7, i};
            // A firing that begins sees nothing of the control path that was not published: RCU's
            // readers pay for no barrier.
            cpus_[cpu].entered_or_left.fetch_add(1, std::memory_order_relaxed);
            if (std::unique_lock off(cpus_[cpu].interrupts, std::try_to_lock); off)
                dbk_probe_fire(&probe, args, nullptr);
            cpus_[cpu].entered_or_left.fetch_add(1, std::memory_order_release);
        }
    }

    void wait_for_all() {
        barrier_.fetch_add(1); // what was stored before is seen by a firing that begins after this
        for (Cpu& cpu : cpus_) {
            uint64_t seen = cpu.entered_or_left.load(std::memory_order_acquire);
            while (seen % 2 != 0 && cpu.entered_or_left.load(std::memory_order_acquire) == seen)
                std::this_thread::yield();
        }
    }

    std::array<Cpu, kAllCpus> cpus_;
    std::atomic<uint64_t> barrier_ = 0;
    std::atomic<bool> is_over_ = false;
    std::vector<std::thread> threads_;
};

} // namespace

TEST_CASE("programs come and go while CPUs fire", "[engine][parallel]") {
    Engine engine(kAllCpus);
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DTRACEOPT_BUFSIZE, 128 << 10); // what is full is decoded in each round
    dof.ecb("test:::go", {dof.trace(arg(0)), dof.trace(arg(1))});
    dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_TIMESTAMP, 1), ret(1)}})});
    const std::vector<uint8_t> image = dof.build();
    FiringCpus cpus(go);
    for (int round = 0; round < 20; round++) {
        dbk_consumer* first = engine.start(image);
        cpus.wait_for_firings(50);
        dbk_consumer* second = engine.start(image);
        cpus.wait_for_firings(50);
        dbk_consumer_stop(first);
        for (uint32_t cpu = 0; cpu < kControl; cpu++) {
            uint64_t found = records(first, cpu).size();
            CHECK(found > 50);
            CHECK(found <= dbk_consumer_counters(first, cpu)->records);
        }
        engine.destroy(first);
        engine.destroy(second);
    }
}

TEST_CASE("a firing under way of one of the probes that go together runs its own clauses alone",
          "[engine][parallel]") {
    Engine engine(2);
    dbk_probe probes[3]{};
    Dof dof;
    dof.ecb("test:::a", {dof.trace(arg(0))});
    dof.ecb("test:::b", {dof.trace(arg(0))});
    dof.ecb("test:::b", {dof.trace(arg(0))});
    dof.ecb("test:::c", {dof.trace(arg(0))});
    for (int i = 0; i < 3; i++) {
        probes[i].provider = "test";
        probes[i].module = probes[i].function = "m";
        probes[i].name = i == 0 ? "a" : i == 1 ? "b" : "c";
        dbk_probe_args_in_order(&probes[i], 1);
        REQUIRE(dbk_probe_add(engine.get(), &probes[i]) == 0);
    }
    dbk_consumer* consumer = engine.start(dof.build());
    enum { kBefore, kInFirstClause, kUnlinked, kLeft };
    std::atomic<int> stage = kBefore;
    const auto wait_for = [&stage](int wanted) {
        while (stage < wanted)
            std::this_thread::yield();
    };
    host.in_ticks = [&] {
        if (host_cpu != 1 || stage != kBefore)
            return;
        stage = kInFirstClause;
        wait_for(kUnlinked);
    };
    host.in_synchronize = [&] {
        stage = kUnlinked;
        wait_for(kLeft);
    };
    std::thread firing([&] {
        host_cpu = 1;
        const uint64_t args[] = {7};
        dbk_probe_fire(&probes[1], args, nullptr);
        stage = kLeft;
    });
    wait_for(kInFirstClause);
    dbk_probe* list[] = {&probes[0], &probes[1], &probes[2]};
    dbk_probe_remove_many(engine.get(), list, 3);
    firing.join();
    host.in_ticks = host.in_synchronize = nullptr;
    std::vector<uint32_t> epids;
    for (const Record& record : records(consumer, 1))
        epids.push_back(record.epid);
    CHECK(epids == std::vector<uint32_t>{2, 3}); // both of b, in the program's order
}
