// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::RingBuilder;

TEST_CASE("every prefix of a ring gives a shorter good recording", "[segment][truncation]") {
    RingBuilder ring;
    uint32_t probe = ring.add_probe("p", "m", "f", "n");
    uint32_t fixed = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    uint32_t text = ring.add_ecb(probe, {RingBuilder::tail_field(12, DBK_FIELD_STRING)}, 16,
                                 DBK_ECB_F_VARIABLE);
    for (uint64_t i = 0; i < 300; i++) {
        ring.record(0, fixed, 1000 + i, RingBuilder::words({i}));
        ring.record(0, text, 1000 + i, RingBuilder::tail_body(base::as_bytes("some text")));
    }
    ring.add_dof(Bytes(100, std::byte{9}));
    Bytes metadata = ring.metadata_memory(), segments = ring.segment_memory(0);
    uint64_t before = 0;
    for (size_t length = 0; length <= segments.size(); length++) {
        RecordingBuilder builder;
        builder.add_bytes(metadata, {"metadata"});
        builder.add_bytes(ByteView(segments).first(length), {"ring"});
        Recording recording = builder.build();
        uint64_t present = recording.rings.at(0).completeness().present;
        REQUIRE(present >= before);
        before = present;
    }
    CHECK(before == 600);
    for (size_t length = 0; length <= metadata.size(); length += 3) {
        RecordingBuilder builder;
        builder.add_bytes(ByteView(metadata).first(length), {"metadata"});
        builder.add_bytes(segments, {"ring"});
        Recording recording = builder.build();
        uint64_t present = recording.rings.at(0).completeness().present;
        REQUIRE((present == 600 || recording.has_losses()));
    }
}
