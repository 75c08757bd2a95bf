// SPDX-License-Identifier: Apache-2.0
//
// From when to when a recording holds everything of a CPU.
#include "formats/segment/coverage.hpp"
#include "tests/support/segment_builder.hpp"
#include "tests/unit/formats/segment/one_ring.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::kPerSegment;
using daybreak::test::RingBuilder;

namespace {

/// A ring of eight segments on two CPUs; record i is made at 1000 + i.
struct CoveredRing {
    RingBuilder ring{{.cpu_count = 2, .segments_per_cpu = 8, .activity = DBK_ACTIVITY_ACTIVE}};
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);

    explicit CoveredRing(uint64_t segments) {
        for (uint64_t i = 0; i < segments * kPerSegment; i++)
            ring.record(0, epid, 1000 + i, RingBuilder::words({i}));
    }
    void remove(size_t slot) { std::memset(ring.segment_memory(0).data() + slot * 4096, 0, 4096); }
    Recording build() {
        RecordingBuilder builder;
        builder.add_owned(ring.metadata_memory(), {"metadata"});
        builder.add_owned(Bytes(ring.segment_memory(0)), {"ring"});
        return builder.build();
    }
    CpuCoverage coverage() {
        Recording recording = build();
        return coverage_of(recording.rings.at(0), recording.rings[0].cpus.at(0));
    }
};

} // namespace

TEST_CASE("a ring that did not wrap is covered from its start", "[segment][coverage]") {
    CpuCoverage covered = CoveredRing(5).coverage();
    CHECK(covered.is_known);
    CHECK(covered.is_from_start);
    CHECK_FALSE(covered.has_older);
    CHECK(covered.covers_since(0));
    CHECK(covered.to_mono_ns == 1000 + 5 * kPerSegment - 1);
}

TEST_CASE("what was overwritten, be it one segment, is not covered", "[segment][coverage]") {
    for (uint64_t gone : {1, 2, 5}) {
        CpuCoverage covered = CoveredRing(8 + gone).coverage();
        CHECK_FALSE(covered.is_from_start);
        CHECK_FALSE(covered.has_older);
        CHECK(covered.from_mono_ns == 1000 + gone * kPerSegment);
        CHECK(covered.covers_since(1000 + gone * kPerSegment));
        CHECK_FALSE(covered.covers_since(1000 + gone * kPerSegment - 1));
    }
}

TEST_CASE("after a hole nothing is covered", "[segment][coverage]") {
    CoveredRing f(6);
    f.remove(2);
    CpuCoverage covered = f.coverage();
    CHECK(covered.is_known);
    CHECK_FALSE(covered.is_from_start);
    CHECK(covered.has_older);
    CHECK(covered.from_mono_ns == 1000 + 3 * kPerSegment);
    CHECK(not_covered_since(f.build(), covered.from_mono_ns).empty()); // the other CPU recorded nothing
    CHECK(not_covered_since(f.build(), covered.from_mono_ns - 1).size() == 1);
}

TEST_CASE("a CPU of which nothing is here is covered when it recorded nothing", "[segment][coverage]") {
    CoveredRing f(2);
    Recording recording = f.build();
    for (CpuInfo& cpu : recording.rings.at(0).cpus)
        cpu.segments.clear();
    CHECK_FALSE(coverage_of(recording.rings[0], recording.rings[0].cpus.at(0)).is_known);
    CHECK_FALSE(coverage_of(recording.rings[0], recording.rings[0].cpus[0]).covers_since(UINT64_MAX));
    CHECK(coverage_of(recording.rings[0], recording.rings[0].cpus.at(1)).covers_since(0));
}
