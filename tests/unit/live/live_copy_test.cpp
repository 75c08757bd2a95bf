// SPDX-License-Identifier: Apache-2.0
#include "live/live_copy.hpp"

#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>
#include <thread>

using namespace daybreak;
using namespace daybreak::live;
using daybreak::test::RingBuilder;

TEST_CASE("a quiet segment is copied to its committed bytes", "[recorder][copy]") {
    RingBuilder ring;
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {}, 8);
    ring.record(0, epid, 1000, {});
    ring.record(0, epid, 1001, {});
    LiveCopy copy = copy_live_piece(ring.segment_memory(0));
    REQUIRE(copy.outcome == CopyOutcome::copied);
    CHECK(copy.room_bytes == 4096);
    CHECK(copy.bytes.size() == 128 + 16);
    CHECK(std::memcmp(copy.bytes.data(), ring.segment_memory(0).data(), copy.bytes.size()) == 0);
}

TEST_CASE("places without a piece, reopening or lying ones are distinguished", "[recorder][copy]") {
    RingBuilder ring;
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {}, 8);
    ring.record(0, epid, 1000, {});
    Bytes memory = ring.segment_memory(0);
    auto poke32 = [&](size_t at, uint32_t value) { std::memcpy(memory.data() + at, &value, 4); };
    CHECK(copy_live_piece(ByteView(memory).subspan(4096)).outcome == CopyOutcome::nothing);
    CHECK(copy_live_piece(ByteView(memory).first(64)).outcome == CopyOutcome::nothing);
    CHECK(copy_live_piece({}).outcome == CopyOutcome::nothing);
    SECTION("sequence 0") {
        std::memset(memory.data() + 16, 0, 8);
        CHECK(copy_live_piece(memory).outcome == CopyOutcome::busy);
    }
    SECTION("committed above the room") {
        poke32(12, 4104);
        CHECK(copy_live_piece(memory).outcome == CopyOutcome::refused);
    }
    SECTION("room above what is mapped") {
        poke32(8, 1 << 20);
        poke32(12, 1 << 20);
        CHECK(copy_live_piece(memory).outcome == CopyOutcome::refused);
    }
    SECTION("metadata that claims too much") {
        Bytes metadata = ring.metadata_memory();
        uint32_t much = static_cast<uint32_t>(metadata.size()) + 8;
        std::memcpy(metadata.data() + 8, &much, 4);
        CHECK(copy_live_piece(metadata).outcome == CopyOutcome::refused);
    }
}

TEST_CASE("copies made while a CPU writes are whole segments of whole records",
          "[recorder][copy]") {
    // Each record holds a number and its complement; numbers count up without holes.
    RingBuilder ring({.segments_per_cpu = 4});
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                     {RingBuilder::integer_field(8, 8), RingBuilder::integer_field(16, 8)}, 24);
    std::atomic<bool> done = false;
    std::thread writer([&] {
        for (uint64_t i = 0; !done; i++)
            ring.record(0, epid, 1000 + i, RingBuilder::words({i, ~i}));
    });
    formats::EcbTable ecbs;
    formats::EcbInfo ecb;
    ecb.epid = epid;
    ecb.fixed_bytes = 24;
    ecb.fields = {RingBuilder::integer_field(8, 8), RingBuilder::integer_field(16, 8)};
    REQUIRE(ecbs.add(ecb).ok());

    ByteView live = ring.segment_memory(0);
    uint64_t copied = 0, records = 0, newest = 0;
    for (int round = 0; round < 20000 || copied < 1000 || newest <= 4; round++) {
        LiveCopy copy = copy_live_piece(live.subspan(static_cast<size_t>(round % 4) * 4096));
        if (copy.outcome != CopyOutcome::copied)
            continue;
        copied++;
        dbk_segment_header header;
        dbk_segment_losses losses;
        std::memcpy(&header, copy.bytes.data(), sizeof(header));
        std::memcpy(&losses, copy.bytes.data() + sizeof(header), sizeof(losses));
        formats::RecordCursor cursor(copy.bytes, header.base_ticks, ecbs);
        formats::RecordView record;
        uint64_t expected = losses.records_before;
        bool good = true;
        while (cursor.next(record)) {
            good = good && record.integer(0) == expected && record.integer(1) == ~expected &&
                   record.ticks == 1000 + expected;
            expected++;
            records++;
        }
        if (!good || cursor.damage()) {
            done = true;
            writer.join();
            FAIL("a copy was not of one segment");
        }
        newest = std::max(newest, header.sequence);
    }
    done = true;
    writer.join();
    INFO("copied " << copied << " segments, " << records << " records, up to sequence " << newest);
    CHECK(copied >= 1000);
}
