// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"
#include "tests/unit/formats/segment/one_ring.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::first_cpu, daybreak::test::kPerSegment;
using daybreak::test::RingBuilder;

namespace {

struct CountedRing {
    RingBuilder ring;
    uint32_t epid;
    uint64_t ticks = 1000;

    explicit CountedRing(test::RingBuilderOptions options = {}) : ring(options) {
        epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)},
                            16);
    }
    void records(uint64_t count) {
        for (uint64_t i = 0; i < count; i++)
            ring.record(0, epid, ticks++, RingBuilder::words({i}));
    }
    Recording build() {
        RecordingBuilder builder;
        builder.add_owned(ring.metadata_memory(), {"metadata"});
        builder.add_owned(ring.segment_memory(0), {"ring"});
        return builder.build();
    }
    std::byte* slot(size_t index) { return ring.segment_memory(0).data() + index * 4096; }
};

void check_sum(const Completeness& c) {
    CHECK(c.committed == c.present + c.overwritten + c.lost + c.not_copied);
    CHECK(c.firings >= c.committed);
}

} // namespace

TEST_CASE("a ring that did not wrap is complete", "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 2 + 7);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.committed == kPerSegment * 2 + 7);
    CHECK(c.present == c.committed);
    CHECK(c.segments_present == 3);
    CHECK(first_cpu(recording).gaps.empty());
    CHECK_FALSE(c.has_losses());
    CHECK_FALSE(recording.has_losses());
    check_sum(c);
}

TEST_CASE("overwritten records are counted exactly and are no loss", "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 10 + 7);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.overwritten == kPerSegment * 7);
    CHECK(c.present == kPerSegment * 3 + 7);
    CHECK(c.lost == 0);
    REQUIRE(first_cpu(recording).gaps.size() == 1);
    CHECK(first_cpu(recording).gaps[0].overwritten);
    CHECK(first_cpu(recording).gaps[0].last_sequence == 7);
    CHECK(first_cpu(recording).gaps[0].records == c.overwritten);
    CHECK_FALSE(recording.has_losses());
    check_sum(c);
}

TEST_CASE("what the CPU says was overwritten is not a loss, and what it keeps is",
          "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 10 + 7); // 11 segments; slots hold 9, 10, 11, 8
    std::memset(f.slot(7 % 4), 0, 4096);
    std::memset(f.slot(8 % 4), 0, 4096);
    SECTION("not known: the ring's size says, with one on the way") {
        Recording recording = f.build();
        CHECK(first_cpu(recording).completeness.segments_missing == 1);
    }
    SECTION("known: exactly") {
        f.ring.facts(0).oldest_sequence = 8;
        Recording recording = f.build();
        CHECK(first_cpu(recording).completeness.segments_missing == 2);
        CHECK(recording.has_losses());
        f.ring.facts(0).oldest_sequence = 10;
        Recording later = f.build();
        CHECK(first_cpu(later).completeness.segments_missing == 0);
        CHECK_FALSE(later.has_losses());
    }
    SECTION("a ring that has grown keeps more than it was made with") {
        f.ring.facts(0).oldest_sequence = 3;
        Recording recording = f.build();
        CHECK(first_cpu(recording).completeness.segments_missing == 7);
        REQUIRE(first_cpu(recording).gaps.size() == 2);
        CHECK(first_cpu(recording).gaps[0].last_sequence == 2);
        CHECK(first_cpu(recording).gaps[0].overwritten);
    }
    SECTION("counters copied before the segments know less") {
        f.ring.facts(0).oldest_sequence = 6;
        f.ring.facts(0).segments = 9;
        Recording recording = f.build(); // 6 + (11 - 9) + 1
        CHECK(first_cpu(recording).completeness.segments_missing == 1);
    }
    SECTION("nonsense is not believed") {
        f.ring.facts(0).oldest_sequence = 13;
        Recording recording = f.build();
        CHECK(first_cpu(recording).completeness.segments_missing == 1);
    }
}

