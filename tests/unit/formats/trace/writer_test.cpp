// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/writer.hpp"

#include "base/file.hpp"
#include "tests/support/secret_file.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

/// A folder that goes away.
struct TemporaryFolder {
    std::string path;
    TemporaryFolder() {
        char name[] = "/tmp/daybreak-trace-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    size_t files() const {
        auto all = std::filesystem::directory_iterator(path);
        return static_cast<size_t>(std::distance(begin(all), end(all)));
    }
};

} // namespace

TEST_CASE("a sink's error is passed on from wherever it strikes", "[trace][writer]") {
    test::RingBuilder ring = test::sample_ring(600);
    size_t whole = test::sample_file(ring).size();
    size_t failures = 0;
    for (size_t room = 0; room <= whole; room += 512) {
        size_t written = 0;
        auto sink = [&](ByteView bytes) -> Result<void> {
            if (written + bytes.size() > room)
                return base::errorf(ErrorCode::io, "no space left");
            written += bytes.size();
            return {};
        };
        auto run = [&]() -> Result<void> {
            DBK_TRY(TraceWriter writer,
                    TraceWriter::create(sink, test::sample_header(), {3, 8192}));
            RecordingBuilder builder;
            std::vector<ByteView> pieces;
            builder.add_bytes(ring.segment_memory(0), {"ring"}, &pieces);
            builder.add_bytes(ring.segment_memory(1), {"ring"}, &pieces);
            for (ByteView piece : pieces)
                DBK_TRY_VOID(writer.add_piece(piece));
            DBK_TRY_VOID(writer.add_symbols(test::sample_symbols()));
            return writer.finish({});
        };
        Result<void> done = run();
        if (!done.ok()) {
            failures++;
            REQUIRE(done.error().message() == "no space left");
        }
    }
    CHECK(failures > 3);
}

TEST_CASE("a bad piece is refused and the file stays good", "[trace][writer]") {
    Bytes file;
    auto sink = [&](ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return Result<void>();
    };
    TraceWriter writer = TraceWriter::create(sink, {}).value();
    CHECK_FALSE(writer.add_piece(Bytes(4096)).ok());
    CHECK_FALSE(writer.add_piece({}).ok());
    test::RingBuilder ring = test::sample_ring(10);
    CHECK(writer.add_piece(ring.segment_memory(0)).ok());
    REQUIRE(writer.finish({}).ok());
    CHECK(parse_trace(file, "file").value().recording.rings.size() == 1);
}

TEST_CASE("regions in memory become a trace file", "[trace][writer]") {
    TemporaryFolder folder;
    std::string path = folder.path + "/sim.dbrk";
    test::RingBuilder ring = test::sample_ring(100);
    Bytes metadata = ring.metadata_memory();
    TraceRegion regions[] = {{metadata, "metadata"},
                             {ring.segment_memory(0), "cpu 0"},
                             {ring.segment_memory(1), "cpu 1"}};
    Bytes snapshots[] = {ring.aggregation_buffer(
        0, 1, test::RingBuilder::aggregation_entry(1, 0, test::RingBuilder::words({7}), {3}))};
    TraceSummary summary =
        write_trace(path, test::sample_header(), regions, snapshots, test::sample_symbols())
            .value();
    REQUIRE(summary.cpus.size() == 2);
    CHECK(test::is_secret(path));
    CHECK(summary.cpus[0].completeness.present == 100);
    Trace trace = read_trace(path).value();
    CHECK(trace.recording.rings.at(0).completeness().present == 200);
    CHECK(trace.recording.rings[0].cpus[0].aggregations.size() == 1);
    CHECK(trace.recording.rings[0].find_dof(0)->bytes.size() == 300);
    CHECK_FALSE(trace.has_losses());
    CHECK(folder.files() == 1);
}

TEST_CASE("a file that cannot be written is not there", "[trace][writer]") {
    TemporaryFolder folder;
    CHECK_FALSE(write_trace(folder.path, {}, {}, {}, {}).ok());
    CHECK_FALSE(write_trace(folder.path + "/none/x.dbrk", {}, {}, {}, {}).ok());
    CHECK(folder.files() == 0);
}
