// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/record.hpp"
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>
#include <chrono>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::RingBuilder;

namespace {

/// One CPU's ring with an ECB of one u64 and an ECB with one string.
struct Fixture {
    RingBuilder ring;
    uint32_t fixed, text;

    explicit Fixture(test::RingBuilderOptions options = {}) : ring(options) {
        uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
        fixed = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
        text = ring.add_ecb(probe, {RingBuilder::tail_field(12, DBK_FIELD_STRING)}, 16,
                            DBK_ECB_F_VARIABLE);
    }
    Recording build() {
        RecordingBuilder builder;
        builder.add_owned(ring.metadata_memory(), {"metadata"});
        builder.add_owned(ring.segment_memory(0), {"ring"});
        return builder.build();
    }
};

void put(Bytes& bytes, size_t at, uint64_t value, size_t width) {
    std::memcpy(bytes.data() + at, &value, width);
}

} // namespace

TEST_CASE("records come back with their ticks, integers and strings", "[segment][record]") {
    Fixture f;
    f.ring.record(0, f.fixed, 1000, RingBuilder::words({42}));
    f.ring.record(0, f.text, 1007, RingBuilder::tail_body(base::as_bytes("hello")));
    Recording recording = f.build();
    REQUIRE(recording.rings.size() == 1);
    const RingRecording& ring = recording.rings[0];
    REQUIRE(ring.cpus.size() == 1);
    RecordCursor cursor = records_of(ring.cpus[0].segments.at(0), ring);
    RecordView record;
    REQUIRE(cursor.next(record));
    CHECK(record.epid == f.fixed);
    CHECK(record.ticks == 1000);
    CHECK(record.integer(0) == 42u);
    CHECK_FALSE(record.string(0));
    CHECK_FALSE(record.integer(1));
    REQUIRE(cursor.next(record));
    CHECK(record.ticks == 1007);
    CHECK(record.string(0) == "hello");
    CHECK(record.data(0)->size() == 5);
    CHECK_FALSE(record.integer(0));
    CHECK_FALSE(record.stack(0));
    CHECK_FALSE(cursor.next(record));
    CHECK_FALSE(cursor.damage());
    CHECK(recording.findings.count() == 0);
}

TEST_CASE("the EPID's word says what a record knows of its firing, from version 2 on",
          "[segment][record]") {
    for (uint16_t version = DBK_SEGMENT_VERSION_FIRST; version <= DBK_SEGMENT_VERSION; version++) {
        INFO("version " << version);
        RingBuilder builder({.version = version});
        uint32_t epid = builder.add_ecb(builder.add_probe("p", "m", "f", "n"), {}, 8);
        builder.record(0, epid, 1000, {});
        builder.record(0, epid | DBK_RECORD_F_SAME_FIRING, 1001, {});
        builder.record(0, epid, 1002, {});
        if (version > DBK_SEGMENT_VERSION_DIVIDED)
            builder.record(0, epid | DBK_RECORD_F_FIRING_ELSEWHERE, 1003, {});
        formats::RecordingBuilder pieces;
        pieces.add_owned(builder.metadata_memory(), {});
        pieces.add_owned(builder.segment_memory(0), {});
        Recording recording = pieces.build();
        const RingRecording& ring = recording.rings.at(0);
        RecordCursor cursor = records_of(ring.cpus.at(0).segments.at(0), ring);
        RecordView record;
        std::vector<Firing> found;
        while (cursor.next(record)) {
            CHECK(record.epid == epid);
            found.push_back(record.firing);
        }
        if (version == DBK_SEGMENT_VERSION_FIRST) {
            CHECK(found == std::vector{Firing::unsaid});
            CHECK(cursor.damage()->kind == FindingKind::unknown_epid);
        } else if (version == DBK_SEGMENT_VERSION_DIVIDED) {
            CHECK(found == std::vector{Firing::elsewhere, Firing::same, Firing::elsewhere});
        } else {
            CHECK(found ==
                  std::vector{Firing::begins, Firing::same, Firing::begins, Firing::elsewhere});
        }
    }
}

TEST_CASE("a delta too large for 32 bits travels in a time base record", "[segment][record]") {
    Fixture f;
    uint64_t far = 1000 + (uint64_t{1} << 40);
    f.ring.record(0, f.fixed, 1000, RingBuilder::words({1}));
    f.ring.record(0, f.fixed, far, RingBuilder::words({2}));
    f.ring.record(0, f.fixed, far + 5, RingBuilder::words({3}));
    Recording recording = f.build();
    const RingRecording& ring = recording.rings.at(0);
    RecordCursor cursor = records_of(ring.cpus.at(0).segments.at(0), ring);
    RecordView record;
    std::vector<uint64_t> ticks;
    while (cursor.next(record))
        ticks.push_back(record.ticks);
    CHECK(ticks == std::vector<uint64_t>{1000, far, far + 5});
    CHECK(ring.cpus[0].segments[0].last_ticks == far + 5);
}