TEST_CASE("a ring's description may be as short as the first writers' were", "[segment]") {
    RingBuilder ring({.name = "short"});
    ring.add_probe("p", "m", "f", "n");
    Bytes memory = ring.metadata_memory();
    for (size_t at = 0; at < memory.size(); at += 4096) {
        dbk_meta_header header;
        std::memcpy(&header, memory.data() + at, sizeof(header));
        if (header.magic != DBK_META_MAGIC || header.kind != DBK_META_RING)
            continue;
        header.committed_bytes = DBK_META_DATA_OFFSET + DBK_META_RING_BYTES_MIN;
        std::memcpy(memory.data() + at, &header, sizeof(header));
        std::memset(memory.data() + at + header.committed_bytes, 0xff, 16);
    }
    RecordingBuilder builder;
    builder.add_owned(memory, {"metadata"});
    Recording recording = builder.build();
    REQUIRE(recording.rings.size() == 1);
    CHECK(recording.rings[0].info.name == "short");
    CHECK(recording.rings[0].info.facts.ringtime_ns == 0);
    CHECK(recording.rings[0].info.facts.ringmax_bytes == 0);
}

TEST_CASE("segments are ordered by sequence, wherever they lie", "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 5 + 1);
    Recording recording = f.build();
    std::vector<uint64_t> sequences;
    for (const SegmentInfo& segment : first_cpu(recording).segments)
        sequences.push_back(segment.sequence);
    CHECK(sequences == std::vector<uint64_t>{3, 4, 5, 6});
}

TEST_CASE("a segment that should be there is a loss of known size", "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 3 + 7);
    std::memset(f.slot(1), 0, 4096);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.lost == kPerSegment);
    CHECK(c.lost_known);
    CHECK(c.segments_missing == 1);
    CHECK(c.overwritten == 0);
    REQUIRE(first_cpu(recording).gaps.size() == 1);
    CHECK_FALSE(first_cpu(recording).gaps[0].overwritten);
    REQUIRE(recording.findings.list().size() == 1);
    CHECK(recording.findings.list()[0].text == "segment 2 with 248 records is not there");
    CHECK(recording.has_losses());
    check_sum(c);
}

TEST_CASE("an early segment of a ring that wrapped: the loss's size is not known",
          "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 9 + 7); // segments 7..10 remain
    std::memset(f.slot((7 - 1) % 4), 0, 4096);
    std::memset(f.slot((8 - 1) % 4), 0, 4096);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.segments_missing == 1); // segment 7 may have been about to be reused
    CHECK_FALSE(c.lost_known);
    CHECK(c.overwritten == kPerSegment * 8);
    CHECK(recording.has_losses());
    check_sum(c);
}

TEST_CASE("the newest segment missing after a stop is a loss", "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 3 + 7);
    std::memset(f.slot(3), 0, 4096);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.lost == 7);
    CHECK(c.segments_missing == 1);
    check_sum(c);
}

TEST_CASE("what a running ring committed after the copy is not a loss", "[segment][completeness]") {
    CountedRing f({.activity = DBK_ACTIVITY_ACTIVE});
    f.records(10);
    Bytes early = f.ring.segment_memory(0);
    f.records(5);
    RecordingBuilder builder;
    builder.add_owned(std::move(early), {"ring"});
    builder.add_owned(f.ring.metadata_memory(), {"metadata"});
    Recording recording = builder.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.present == 10);
    CHECK(c.not_copied == 5);
    CHECK(c.lost == 0);
    CHECK_FALSE(recording.has_losses());
    check_sum(c);
}

TEST_CASE("what came after the counters were copied has fired, too", "[segment][completeness]") {
    CountedRing f({.activity = DBK_ACTIVITY_ACTIVE});
    f.records(10);
    f.ring.facts(0).firings = 100; // most of them with a predicate that did not hold
    Bytes early = f.ring.metadata_memory();
    f.records(5);
    RecordingBuilder builder;
    builder.add_owned(std::move(early), {"metadata"});
    builder.add_owned(f.ring.segment_memory(0), {"ring"});
    Recording recording = builder.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.committed == 15);
    CHECK(c.firings == 105);
    check_sum(c);
}

TEST_CASE("a fill ring never overwrites: what is absent is lost", "[segment][completeness]") {
    CountedRing f({.policy = DBK_POLICY_FILL});
    f.records(kPerSegment * 4);
    std::memset(f.slot(0), 0, 4096);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.lost == kPerSegment);
    CHECK(c.overwritten == 0);
    check_sum(c);
}

