// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::RingBuilder;

namespace {

struct OneRecordRing {
    RingBuilder ring;
    uint32_t epid;

    explicit OneRecordRing(test::RingBuilderOptions options = {}) : ring(options) {
        epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)},
                            16);
    }
    void records(uint64_t first_ticks, int count, uint16_t cpu = 0) {
        for (int i = 0; i < count; i++)
            ring.record(cpu, epid, first_ticks + static_cast<uint64_t>(i),
                        RingBuilder::words({static_cast<uint64_t>(i)}));
    }
};

FindingKind only_finding(const Recording& recording) {
    REQUIRE(recording.findings.list().size() == 1);
    return recording.findings.list()[0].kind;
}

} // namespace

TEST_CASE("pieces are found in a heap of other bytes", "[segment][builder]") {
    OneRecordRing f({.cpu_count = 2});
    f.records(1000, 10, 0);
    f.records(1000, 20, 1);
    Bytes heap(8192, std::byte{0xaa});
    for (const Bytes& part :
         {f.ring.metadata_memory(), f.ring.segment_memory(1), f.ring.segment_memory(0)}) {
        RingBuilder::append(heap, part.data(), part.size());
        heap.resize(heap.size() + 4096, std::byte{0x55});
    }
    RecordingBuilder builder;
    CHECK(builder.add_owned(heap, {"heap"}) == 5 + 2);
    Recording recording = builder.build();
    REQUIRE(recording.rings.size() == 1);
    REQUIRE(recording.rings[0].cpus.size() == 2);
    CHECK(recording.rings[0].cpus[0].completeness.present == 10);
    CHECK(recording.rings[0].cpus[1].completeness.present == 20);
    CHECK(recording.findings.count() == 0);
}

TEST_CASE("of several copies of a segment the fullest is kept", "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 10);
    Bytes early = f.ring.segment_memory(0);
    f.records(2000, 5);
    for (bool early_first : {true, false}) {
        RecordingBuilder builder;
        builder.add_owned(f.ring.metadata_memory(), {"metadata"});
        if (early_first)
            builder.add_owned(early, {"early"});
        builder.add_owned(f.ring.segment_memory(0), {"late"});
        if (!early_first)
            builder.add_owned(early, {"early"});
        Recording recording = builder.build();
        const CpuInfo& cpu = recording.rings.at(0).cpus.at(0);
        REQUIRE(cpu.segments.size() == 1);
        CHECK(cpu.segments[0].record_count == 15);
    }
}

TEST_CASE("of two copies of a segment the one with a checksum is kept", "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 9);
    std::vector<Bytes> copies = {packed_piece(f.ring.segment_memory(0)).value(), {}};
    copies[1] = copies[0]; // as a ring's open segment has it, and with another value
    copies[1][6] &= ~std::byte{DBK_SEGMENT_F_SEALED};
    copies[1].back() ^= std::byte{1};
    for (size_t first : {0u, 1u}) {
        RecordingBuilder builder;
        builder.add_owned(f.ring.metadata_memory(), {"metadata"});
        for (size_t i : {first, 1 - first})
            REQUIRE(builder.add_owned(copies[i], {"file", Packing::packed}) == 1);
        Recording recording = builder.build();
        REQUIRE(recording.rings.at(0).cpus.at(0).segments.size() == 1);
        const SegmentInfo& kept = recording.rings[0].cpus[0].segments[0];
        CHECK(kept.sealed);
        CHECK(kept.bytes.view().back() == copies[0].back());
    }
}

