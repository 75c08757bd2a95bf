// SPDX-License-Identifier: Apache-2.0
#include "recorder/follow/held.hpp"
#include "recorder/follow/write_queue.hpp"

#include "tests/unit/recorder/follow_fixture.hpp"

using namespace daybreak;
using namespace daybreak::test;

namespace {

/// A queue before a disk in memory; `said` is what it said.
struct QueueOfDisk {
    FollowFixture f;
    MemoryFolder folder{f.disk};
    std::vector<std::string> said;
    FileSeries::Say say = [this](const std::string& line) { said.push_back(line); };
    FileSeries series{folder,
                      {},
                      f.options.header,
                      [] {
                          return formats::HostClocks{1, 1, 1};
                      },
                      say};
    WriteQueue queue{series, say};

    void add(WriteJob::Kind kind) {
        WriteJob job;
        job.kind = kind;
        queue.add(std::move(job));
    }
    /// Adds what lies in the first slot of CPU 0 now.
    void add_segment() {
        WriteJob job;
        const Bytes& memory = f.ring.segment_memory(0);
        job.bytes = Bytes(memory.begin(), memory.begin() + 4096);
        queue.add(std::move(job));
    }
};

constexpr uint64_t kMs = 1'000'000;

} // namespace

TEST_CASE("only a sync ends the state and the pauses, which grow", "[follow][queue]") {
    QueueOfDisk q;
    q.f.records(1);
    q.f.disk.sync_broken = true;
    q.add_segment();
    q.add(WriteJob::Kind::sync);
    for (uint64_t wanted_ms : {100, 200, 400, 800, 1600, 3200, 5000, 5000}) {
        q.add_segment(); // an append would do
        CHECK(q.queue.drain() == wanted_ms * kMs);
        CHECK(q.queue.state().failing);
    }
    CHECK(q.said.size() == 1);
    CHECK(q.queue.hindrance() == formats::SkipCause::disk_error);
    q.f.disk.sync_broken = false;
    CHECK(q.queue.drain() == 0);
    CHECK_FALSE(q.queue.state().failing);
    CHECK(q.queue.state().error.empty());
    CHECK(q.said.size() == 2);
}

TEST_CASE("a job that failed stays the first", "[follow][queue]") {
    QueueOfDisk q;
    q.f.records(5);
    q.f.disk.broken = true;
    q.add_segment();
    q.add(WriteJob::Kind::sync);
    size_t room = q.queue.room_bytes();
    CHECK(q.queue.drain() != 0);
    CHECK(q.queue.room_bytes() == room);
    q.f.disk.broken = false;
    CHECK(q.queue.drain() == 0);
    CHECK(q.queue.room_bytes() == WriteQueue::kRoomBytes);
    CHECK(read_back(q.f.disk.files).whole_copies.size() == 1);
}

TEST_CASE("of a segment that grew while appends fail the longer copy is left", "[follow][queue]") {
    QueueOfDisk q;
    auto put_and_fail = [&] {
        REQUIRE(q.series.put(ByteView(q.f.ring.segment_memory(0)).first(4096)).ok());
        q.f.disk.fault = [](std::string_view call) -> std::optional<ErrorCode> {
            return call == "append" ? std::optional(ErrorCode::io) : std::nullopt;
        };
        CHECK_FALSE(q.series.flush().ok());
        q.f.disk.fault = {};
    };
    q.f.records_of(0, 5);
    put_and_fail();
    q.f.records_of(0, 4);
    put_and_fail();
    REQUIRE(q.series.sync().ok());
    HeldSegments held;
    for (const auto& [name, content] : q.f.disk.files)
        held.add_file(content, q.f.ring.options().boot_id);
    CHECK(held.position(1, 0).copied_bytes == DBK_SEGMENT_DATA_OFFSET + 16 * 9);
}

