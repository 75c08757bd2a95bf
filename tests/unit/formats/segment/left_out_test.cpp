// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/left_out.hpp"

#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"
#include "tests/unit/formats/segment/one_ring.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::first_cpu;
using test::RingBuilder;

namespace {

constexpr uint64_t kBoot = 0x1122334455667788;

/// Eight segments, 9 to 16, of ten records each; what was before is overwritten.
struct Ring {
    RingBuilder ring{{.segments_per_cpu = 8}};
    RecordingBuilder builder;

    Ring() {
        uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {}, 8);
        for (uint64_t segment = 1; segment <= 16; segment++) {
            ring.open_segment(0, segment * 1000);
            for (uint64_t i = 0; i < 10; i++)
                ring.record(0, epid, segment * 1000 + i, {});
        }
        builder.add_owned(ring.metadata_memory(), {"metadata"});
    }
    /// `absent` segments, the newest ones, are not there.
    Recording build(uint64_t absent = 0) {
        size_t bytes = (8 - absent) * size_t{ring.options().segment_bytes};
        builder.add_bytes(ByteView(ring.segment_memory(0)).first(bytes), {"ring"});
        return builder.build();
    }
    void leave_out(std::vector<LeftOut> list, uint32_t file_id = 1) {
        AddOptions options;
        options.file_id = file_id;
        builder.add_left_out(kBoot, std::move(list), options);
    }
};

LeftOut stretch(uint64_t first, uint64_t last) {
    LeftOut one{1, 0, first, last, (first - 1) * 10, (last - first + 1) * 10};
    one.drops = {1};
    return one;
}

} // namespace

TEST_CASE("what was left out is rotated, and what is around it is what it was", "[left_out]") {
    SECTION("in place of what the ring has overwritten") {
        Ring r;
        r.leave_out({stretch(5, 8)});
        Recording recording = r.build();
        const Completeness& sum = first_cpu(recording).completeness;
        CHECK(sum.overwritten == 40);
        CHECK(sum.rotated == 40);
        CHECK(sum.present == 80);
        CHECK(sum.lost == 0);
        CHECK(sum.lost_known);
        CHECK(sum.drops[0] == 1);
        CHECK(sum.drops_unseen[0] == 0);
        REQUIRE(first_cpu(recording).gaps.size() == 2);
        CHECK(first_cpu(recording).gaps[0].overwritten);
        CHECK(first_cpu(recording).gaps[1].left_out);
    }
    SECTION("at the end") {
        Ring r;
        r.leave_out({stretch(15, 16)});
        const Recording recording = r.build(2);
        const Completeness& sum = first_cpu(recording).completeness;
        CHECK(sum.rotated == 20);
        CHECK(sum.present == 60);
        CHECK(sum.lost == 0);
        CHECK(sum.segments_missing == 0);
        CHECK(sum.overwritten == 80);
    }
    SECTION("but not all of the end") {
        Ring r;
        r.leave_out({stretch(15, 15)});
        const Recording recording = r.build(2);
        CHECK(first_cpu(recording).completeness.rotated == 10);
        CHECK(first_cpu(recording).completeness.lost == 10);
    }
    SECTION("of another boot") {
        Ring r;
        r.builder.add_left_out(1, {stretch(5, 8)}, {});
        CHECK(first_cpu(r.build()).left_out.empty());
    }
}

TEST_CASE("stretches of several files are cut by each other and by what is here", "[left_out]") {
    Ring r;
    r.leave_out({stretch(3, 10)}, 1);
    r.leave_out({stretch(1, 4), stretch(6, 20)}, 2);
    const Recording recording = r.build();
    std::vector<std::pair<uint64_t, uint64_t>> parts;
    for (const LeftOut& one : first_cpu(recording).left_out)
        parts.emplace_back(one.first_sequence, one.last_sequence);
    using Parts = std::vector<std::pair<uint64_t, uint64_t>>;
    CHECK(parts == Parts{{1, 4}, {5, 8}, {17, 20}});
    CHECK(first_cpu(recording).left_out[1].records == 40);
    CHECK(first_cpu(recording).completeness.rotated == 120);
    CHECK(first_cpu(recording).completeness.drops[0] == 1); // of parts it is not known
}

TEST_CASE("the boot of most segments is chosen as before they were left out", "[left_out]") {
    RingBuilder other({.boot_id = 5});
    uint32_t epid = other.add_ecb(other.add_probe("p", "m", "f", "n"), {}, 8);
    for (uint64_t i = 0; i < 3; i++) {
        other.open_segment(0, 1000 + i);
        other.record(0, epid, 1000 + i, {});
    }
    RecordingBuilder builder;
    builder.add_bytes(other.segment_memory(0), {"other"});
    builder.add_left_out(kBoot, {stretch(1, 100)}, {});
    CHECK(builder.boots().at(kBoot) == 100);
    CHECK(builder.build().boot_id == kBoot);
}

TEST_CASE("stretches that are lies leave the accounts whole", "[left_out]") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 2000; round++) {
        Ring r;
        for (uint32_t file = 1; file <= 1 + random() % 3; file++) {
            std::vector<LeftOut> list;
            uint64_t next = 1;
            for (uint64_t i = 0; i < random() % 5; i++) {
                LeftOut one{1, 0, next + random() % 6};
                one.last_sequence =
                    random() % 20 == 0 ? UINT64_MAX - 1 : one.first_sequence + random() % 6;
                one.records_before = random() % 3 ? (one.first_sequence - 1) * 10 : random();
                one.records = random() % 3 ? random() % 100 : UINT64_MAX;
                one.drops.assign(random() % 40, UINT64_MAX);
                list.push_back(one);
                if (one.last_sequence == UINT64_MAX - 1)
                    break;
                next = one.last_sequence + 1;
            }
            r.leave_out(std::move(list), file);
        }
        const Recording recording = r.build(random() % 4);
        const CpuInfo& cpu = first_cpu(recording);
        uint64_t before = 0;
        for (const LeftOut& one : cpu.left_out) {
            CHECK(one.first_sequence > before);
            CHECK(one.last_sequence >= one.first_sequence);
            before = one.last_sequence;
            for (const SegmentInfo& segment : cpu.segments)
                CHECK((segment.sequence < one.first_sequence ||
                       segment.sequence > one.last_sequence));
        }
        before = 0;
        for (const Gap& gap : cpu.gaps) {
            CHECK(gap.first_sequence > before);
            CHECK(gap.last_sequence >= gap.first_sequence);
            before = gap.last_sequence;
        }
    }
}
