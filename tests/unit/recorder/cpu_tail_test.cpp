// SPDX-License-Identifier: Apache-2.0
#include "recorder/follow/cpu_tail.hpp"

#include "tests/support/segment_builder.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <map>
#include <sys/mman.h>
#include <thread>

using namespace daybreak;
using namespace daybreak::recorder;
using daybreak::test::RingBuilder;

namespace {

constexpr size_t kMuch = 1u << 30;

/// A CPU with eight segments of 248 records each.
struct CpuWithTail {
    RingBuilder ring{{.segments_per_cpu = 8}};
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    uint64_t next = 0;
    CpuTail tail;
    std::vector<TailSegment> segments;
    std::vector<TailGap> gaps;

    CpuWithTail() { attach(tail); }
    void attach(CpuTail& to) {
        ByteView memory = ring.segment_memory(0); // two regions, as two chunks
        to.add_region(memory.first(5 * 4096));
        to.add_region(memory.subspan(5 * 4096));
    }
    void records(uint64_t count) {
        for (uint64_t i = 0; i < count; i++, next++)
            ring.record(0, epid, 1000 + next, RingBuilder::words({next}));
    }
    TailStep take(bool open_too, size_t room = kMuch) {
        segments.clear();
        gaps.clear();
        return tail.take(open_too, room, segments, gaps);
    }
    std::vector<uint64_t> sequences() const {
        std::vector<uint64_t> all;
        for (const TailSegment& segment : segments)
            all.push_back(segment.sequence);
        return all;
    }
};

using Numbers = std::vector<uint64_t>;

} // namespace

TEST_CASE("closed segments come once, the open one when it is wanted and has grown", "[follow]") {
    CpuWithTail f;
    CHECK(f.take(true) == TailStep::done);
    CHECK(f.segments.empty());
    f.records(248 * 2 + 10);
    CHECK(f.take(false) == TailStep::done);
    CHECK(f.sequences() == Numbers{1, 2});
    f.take(false);
    CHECK(f.segments.empty());
    f.take(true);
    CHECK(f.sequences() == Numbers{3});
    CHECK(f.segments[0].bytes.size() < 4096);
    f.take(true);
    CHECK(f.segments.empty());
    f.records(1);
    f.take(true);
    CHECK(f.sequences() == Numbers{3});
    f.records(248);
    f.take(false);
    CHECK(f.sequences() == Numbers{3});
    CHECK(f.segments[0].bytes.size() == 4096);
    CHECK(f.gaps.empty());
    CHECK(f.tail.slots() == 8);
}

TEST_CASE("the first look begins with the oldest that is there", "[follow]") {
    CpuWithTail f;
    f.records(248 * 20 + 1);
    f.take(false);
    CHECK(f.sequences() == Numbers{14, 15, 16, 17, 18, 19, 20});
    CHECK(f.gaps.empty());
}

TEST_CASE("what wrapped is a gap", "[follow]") {
    CpuWithTail f;
    f.records(248 * 3 + 1);
    f.take(false);
    f.records(248 * 20);
    CHECK(f.take(false) == TailStep::done);
    REQUIRE(f.gaps.size() == 1);
    CHECK(f.gaps[0].first == 4);
    CHECK(f.gaps[0].last == 16);
    CHECK(f.gaps[0].overwritten);
    CHECK(f.sequences() == Numbers{17, 18, 19, 20, 21, 22, 23});
}

TEST_CASE("a restart goes on after what is held, and with the rest of a grown segment",
          "[follow]") {
    CpuWithTail f;
    f.records(248 * 3 + 100);
    CpuTail again;
    f.attach(again);
    again.start_at({4, 128 + 16 * 100});
    std::vector<TailSegment> segments;
    std::vector<TailGap> gaps;
    again.take(true, kMuch, segments, gaps);
    CHECK(segments.empty());
    f.records(1);
    again.take(true, kMuch, segments, gaps);
    REQUIRE(segments.size() == 1);
    CHECK(segments[0].sequence == 4);
    again.go_back(2);
    segments.clear();
    again.take(false, kMuch, segments, gaps);
    REQUIRE(segments.size() == 1);
    CHECK(segments[0].sequence == 2);
    CHECK(gaps.empty());
}

