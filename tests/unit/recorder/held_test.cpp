// SPDX-License-Identifier: Apache-2.0
#include "recorder/follow/held.hpp"

#include "formats/segment/recording.hpp"
#include "formats/trace/writer.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::recorder;
using daybreak::test::RingBuilder;

namespace {

/// A CPU with eight segments of 248 records each, and files of some of its segments.
struct HeldFiles {
    RingBuilder ring{{.segments_per_cpu = 8}};
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    HeldSegments held;

    void records(uint64_t count) {
        for (uint64_t i = 0; i < count; i++)
            ring.record(0, epid, 1000, RingBuilder::words({i}));
    }
    ByteView slot(uint64_t sequence) {
        return ByteView(ring.segment_memory(0)).subspan((sequence - 1) % 8 * 4096, 4096);
    }
    void add_file(const std::vector<uint64_t>& sequences) {
        Bytes file;
        auto sink = [&](ByteView bytes) -> Result<void> {
            file.insert(file.end(), bytes.begin(), bytes.end());
            return {};
        };
        auto writer = formats::TraceWriter::create(sink, {});
        REQUIRE(writer.ok());
        for (uint64_t sequence : sequences)
            REQUIRE(writer->add_piece(slot(sequence)).ok());
        REQUIRE(writer->flush().ok());
        held.add_file(file, ring.options().boot_id);
    }
};

} // namespace

TEST_CASE("of the copies of an open segment the longest counts, whichever file is read first",
          "[follow][held]") {
    HeldFiles f;
    f.records(10);
    HeldFiles older = f;
    f.records(20);
    bool older_last = GENERATE(true, false);
    if (older_last)
        f.add_file({1});
    std::swap(f.ring, older.ring);
    f.add_file({1});
    std::swap(f.ring, older.ring);
    if (!older_last)
        f.add_file({1});
    CHECK(f.held.position(1, 0).next == 1);
    CHECK(f.held.position(1, 0).copied_bytes == DBK_SEGMENT_DATA_OFFSET + 16 * 30);
    CHECK(f.held.position(1, 1).next == 0);
    CHECK(f.held.position(2, 0).next == 0);
}

TEST_CASE("what is not held below what is held is a hole, as far as the ring has it",
          "[follow][held]") {
    HeldFiles f;
    f.records(248 * 7 + 1);
    f.add_file({1, 2, 4, 7});
    CHECK(f.held.position(1, 0).next == 7);
    CHECK(f.held.holes(1, 0, 1, 8) == std::vector<uint64_t>{3, 5, 6});
    CHECK(f.held.holes(1, 0, 4, 8) == std::vector<uint64_t>{5, 6});
    CHECK(f.held.holes(1, 0, 1, 5) == std::vector<uint64_t>{3, 5});
    CHECK(f.held.holes(1, 1, 1, 8).empty());
}

TEST_CASE("of what was copied while it was open the rest is wanted, as far as the ring has it",
          "[follow][held]") {
    HeldFiles f;
    f.records(248 * 2 + 10);
    f.add_file({1, 2, 3}); // 3 is open
    f.records(248 * 2);
    f.add_file({4});
    CpuTail tail;
    tail.add_region(f.ring.segment_memory(0));
    tail.look();
    CHECK(f.held.cut(1, 0, tail) == std::vector<uint64_t>{3});
    CHECK(f.held.cut(1, 1, tail).empty());
    f.records(248 * 7); // its slot has another segment now
    tail.look();
    CHECK(f.held.cut(1, 0, tail).empty());
    f.add_file({5, 6});
    CHECK(f.held.cut(1, 0, tail).empty());
}

TEST_CASE("a piece with another ring's id is sealed anew", "[follow]") {
    HeldFiles f;
    f.records(100);
    Bytes piece = formats::packed_piece(f.slot(1)).value(); // with its checksum
    set_ring_id(piece, 9);
    Bytes packed = formats::packed_piece(piece).value();
    formats::RecordingBuilder builder;
    CHECK(builder.add_bytes(packed, {"x", formats::Packing::packed, std::nullopt}) == 1);
    formats::Recording recording = builder.build();
    REQUIRE(recording.rings.size() == 1);
    CHECK(recording.rings[0].ring_id == 9);
    REQUIRE(recording.rings[0].cpus.size() == 1);
    CHECK(recording.rings[0].cpus[0].segments.size() == 1);
}

TEST_CASE("only triggers that were entered later are new", "[follow]") {
    HeldFiles f;
    Bytes memory;
    f.ring.machine_block(memory, DBK_META_TRIGGERS,
                         RingBuilder::triggers_payload(4, {dbk_meta_trigger{}, {}, {}}));
    CHECK(triggers_after({memory}, 0).size() == 3);
    REQUIRE(triggers_after({memory}, 2).size() == 1);
    CHECK(triggers_after({memory}, 2)[0].sequence == 3);
    CHECK(triggers_after({memory}, 3).empty());
}