TEST_CASE("records after damage inside a segment are lost, and counted by the next segment",
          "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 2);
    uint32_t bad = 4711;
    std::memcpy(f.slot(0) + 128 + 16 * 100, &bad, 4);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.present == kPerSegment + 100);
    CHECK(c.lost == kPerSegment - 100);
    CHECK(c.lost_known);
    CHECK(c.segments_damaged == 1);
    check_sum(c);
}

TEST_CASE("a segment that was cut between two records is damaged", "[segment][completeness]") {
    CountedRing f;
    f.records(10);
    Bytes memory = f.ring.segment_memory(0);
    memory.resize(128 + 16 * 6);
    RecordingBuilder builder;
    builder.add_owned(f.ring.metadata_memory(), {"metadata"});
    builder.add_owned(std::move(memory), {"ring"});
    Recording recording = builder.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.present == 6);
    CHECK(c.lost == 4);
    CHECK(c.segments_damaged == 1);
    check_sum(c);
}

TEST_CASE("damage in the newest segment of a running ring: how much is lost is not known",
          "[segment][completeness]") {
    CountedRing f({.activity = DBK_ACTIVITY_ACTIVE});
    f.records(10);
    uint32_t bad = 4711;
    std::memcpy(f.slot(0) + 128 + 16 * 4, &bad, 4);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.present == 4);
    CHECK(c.not_copied == 6); // or lost
    CHECK_FALSE(c.lost_known);
    CHECK(c.has_losses());
    check_sum(c);
}

TEST_CASE("drops carry their cause, count and interval", "[segment][completeness]") {
    CountedRing f;
    f.ring.drop(0, DBK_DROP_NESTED, 3); // before the first segment
    f.records(kPerSegment);
    f.ring.drop(0, DBK_DROP_PRINCIPAL, 2);
    f.records(5);
    f.ring.drop(0, DBK_DROP_PRINCIPAL, 4);
    Recording recording = f.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.drops[DBK_DROP_PRINCIPAL] == 6);
    CHECK(c.drops[DBK_DROP_NESTED] == 3);
    CHECK(c.drops_unseen[DBK_DROP_NESTED] == 3);
    CHECK(c.drops_unseen[DBK_DROP_PRINCIPAL] == 0);
    CHECK(c.drops_total() == 9);
    REQUIRE(c.intervals.size() == 2);
    CHECK(c.intervals[0].cause == DBK_DROP_PRINCIPAL);
    CHECK(c.intervals[0].count == 2);
    CHECK(c.intervals[0].from_mono_ns == 1000);
    CHECK(c.intervals[0].to_mono_ns == 1000 + kPerSegment);
    CHECK(c.intervals[1].count == 4);
    CHECK(c.intervals[1].to_mono_ns == UINT64_MAX); // the last segment may still be open
    CHECK(recording.has_losses());
}

TEST_CASE("facts that contradict each other do not overflow", "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 3);
    uint64_t huge = UINT64_MAX;
    std::memcpy(f.slot(1) + 64, &huge, 8); // records_before
    std::memcpy(f.slot(2) + 16, &huge, 8); // sequence
    Recording recording = f.build();
    CHECK(recording.has_losses());
    CHECK(recording.findings.count() > 0);
}

TEST_CASE("a segment between two files of a row lay in one that is not here, or is lost",
          "[segment][completeness]") {
    CountedRing f;
    f.records(kPerSegment * 3);
    const bool is_here = GENERATE(false, true); // file 2, of which nothing can be read
    RecordingBuilder builder;
    builder.add_owned(f.ring.metadata_memory(), {"metadata"});
    for (uint32_t number : {1u, 3u}) {
        Bytes segment(f.slot(number - 1), f.slot(number));
        AddOptions options{"file"};
        options.file_number = number;
        builder.add_file(number);
        REQUIRE(builder.add_owned(std::move(segment), options) == 1);
    }
    if (is_here)
        builder.add_file(2);
    Recording recording = builder.build();
    const Completeness& c = first_cpu(recording).completeness;
    CHECK(c.present == kPerSegment * 2);
    CHECK(c.rotated == (is_here ? 0 : kPerSegment));
    CHECK(c.lost == (is_here ? kPerSegment : 0));
    CHECK(c.segments_missing == (is_here ? 1 : 0));
    CHECK(c.lost_known);
    CHECK(recording.has_rotated() == !is_here);
    CHECK(recording.has_losses() == is_here);
}