TEST_CASE("taking stops where the room ends", "[follow]") {
    CpuWithTail f;
    f.records(248 * 6 + 1);
    CHECK(f.take(false, 3 * 4096) == TailStep::full);
    CHECK(f.sequences() == Numbers{1, 2, 3});
    CHECK(f.take(false, 3 * 4096) == TailStep::done);
    CHECK(f.sequences() == Numbers{4, 5, 6});
}

TEST_CASE("a slot that holds no segment costs itself", "[follow]") {
    CpuWithTail f;
    f.records(248 * 5 + 1);
    std::byte* slot = f.ring.segment_memory(0).data() + 2 * 4096;
    SECTION("no magic") {
        std::memset(slot, 0, 4);
    }
    SECTION("a lie about its length") {
        std::memset(slot + 12, 0xff, 4);
    }
    Numbers all;
    std::vector<TailGap> gaps;
    for (int i = 0; i < 1000 && all.size() < 4; i++) {
        f.take(false);
        for (uint64_t sequence : f.sequences())
            all.push_back(sequence);
        gaps.insert(gaps.end(), f.gaps.begin(), f.gaps.end());
    }
    CHECK(all == Numbers{1, 2, 4, 5});
    REQUIRE(gaps.size() == 1);
    CHECK(gaps[0].first == 3);
    CHECK(gaps[0].last == 3);
    CHECK_FALSE(gaps[0].overwritten);
}

TEST_CASE("a slot that may just be reopened is gone, the next one is waited for", "[follow]") {
    CpuWithTail f;
    f.records(248 * 9 + 1); // ten segments: 3 .. 10 have a slot, and 3 is the next to be reopened
    auto without = [&](uint64_t sequence) {
        std::memset(f.ring.segment_memory(0).data() + (sequence - 1) % 8 * 4096, 0, 4);
        f.tail.look();
        f.tail.start_at({sequence, 0});
    };
    SECTION("the oldest") {
        without(3);
        CHECK(f.take(false) == TailStep::done);
        REQUIRE(f.gaps.size() == 1);
        CHECK(f.gaps[0].last == 3);
        CHECK(f.gaps[0].overwritten);
    }
    SECTION("the second oldest") {
        without(4);
        CHECK(f.take(false) == TailStep::again);
        CHECK(f.gaps.empty());
        f.tail.set_oldest(5); // unless the CPU itself says that it went
        CHECK(f.take(false) == TailStep::done);
        REQUIRE(f.gaps.size() == 1);
        CHECK(f.gaps[0].overwritten);
    }
}

TEST_CASE("what is wanted again comes once, or is a gap of its own kind", "[follow]") {
    CpuWithTail f;
    f.records(248 * 7 + 1);
    f.take(false);
    f.tail.go_back(3);
    f.tail.go_back(5);
    f.tail.go_back(5);
    f.take(false);
    CHECK(f.sequences() == Numbers{3, 5});
    f.take(false);
    CHECK(f.sequences().empty());
    f.tail.go_back(1);
    f.tail.go_back(2);
    f.tail.go_back(6);
    f.records(248 * 3);
    f.take(false);
    CHECK(f.sequences() == Numbers{6, 8, 9, 10});
    REQUIRE(f.gaps.size() == 1);
    CHECK(f.gaps[0].first == 1);
    CHECK(f.gaps[0].last == 2);
    CHECK(f.gaps[0].again);
    CHECK(f.tail.again().empty());
}