TEST_CASE("a refused piece is reported and costs only itself", "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 248 * 2 + 5);
    Bytes memory = f.ring.segment_memory(0);
    auto poke = [&](size_t at, uint64_t value, size_t width) {
        std::memcpy(memory.data() + 4096 + at, &value, width);
    };
    FindingKind kind = FindingKind::bad_header;
    SECTION("a later version") {
        poke(4, DBK_SEGMENT_VERSION + 1, 2);
    }
    SECTION("a version before the first") {
        poke(4, 0, 2);
    }
    SECTION("size that is not a power of two") {
        poke(8, 4097, 4);
    }
    SECTION("size below a page") {
        poke(8, 2048, 4);
    }
    SECTION("size above the maximum") {
        poke(8, DBK_SEGMENT_BYTES_MAX * 2, 4);
    }
    SECTION("committed below the header") {
        poke(12, 64, 4);
    }
    SECTION("committed above the size") {
        poke(12, 4104, 4);
    }
    SECTION("committed not aligned") {
        poke(12, 132, 4);
    }
    SECTION("CPU") {
        poke(56, kCpusMax, 2);
    }
    SECTION("sealed with a wrong checksum") {
        poke(6, DBK_SEGMENT_F_SEALED, 2);
        kind = FindingKind::bad_checksum;
    }
    RecordingBuilder builder;
    builder.add_owned(f.ring.metadata_memory(), {"metadata"});
    builder.add_owned(memory, {"ring"});
    Recording recording = builder.build();
    REQUIRE(recording.findings.list().size() == 2);
    CHECK(recording.findings.list()[0].kind == kind);
    CHECK(recording.findings.list()[0].where == "ring at 0x1000");
    CHECK(recording.findings.list()[1].kind == FindingKind::missing_segment);
    CHECK(recording.rings.at(0).cpus.at(0).completeness.present == 248 + 5);
    CHECK(recording.rings.at(0).cpus.at(0).completeness.lost == 248);
}

TEST_CASE("limits hold at the limit", "[segment][builder]") {
    OneRecordRing f({.segment_bytes = DBK_SEGMENT_BYTES_MAX, .segments_per_cpu = 1});
    f.records(1000, 3);
    uint16_t cpu = kCpusMax - 1;
    std::memcpy(f.ring.segment_memory(0).data() + 56, &cpu, 2);
    RecordingBuilder builder;
    CHECK(builder.add_bytes(f.ring.segment_memory(0), {"ring"}) == 1);
}

TEST_CASE("a slot that is being opened is passed over in silence", "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 248 * 2);
    std::memset(f.ring.segment_memory(0).data() + 16, 0, 8);
    RecordingBuilder builder;
    CHECK(builder.add_bytes(f.ring.segment_memory(0), {"ring"}) == 1);
}

TEST_CASE("a sealed segment reads back, and not after a flipped bit", "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 9);
    Bytes packed = packed_piece(f.ring.segment_memory(0)).value();
    CHECK(packed.size() == 128 + 9 * 16);
    {
        RecordingBuilder builder;
        builder.add_owned(f.ring.metadata_memory(), {"metadata"});
        builder.add_owned(packed, {"file", Packing::packed});
        Recording recording = builder.build();
        CHECK(recording.rings.at(0).cpus.at(0).segments.at(0).sealed);
        CHECK(recording.rings.at(0).cpus.at(0).completeness.present == 9);
    }
    for (size_t bit = 0; bit < packed.size() * 8; bit += 5) {
        Bytes flipped = packed;
        flipped[bit / 8] ^= std::byte{1} << (bit % 8);
        bool unsealed = bit / 8 == 6 || bit / 8 == 7; // the flag itself
        RecordingBuilder builder;
        size_t accepted = builder.add_owned(flipped, {"file", Packing::packed});
        if (!unsealed)
            REQUIRE(accepted == 0);
    }
}

TEST_CASE("what is packed is checked again", "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 9);
    Bytes memory = f.ring.segment_memory(0);
    CHECK_FALSE(packed_piece(ByteView(memory).first(63)).ok());
    CHECK_FALSE(packed_piece(ByteView(memory).first(200)).ok());
    CHECK_FALSE(packed_piece({}).ok());
    Bytes sealed = packed_piece(memory).value();
    CHECK(packed_piece(sealed).value() == sealed);
    sealed[130] ^= std::byte{1};
    CHECK(packed_piece(sealed).error().message() == "its checksum does not hold");
}

TEST_CASE("a segment cut by the end of its range keeps what is there", "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 100);
    Bytes memory = f.ring.segment_memory(0);
    memory.resize(128 + 16 * 10 + 12);
    RecordingBuilder builder;
    builder.add_owned(f.ring.metadata_memory(), {"metadata"});
    builder.add_owned(memory, {"dump"});
    Recording recording = builder.build();
    const CpuInfo& cpu = recording.rings.at(0).cpus.at(0);
    CHECK(cpu.completeness.present == 10);
    CHECK(cpu.completeness.lost == 90);
    CHECK(cpu.segments.at(0).damaged);
}

