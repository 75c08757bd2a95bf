// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::RingBuilder;

namespace {

Bytes joined(std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts)
        RingBuilder::append(all, part.data(), part.size());
    return all;
}

} // namespace

TEST_CASE("aggregation snapshots come back with keys and cells", "[segment][aggregation]") {
    RingBuilder ring({.aggregate = DBK_AGGREGATE_ENGINE});
    uint32_t probe = ring.add_probe("p", "m", "f", "n");
    uint32_t epid = ring.add_ecb(probe, {RingBuilder::integer_field(0, 8, 0, DBK_FIELD_F_KEY)}, 8,
                                 DBK_ECB_F_NO_RECORD);
    Bytes first = ring.aggregation_buffer(
        0, 1,
        joined({RingBuilder::aggregation_entry(epid, 1, RingBuilder::words({7}), {100}),
                RingBuilder::aggregation_entry(epid, 1, RingBuilder::words({8}), {3, 4, 5})}));
    Bytes second = ring.aggregation_buffer(
        0, 2, RingBuilder::aggregation_entry(epid, 1, RingBuilder::words({7}), {1}));
    RecordingBuilder builder;
    builder.add_owned(ring.metadata_memory(), {"metadata"});
    builder.add_owned(second, {"snapshot", Packing::packed});
    builder.add_owned(first, {"snapshot", Packing::packed});
    builder.add_owned(first, {"again", Packing::packed});
    Recording recording = builder.build();
    const RingRecording& found = recording.rings.at(0);
    REQUIRE(found.cpus.at(0).aggregations.size() == 2);
    AggregationCursor cursor = entries_of(found.cpus[0].aggregations[0], found);
    AggEntryView entry;
    REQUIRE(cursor.next(entry));
    CHECK(entry.epid == epid);
    CHECK(entry.action == 1);
    REQUIRE(entry.ecb);
    CHECK(field_integer(entry.key, entry.ecb->fields.at(0)) == 7u);
    CHECK(entry.cell_count() == 1);
    CHECK(entry.cell(0) == 100);
    REQUIRE(cursor.next(entry));
    CHECK(entry.cell(2) == 5);
    CHECK_FALSE(cursor.next(entry));
    CHECK_FALSE(cursor.damage());
}

TEST_CASE("an entry that does not fit ends the walk", "[segment][aggregation]") {
    RingBuilder ring;
    Bytes good = RingBuilder::aggregation_entry(1, 0, RingBuilder::words({7}), {100});
    Bytes bad = good;
    uint32_t value = 0;
    size_t at = 0;
    SECTION("no length") {
        value = 0;
    }
    SECTION("length not aligned") {
        value = 17;
    }
    SECTION("length past the buffer") {
        value = 4096;
    }
    SECTION("cells past the entry") {
        at = 12;
        value = 2;
    }
    SECTION("very many cells") {
        at = 12;
        value = UINT32_MAX;
    }
    std::memcpy(bad.data() + at, &value, 4);
    Bytes buffer = ring.aggregation_buffer(0, 1, joined({good, bad}));
    EcbTable ecbs;
    AggregationCursor cursor(buffer, ecbs);
    AggEntryView entry;
    CHECK(cursor.next(entry));
    CHECK(entry.ecb == nullptr);
    CHECK_FALSE(cursor.next(entry));
    REQUIRE(cursor.damage());
    CHECK(cursor.damage()->kind == FindingKind::bad_aggregation);
    CHECK_FALSE(cursor.next(entry));
}