TEST_CASE("control records of unknown kinds are skipped", "[segment][record]") {
    Fixture f;
    f.ring.record(0, f.fixed, 1000, RingBuilder::words({1}));
    Bytes control(24);
    put(control, 4, 77, 2);
    put(control, 6, 24, 2);
    f.ring.raw(0, control);
    f.ring.record(0, f.fixed, 1001, RingBuilder::words({2}));
    Recording recording = f.build();
    CHECK(recording.rings.at(0).cpus.at(0).segments.at(0).record_count == 2);
    CHECK(recording.findings.count() == 0);
}

TEST_CASE("committed records tell both of their times", "[segment][record]") {
    Fixture f;
    f.ring.record(0, f.fixed, 1000, RingBuilder::words({1}));
    Bytes control(24);
    put(control, 4, DBK_CONTROL_COMMIT, 2);
    put(control, 6, 24, 2);
    put(control, 8, 1100, 8);
    put(control, 16, 16 + 2 * 16, 4); // a time base, two records
    put(control, 20, 7, 4);
    f.ring.raw(0, control);
    f.ring.record(0, f.fixed, 400, RingBuilder::words({2}));
    f.ring.record(0, f.fixed, 500, RingBuilder::words({3}));
    f.ring.record(0, f.fixed, 1200, RingBuilder::words({4}));
    Recording recording = f.build();
    const RingRecording& ring = recording.rings.at(0);
    RecordCursor cursor = records_of(ring.cpus.at(0).segments.at(0), ring);
    RecordView record;
    std::vector<uint64_t> made, arrived, speculations;
    while (cursor.next(record)) {
        made.push_back(record.ticks);
        arrived.push_back(record.arrival_ticks());
        speculations.push_back(record.speculation);
    }
    CHECK(made == std::vector<uint64_t>{1000, 400, 500, 1200});
    CHECK(arrived == std::vector<uint64_t>{1000, 1100, 1100, 1200});
    CHECK(speculations == std::vector<uint64_t>{0, 7, 7, 0});
    CHECK(ring.cpus[0].segments[0].last_ticks == 1200);
    CHECK(recording.findings.count() == 0);
}

TEST_CASE("damage ends a segment's walk and is reported, what came before stays",
          "[segment][record]") {
    Fixture f;
    f.ring.record(0, f.fixed, 1000, RingBuilder::words({1}));
    Bytes damage(16);
    FindingKind kind{};
    SECTION("an EPID that the metadata does not hold") {
        put(damage, 0, 999, 4);
        kind = FindingKind::unknown_epid;
    }
    SECTION("a control record without length") {
        kind = FindingKind::bad_record;
    }
    SECTION("a control record that reaches past the segment") {
        put(damage, 6, 4096, 2);
        kind = FindingKind::bad_record;
    }
    SECTION("a time base record without room for its base") {
        put(damage, 4, DBK_CONTROL_TIME_BASE, 2);
        put(damage, 6, 8, 2);
        kind = FindingKind::bad_record;
    }
    SECTION("a commit record without room for its times") {
        put(damage, 4, DBK_CONTROL_COMMIT, 2);
        put(damage, 6, 16, 2);
        kind = FindingKind::bad_record;
    }
    SECTION("a record of varying length that is shorter than its fixed part") {
        put(damage, 0, f.text, 4);
        put(damage, 8, 8, 4);
        kind = FindingKind::bad_record;
    }
    SECTION("a record of varying length that reaches past the segment") {
        put(damage, 0, f.text, 4);
        put(damage, 8, 1 << 20, 4);
        kind = FindingKind::bad_record;
    }
    f.ring.raw(0, damage);
    Recording recording = f.build();
    const SegmentInfo& segment = recording.rings.at(0).cpus.at(0).segments.at(0);
    CHECK(segment.record_count == 1);
    CHECK(segment.damaged);
    REQUIRE(recording.findings.list().size() == 1);
    CHECK(recording.findings.list()[0].kind == kind);
    CHECK(recording.findings.list()[0].where == "ring 1 cpu 0 segment 1 at 144");
    CHECK(recording.has_losses());
}