TEST_CASE("a longer copy that was written counts as lost, though a shorter one is in memory",
          "[follow][queue]") {
    QueueOfDisk q;
    auto put = [&] {
        REQUIRE(q.series.put(ByteView(q.f.ring.segment_memory(0)).first(4096)).ok());
    };
    q.f.records_of(0, 5);
    put();
    q.f.disk.fault = [](std::string_view call) -> std::optional<ErrorCode> {
        return call == "append" ? std::optional(ErrorCode::io) : std::nullopt;
    };
    CHECK_FALSE(q.series.flush().ok());
    q.f.disk.fault = {};
    q.f.records_of(0, 4);
    put();
    REQUIRE(q.series.flush().ok());
    q.f.disk.sync_broken = true;
    CHECK_FALSE(q.series.sync().ok());
    CHECK(q.series.take_unsynced().size() == 1);
}

TEST_CASE("what a failed sync was about is lost, unless a later copy waits", "[follow][queue]") {
    QueueOfDisk q;
    q.f.records(5);
    q.add_segment();
    WriteJob sync;
    sync.kind = WriteJob::Kind::sync;
    // Gathered and written as a block, then not synced.
    q.f.disk.fault = [&](std::string_view call) -> std::optional<ErrorCode> {
        return call == "sync" ? std::optional(ErrorCode::io) : std::nullopt;
    };
    q.queue.add(std::move(sync));
    CHECK(q.queue.drain() != 0);
    SECTION("nothing waits") {
        std::vector<UnsyncedSegment> lost = q.queue.take_lost();
        REQUIRE(lost.size() == 1);
        CHECK(lost[0] == UnsyncedSegment{1, 0, 1});
        CHECK(q.queue.take_lost().empty());
    }
    SECTION("a longer copy waits") {
        q.f.records(5);
        q.add_segment();
        CHECK(q.queue.take_lost().empty());
    }
    SECTION("a longer copy was written meanwhile") {
        q.f.records(5);
        q.add_segment();
        q.f.disk.fault = {};
        CHECK(q.queue.drain() == 0);
        CHECK(q.queue.take_lost().empty());
    }
}

TEST_CASE("what was only taken does not end the state", "[follow][queue]") {
    QueueOfDisk q;
    q.f.records(1);
    q.f.disk.fault = [](std::string_view call) -> std::optional<ErrorCode> {
        return call == "create" ? std::optional(ErrorCode::io) : std::nullopt;
    };
    q.add_segment();
    CHECK(q.queue.drain() != 0);
    q.f.disk.fault = {};
    CHECK(q.queue.drain() == 0);
    CHECK(q.queue.state().failing);
    q.add(WriteJob::Kind::sync);
    CHECK(q.queue.drain() == 0);
    CHECK_FALSE(q.queue.state().failing);
}

TEST_CASE("a file that lost all it had stays when a later one is there", "[follow][series]") {
    QueueOfDisk q;
    q.f.records(1);
    ByteView segment = ByteView(q.f.ring.segment_memory(0)).first(4096);
    REQUIRE(q.series.put(segment).ok());
    // Nothing of the first is synced, and it can neither be cut nor removed for a while.
    q.f.disk.fault = [](std::string_view call) -> std::optional<ErrorCode> {
        return call != "create" && call != "append" && call != "half" ? std::optional(ErrorCode::io)
                                                                      : std::nullopt;
    };
    CHECK_FALSE(q.series.sync().ok());
    q.f.disk.fault = [](std::string_view call) -> std::optional<ErrorCode> {
        return call == "remove" || call == "cut" ? std::optional(ErrorCode::io) : std::nullopt;
    };
    REQUIRE(q.series.put(segment).ok());
    REQUIRE(q.series.sync().ok());
    q.f.disk.fault = {};
    REQUIRE(q.series.sync().ok());
    REQUIRE(q.series.rotate().ok());
    REQUIRE(q.series.put(segment).ok());
    REQUIRE(q.series.sync().ok());
    std::vector<uint32_t> numbers;
    for (const SeriesFile& file : q.series.files())
        numbers.push_back(file.parts.number);
    CHECK(numbers == std::vector<uint32_t>{1, 2, 3});
    CHECK(q.f.disk.files.begin()->second.empty());
}