TEST_CASE("a copy that lies elsewhere than it says is not taken for the ring",
          "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 10);
    Bytes memory = f.ring.segment_memory(0);
    uint64_t home = 0x12340000;
    std::memcpy(memory.data() + 40, &home, 8);
    RecordingBuilder builder;
    CHECK(builder.add_bytes(memory, {"dump", Packing::pages, home}) == 1);
    CHECK(builder.add_bytes(memory, {"dump", Packing::pages, home + 4096}) == 0);
    Recording recording = builder.build({});
    bool stale = false;
    for (const Finding& finding : recording.findings.list())
        stale |= finding.kind == FindingKind::stale_copy;
    CHECK(stale);
}

TEST_CASE("the boot with most segments is built, or the one asked for", "[segment][builder]") {
    OneRecordRing old({.boot_id = 1}), now({.boot_id = 2});
    old.records(1000, 3);
    now.records(1000, 248 + 3);
    for (uint64_t wanted : {0, 1, 2}) {
        RecordingBuilder builder;
        for (OneRecordRing* f : {&old, &now}) {
            builder.add_owned(f->ring.metadata_memory(), {"metadata"});
            builder.add_owned(f->ring.segment_memory(0), {"ring"});
        }
        CHECK(builder.boots() == std::map<uint64_t, uint64_t>{{1, 1}, {2, 2}});
        BuildOptions options;
        if (wanted)
            options.boot_id = wanted;
        Recording recording = builder.build(options);
        CHECK(recording.boot_id == (wanted ? wanted : 2));
        CHECK(recording.rings.at(0).cpus.at(0).completeness.present ==
              (recording.boot_id == 1 ? 3u : 251u));
        CHECK(recording.findings.list().at(0).where ==
              (recording.boot_id == 1 ? "boot 02000000-0000-0000" : "boot 01000000-0000-0000"));
        CHECK_FALSE(recording.has_losses()); // another boot's data is reported, but is not a loss
        CHECK(recording.findings.count() == 2);
    }
}

TEST_CASE("several rings of one boot are kept apart", "[segment][builder]") {
    OneRecordRing one({.ring_id = 1, .name = "one"}), two({.ring_id = 7, .name = "two"});
    one.records(1000, 3);
    two.records(1000, 4);
    RecordingBuilder builder;
    for (OneRecordRing* f : {&two, &one}) {
        builder.add_owned(f->ring.metadata_memory(), {"metadata"});
        builder.add_owned(f->ring.segment_memory(0), {"ring"});
    }
    Recording recording = builder.build();
    REQUIRE(recording.rings.size() == 2);
    CHECK(recording.find_ring(1)->info.name == "one");
    CHECK(recording.find_ring(7)->completeness().present == 4);
    CHECK(recording.find_ring(2) == nullptr);
}

TEST_CASE("records without metadata are one finding", "[segment][builder]") {
    OneRecordRing f;
    f.records(1000, 248 * 3);
    RecordingBuilder builder;
    builder.add_owned(f.ring.segment_memory(0), {"ring"});
    Recording recording = builder.build();
    REQUIRE(recording.findings.list().size() >= 1);
    CHECK(recording.findings.list()[0].kind == FindingKind::missing_metadata);
    CHECK(recording.findings.list()[0].text == "no ECBs were found, 3 segments cannot be read");
    CHECK(recording.rings.at(0).cpus.at(0).completeness.present == 0);
    CHECK(recording.has_losses());
}

TEST_CASE("nothing at all is an empty recording", "[segment][builder]") {
    RecordingBuilder builder;
    CHECK(builder.add_bytes({}, {"nothing"}) == 0);
    Bytes noise(100000, std::byte{0x44});
    CHECK(builder.add_bytes(noise, {"noise"}) == 0);
    Recording recording = builder.build();
    CHECK(recording.rings.empty());
    CHECK_FALSE(recording.host);
    CHECK(recording.findings.count() == 0);
    (void)only_finding;
}

TEST_CASE("findings cannot be flooded", "[segment][builder]") {
    Bytes memory(4096 * 3000);
    for (size_t at = 0; at < memory.size(); at += 4096) {
        uint32_t magic = DBK_SEGMENT_MAGIC;
        std::memcpy(memory.data() + at, &magic, 4);
    }
    RecordingBuilder builder;
    builder.add_bytes(memory, {"hostile"});
    Recording recording = builder.build();
    CHECK(recording.findings.list().size() == Findings::kFindingsMax);
    CHECK(recording.findings.count() == 3000);
}
