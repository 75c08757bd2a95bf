// SPDX-License-Identifier: Apache-2.0
#include "recorder/cpu_copy.hpp"

#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

using namespace daybreak;
using namespace daybreak::recorder;
using daybreak::test::RingBuilder;

namespace {

struct CopiedCpu {
    RingBuilder ring{{.segments_per_cpu = 8}};
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    uint64_t next = 0;

    void segments(uint64_t count) {
        for (uint64_t i = 0; i < count * 248; i++, next++)
            ring.record(0, epid, 1000 + next, RingBuilder::words({next}));
    }
    /// The memory as two regions, as when the page allocator gave two chunks.
    std::vector<ByteView> regions() {
        ByteView memory = ring.segment_memory(0);
        return {memory.first(5 * 4096), memory.subspan(5 * 4096)};
    }
};

std::vector<uint64_t> sequences(const CpuCopy& copy) {
    std::vector<uint64_t> all;
    for (const auto& [sequence, segment] : copy.segments)
        all.push_back(sequence);
    return all;
}

} // namespace

TEST_CASE("all segments of a CPU are copied, by sequence", "[recorder][copy]") {
    CopiedCpu f;
    f.segments(11);
    CpuCopy copy = copy_live_cpu(f.regions());
    CHECK(sequences(copy) == std::vector<uint64_t>{4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(copy.holes_closed);
    CHECK(copy_live_cpu({}).segments.empty());
}

TEST_CASE("a hole that does not close costs nothing else", "[recorder][copy]") {
    CopiedCpu f;
    f.segments(11);
    std::byte* slot = f.ring.segment_memory(0).data() + (8 - 1) % 8 * 4096;
    SECTION("a slot that is always being opened") {
        std::memset(slot + 16, 0, 8);
        CpuCopy copy = copy_live_cpu(f.regions());
        CHECK_FALSE(copy.holes_closed);
        CHECK(sequences(copy) == std::vector<uint64_t>{4, 5, 6, 7, 9, 10, 11});
    }
    SECTION("a slot that lies about its sizes") {
        std::memset(slot + 8, 0xff, 8);
        CpuCopy copy = copy_live_cpu(f.regions());
        CHECK(copy.slots_refused == 1);
        CHECK(sequences(copy) == std::vector<uint64_t>{4, 5, 6, 7, 9, 10, 11});
    }
}

TEST_CASE("copies of a running CPU have no hole among the newest", "[recorder][copy]") {
    CopiedCpu f;
    f.segments(20);
    std::atomic<bool> done = false;
    std::thread writer([&] {
        while (!done)
            f.segments(1);
    });
    int closed = 0, holes = 0;
    for (int round = 0; closed < 200 && round < 1'000'000; round++) {
        CpuCopy copy = copy_live_cpu(f.regions());
        if (!copy.holes_closed)
            continue;
        closed++;
        uint64_t newest = copy.segments.rbegin()->first;
        for (uint64_t sequence = newest - 6; sequence <= newest; sequence++) // 7 of 8 slots
            holes += !copy.segments.contains(sequence);
    }
    done = true;
    writer.join();
    CHECK(holes == 0);
    CHECK(closed == 200);
}

TEST_CASE("a hole at the second oldest place is a hole", "[cpu_copy]") {
    CopiedCpu f;
    f.segments(10);                                                // the slots hold 3 .. 10
    std::memset(f.ring.segment_memory(0).data() + 4 * 4096, 0, 4); // that of 5: seven are left
    std::vector<ByteView> regions = f.regions();
    CHECK_FALSE(copy_live_cpu(regions).holes_closed);
}

TEST_CASE("a slot that is being opened is one of the CPU's slots", "[recorder][copy]") {
    CopiedCpu f;
    f.segments(10);                         // the slots hold 3 .. 10
    bool has_magic = GENERATE(true, false); // it goes right after the sequence
    auto reopen = [&](size_t slot) {
        std::byte* header = f.ring.segment_memory(0).data() + slot * 4096;
        std::memset(header + offsetof(dbk_segment_header, sequence), 0, 8);
        if (!has_magic)
            std::memset(header, 0, 4);
    };
    reopen(2); // that of 3, for 11
    CpuCopy copy = copy_live_cpu(f.regions());
    CHECK(copy.holes_closed);
    CHECK(sequences(copy) == std::vector<uint64_t>{4, 5, 6, 7, 8, 9, 10});
    reopen(3); // 4 is missing as well: only the oldest may
    CHECK_FALSE(copy_live_cpu(f.regions()).holes_closed);
}
