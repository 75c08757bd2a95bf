// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/reader.hpp"
#include "tests/support/spec_example.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;

TEST_CASE("the worked example of trace.md says what its text says", "[trace][spec]") {
    Bytes file = test::spec_example("formats/trace/trace.md", "## Worked example");
    REQUIRE(file.size() % 8 == 0);
    Trace trace = parse_trace(file, "example").value();
    CHECK(trace.file.blocks_good == 2);
    CHECK(trace.file.blocks_lost == 0);
    CHECK(trace.file.has_end);
    CHECK_FALSE(trace.has_header);
    const RingRecording& ring = *trace.recording.find_ring(1);
    CHECK(ring.ecbs.all().size() == 2);
    CHECK(ring.cpus.at(0).completeness.present == 2);
    CHECK(ring.cpus.at(0).segments.at(0).sequence == 7);
}