TEST_CASE("tail references never lead outside their record", "[segment][record]") {
    EcbInfo ecb;
    ecb.fields = {RingBuilder::tail_field(12, DBK_FIELD_STRING),
                  RingBuilder::tail_field(12, DBK_FIELD_STACK)};
    Bytes bytes(32);
    RecordView record{.epid = 1, .ecb = &ecb, .bytes = bytes};
    auto refer = [&](uint16_t offset, uint16_t length) {
        put(bytes, 12, offset, 2);
        put(bytes, 14, length, 2);
    };
    refer(16, 16);
    CHECK(record.string(0)->size() == 16);
    CHECK(record.stack(1)->size() == 2);
    refer(16, 17);
    CHECK_FALSE(record.string(0));
    refer(32, 0);
    CHECK(record.string(0)->empty());
    refer(33, 0);
    CHECK_FALSE(record.string(0));
    refer(65535, 65535);
    CHECK_FALSE(record.stack(1));
    refer(16, 12);
    CHECK_FALSE(record.stack(1)); // no whole number of program counters
}

TEST_CASE("integers of 1, 2, 4 and 8 bytes are read, others are not", "[segment][record]") {
    Bytes bytes = RingBuilder::words({0x1122334455667788, 0});
    auto read = [&](uint32_t offset, uint32_t width) {
        return field_integer(bytes, RingBuilder::integer_field(offset, width));
    };
    CHECK(read(0, 1) == 0x88u);
    CHECK(read(0, 2) == 0x7788u);
    CHECK(read(0, 4) == 0x55667788u);
    CHECK(read(0, 8) == 0x1122334455667788u);
    CHECK(read(1, 2) == 0x6677u);
    CHECK_FALSE(read(0, 3));
    CHECK_FALSE(read(9, 8));
    CHECK_FALSE(read(UINT32_MAX, 8));
}

TEST_CASE("an ECB that contradicts itself does not enter the table", "[segment][record]") {
    EcbTable table;
    auto ecb = [](uint32_t epid, uint32_t fixed_bytes, std::vector<FieldInfo> fields,
                  uint32_t flags = 0) {
        EcbInfo info;
        info.epid = epid;
        info.fixed_bytes = fixed_bytes;
        info.fields = std::move(fields);
        info.flags = flags;
        return info;
    };
    auto integer = RingBuilder::integer_field;
    CHECK_FALSE(table.add(ecb(0, 16, {})).ok());
    CHECK_FALSE(table.add(ecb(kEpidMax + 1, 16, {})).ok());
    CHECK_FALSE(table.add(ecb(1, 0, {})).ok());
    CHECK_FALSE(table.add(ecb(1, 12, {})).ok());
    CHECK_FALSE(table.add(ecb(1, DBK_RECORD_BYTES_MAX + 8, {})).ok());
    CHECK_FALSE(table.add(ecb(1, 16, {integer(12, 8, 0, 0)})).ok());
    CHECK_FALSE(table.add(ecb(1, 16, {integer(4, 4, 0, 0)})).ok());
    CHECK_FALSE(table.add(ecb(1, 16, {integer(8, UINT32_MAX, 0, 0)})).ok());
    CHECK_FALSE(table.add(ecb(1, 8, {}, DBK_ECB_F_VARIABLE)).ok());
    CHECK_FALSE(table.add(ecb(1, 16, {RingBuilder::tail_field(8, DBK_FIELD_STRING)})).ok());
    CHECK(table.empty());
    CHECK(table.add(ecb(kEpidMax, 16, {integer(8, 8, 0, 0)})).ok());
    CHECK(table.add(ecb(1, DBK_RECORD_BYTES_MAX, {})).ok());
    CHECK(table.add(ecb(1, DBK_RECORD_BYTES_MAX, {})).ok()); // again, equal
    CHECK_FALSE(table.add(ecb(1, 16, {})).ok());             // again, different
    CHECK(table.find(1)->fixed_bytes == DBK_RECORD_BYTES_MAX);
    CHECK(table.find(2) == nullptr);
    CHECK(table.find(UINT32_MAX) == nullptr);
}

TEST_CASE("EPIDs are found however they lie", "[segment][record]") {
    EcbTable table;
    std::vector<uint32_t> epids{kEpidMax, 3, 1, 70000, 2, 63, 64, 65, 500, 501, 4};
    for (uint32_t epid = 1000; epid < 1400; epid++)
        epids.push_back(epid);
    for (uint32_t epid : epids) {
        EcbInfo ecb;
        ecb.epid = epid;
        ecb.fixed_bytes = 16;
        REQUIRE(table.add(std::move(ecb)).ok());
    }
    for (uint32_t epid : epids)
        REQUIRE(table.find(epid)->epid == epid);
    for (uint32_t epid : {0u, 5u, 66u, 502u, 999u, 1400u, 69999u, kEpidMax - 1, kEpidMax + 1})
        CHECK(table.find(epid) == nullptr);
}