TEST_CASE("beside a running CPU each segment comes once or is a gap", "[follow]") {
    CpuWithTail f;
    f.records(1);
    f.take(true); // the writer may wrap the ring before the next look: a gap from here on
    std::atomic<bool> done = false;
    std::thread writer([&] {
        while (!done)
            f.records(100);
    });
    uint64_t expected = 1, open = 1, copied = 0, skipped = 0;
    bool good = true;
    // The open one may have been copied as it was when it was closed: it does not come again.
    auto pass_unchanged = [&](uint64_t next) {
        if (next == expected + 1 && open == expected)
            expected++;
    };
    for (int i = 0; i < 20000 || (copied < 100 && i < 2000000); i++) {
        f.take(i % 5 == 0);
        std::map<uint64_t, std::pair<uint64_t, bool>> steps; // last, whether it is a gap
        for (const TailGap& gap : f.gaps)
            steps[gap.first] = {gap.last, true};
        for (const TailSegment& segment : f.segments)
            steps[segment.sequence] = {segment.sequence, false};
        for (const auto& [first, step] : steps) {
            pass_unchanged(first);
            good = good && first == expected;
            bool closed = step.second || first < f.tail.position().next;
            (step.second ? skipped : copied) += closed ? step.first - first + 1 : 0;
            open = closed ? 0 : first;
            expected = closed ? step.first + 1 : first;
        }
    }
    done = true;
    writer.join();
    INFO("copied " << copied << ", skipped " << skipped);
    CHECK(good);
    CHECK(copied >= 100);
}

namespace {

/// Two segments of 8 KiB each, whose second pages cannot be read: who copies the first segment
/// finds that the CPU has gone round the ring since it looked at the header.
struct WrappingMemory {
    static constexpr size_t kBytes = 16384;
    static inline std::byte* memory;
    static inline struct sigaction before;

    WrappingMemory() {
        void* mapped =
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(mapped != MAP_FAILED);
        memory = static_cast<std::byte*>(mapped);
    }
    ~WrappingMemory() {
        ::sigaction(SIGSEGV, &before, nullptr);
        ::munmap(memory, kBytes);
    }
    void arm() {
        struct sigaction action = {};
        action.sa_handler = [](int) {
            ::mprotect(memory, kBytes, PROT_READ | PROT_WRITE);
            uint64_t sequence;
            std::memcpy(&sequence, memory + offsetof(dbk_segment_header, sequence), 8);
            sequence += 2;
            std::memcpy(memory + offsetof(dbk_segment_header, sequence), &sequence, 8);
        };
        ::sigaction(SIGSEGV, &action, &before);
        ::mprotect(memory + 4096, 4096, PROT_NONE);
    }
};

} // namespace

TEST_CASE("a segment that wrapped between look and copy keeps its own number", "[follow]") {
    RingBuilder ring({.segment_bytes = 8192, .segments_per_cpu = 2});
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 600; i++)
        ring.record(0, epid, 1000 + i, RingBuilder::words({i}));
    WrappingMemory live;
    const base::Bytes& written = ring.segment_memory(0);
    REQUIRE(written.size() == WrappingMemory::kBytes);
    std::memcpy(live.memory, written.data(), written.size());
    CpuTail tail;
    tail.add_region({live.memory, WrappingMemory::kBytes});
    live.arm();
    std::vector<TailSegment> segments;
    std::vector<TailGap> gaps;
    std::map<uint64_t, int> seen;
    for (int looks = 0; looks < 3; looks++) {
        segments.clear();
        (void)tail.take(true, kMuch, segments, gaps);
        for (const TailSegment& segment : segments) {
            uint64_t says;
            std::memcpy(&says, segment.bytes.data() + offsetof(dbk_segment_header, sequence), 8);
            CHECK(says == segment.sequence);
            seen[segment.sequence]++;
        }
    }
    CHECK(seen == std::map<uint64_t, int>{{2, 1}, {3, 1}});
    REQUIRE(gaps.size() == 1);
    CHECK(gaps[0].first == 1);
    CHECK(gaps[0].last == 1);
}
