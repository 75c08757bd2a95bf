// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/recording.hpp"
#include "tests/support/spec_example.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::spec_example;

TEST_CASE("the worked examples of segment.md and meta.md say what their text says",
          "[segment][spec]") {
    Bytes segment = spec_example("formats/abi/segment.md", "## Worked example");
    Bytes probes = spec_example("formats/abi/meta.md", "## Worked example");
    Bytes ecbs = spec_example("formats/abi/meta.md", "## Worked example of ECBs");
    REQUIRE(segment.size() == 184);
    RecordingBuilder builder;
    for (Bytes* piece : {&segment, &probes, &ecbs})
        CHECK(builder.add_owned(*piece, {"example", Packing::packed}) == 1);
    Recording recording = builder.build();
    REQUIRE(recording.findings.list().size() == 1); // the examples have no RING block
    const RingRecording* ring = recording.find_ring(1);
    REQUIRE(ring);
    CHECK(ring->find_probe(31)->provider == "syscall");
    CHECK(ring->find_probe(31)->name == "entry");
    CHECK(ring->find_probe(32)->function.empty());
    CHECK(ring->find_probe(32)->name == "exec-success");
    const CpuInfo& cpu = ring->cpus.at(0);
    CHECK(cpu.cpu == 2);
    CHECK(cpu.completeness.drops[DBK_DROP_NESTED] == 3);
    CHECK(cpu.completeness.overwritten == 961);
    const SegmentInfo& info = cpu.segments.at(0);
    CHECK(info.sequence == 7);
    CHECK(info.sealed);
    CHECK(info.records_before == 961);
    RecordCursor cursor = records_of(info, *ring);
    RecordView record;
    REQUIRE(cursor.next(record));
    CHECK(record.ticks == 5'000'000'250);
    CHECK(record.ecb->probe_id == 31);
    CHECK(record.integer(0) == 42u);
    REQUIRE(cursor.next(record));
    CHECK(record.ticks == 20'000'000'008);
    CHECK(record.ecb->probe_id == 32);
    CHECK(record.string(0) == "cat");
    CHECK_FALSE(cursor.next(record));
    CHECK_FALSE(cursor.damage());
}
