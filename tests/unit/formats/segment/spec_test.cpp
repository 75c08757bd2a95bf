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

TEST_CASE("the numbers of meta.md are those of meta.h", "[segment][spec]") {
    using Numbers = std::map<uint64_t, std::string>;
    auto numbers = [](const char* intro) {
        return test::spec_numbers("formats/abi/meta.md", intro);
    };
    CHECK(numbers("Policies of a ring") == Numbers{{DBK_POLICY_RING, "RING"},
                                                   {DBK_POLICY_FILL, "FILL"},
                                                   {DBK_POLICY_SWITCH, "SWITCH"}});
    CHECK(numbers("Where values are aggregated") ==
          Numbers{{DBK_AGGREGATE_RECORD, "RECORD"}, {DBK_AGGREGATE_ENGINE, "ENGINE"}});
    CHECK(numbers("Clocks of a ring") ==
          Numbers{{DBK_CLOCK_MONO_NS, "MONO_NS"}, {DBK_CLOCK_TSC, "TSC"}});
#define NUMBER(name, value) {value, #name},
    CHECK(numbers("Activities of a ring") == Numbers{DBK_ACTIVITIES(NUMBER)});
#undef NUMBER
}
