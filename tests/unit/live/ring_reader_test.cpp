// SPDX-License-Identifier: Apache-2.0
#include "live/ring_reader.hpp"

#include "formats/segment/recording.hpp"
#include "tests/unit/recorder/fake_device.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace daybreak;
using namespace daybreak::live;
using daybreak::test::FakeDevice;
using daybreak::test::RingBuilder;

namespace {

/// A ring of one CPU with four segments of 248 records each.
struct Fixture {
    RingBuilder ring;
    uint32_t read;
    FakeDevice device;
    uint64_t now_ns = 0;

    explicit Fixture(uint32_t policy)
        : ring({.policy = policy, .activity = DBK_ACTIVITY_ACTIVE, .aggbuf_bytes = 4096}),
          read(ring.add_ecb(ring.add_probe("syscall", "vmlinux", "read", "entry"),
                            {RingBuilder::integer_field(8, 8)}, 16)),
          device(ring) {}

    void records(uint64_t count) {
        for (uint64_t i = 0; i < count; i++, next_++)
            ring.record(0, read, 1000 + next_, RingBuilder::words({next_}));
    }
    formats::RingPieces poll(RingReader& live) {
        return live.poll({.records = true}, [this] { return now_ns; }).value();
    }

private:
    uint64_t next_ = 0;
};

std::vector<uint64_t> sequences(const formats::RingPieces& pieces) {
    std::vector<uint64_t> found;
    for (const Bytes& segment : pieces.segments) {
        uint64_t sequence;
        std::memcpy(&sequence, segment.data() + offsetof(dbk_segment_header, sequence), 8);
        found.push_back(sequence);
    }
    return found;
}

constexpr uint64_t kMarginNs = 1'000'000;
using Sequences = std::vector<uint64_t>;

} // namespace

TEST_CASE("polling a switching ring brings each segment until it is whole", "[recorder][live]") {
    Fixture f(DBK_POLICY_SWITCH);
    f.now_ns = 100'000'000;
    auto live = RingReader::open(f.device, 1);
    REQUIRE(live.ok());
    CHECK(live->activity() == DBK_ACTIVITY_ACTIVE);
    CHECK(f.poll(*live).segments.empty());
    f.records(10);
    formats::RingPieces pieces = f.poll(*live);
    CHECK(sequences(pieces) == Sequences{1});
    CHECK(pieces.horizon_mono_ns == f.now_ns - kMarginNs);
    CHECK(!pieces.metadata.empty());
    CHECK(f.device.released[0] == 0); // nothing of the ring, but a counted buffer is empty
    size_t bytes = pieces.segments[0].size();
    f.records(10);
    pieces = f.poll(*live);
    CHECK(sequences(pieces) == Sequences{1});
    CHECK(pieces.segments[0].size() > bytes);
    f.records(400);
    CHECK(sequences(f.poll(*live)) == Sequences{1, 2});
    CHECK(f.device.released[0] == 1);
    CHECK(sequences(f.poll(*live)) == Sequences{2});
}

TEST_CASE("what lies after the horizon is kept beyond its release", "[recorder][live]") {
    Fixture f(DBK_POLICY_SWITCH);
    f.now_ns = kMarginNs; // older than all records
    auto live = RingReader::open(f.device, 1);
    f.records(600);
    CHECK(sequences(f.poll(*live)) == Sequences{1, 2, 3});
    CHECK(f.device.released[0] == 2);
    f.records(600); // its slots are used again
    CHECK(sequences(f.poll(*live)) == Sequences{1, 2, 3, 4, 5});
    f.now_ns = 100'000'000;
    CHECK(sequences(f.poll(*live)) == Sequences{1, 2, 3, 4, 5});
    CHECK(sequences(f.poll(*live)) == Sequences{5});
}

TEST_CASE("rings of other policies are read when they have stopped", "[recorder][live]") {
    Fixture f(GENERATE(DBK_POLICY_RING, DBK_POLICY_FILL));
    auto live = RingReader::open(f.device, 1);
    f.records(300);
    formats::RingPieces pieces = f.poll(*live);
    CHECK(pieces.segments.empty());
    CHECK(!pieces.metadata.empty());
    CHECK(pieces.horizon_mono_ns == uint64_t{0});
    live->set_stopped();
    pieces = f.poll(*live);
    CHECK(sequences(pieces) == Sequences{1, 2});
    CHECK(!pieces.horizon_mono_ns);
    CHECK(f.device.released.empty());
}

TEST_CASE("the last poll brings all that is left", "[recorder][live]") {
    Fixture f(DBK_POLICY_SWITCH);
    f.now_ns = kMarginNs;
    auto live = RingReader::open(f.device, 1);
    f.records(300);
    CHECK(sequences(f.poll(*live)) == Sequences{1, 2});
    live->set_stopped();
    CHECK(sequences(f.poll(*live)) == Sequences{1, 2});
}

TEST_CASE("a ring that is not there cannot be polled", "[recorder][live]") {
    Fixture f(DBK_POLICY_SWITCH);
    auto live = RingReader::open(f.device, 7);
    REQUIRE(!live.ok());
    CHECK(live.error().code() == ErrorCode::not_found);
}
