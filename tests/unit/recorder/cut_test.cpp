// SPDX-License-Identifier: Apache-2.0
#include "recorder/cut.hpp"

#include "recorder/pack.hpp"
#include "tests/support/file_row.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::recorder;
using base::Bytes;
using base::ByteView;
using daybreak::test::RingBuilder;
using daybreak::test::TemporaryFolder;

namespace {

constexpr uint64_t kPerSegment = 10;
constexpr uint64_t kSegmentNs = 10'000;

/// A ring of two CPUs: segment n has ten records, a microsecond apart, from n * 10 us on.
struct RingToCut {
    TemporaryFolder folder;
    RingBuilder ring;
    uint32_t epid;
    std::string whole = folder.path + "/whole.dbrk", part = folder.path + "/part.dbrk";

    explicit RingToCut(uint32_t clock = DBK_CLOCK_MONO_NS)
        : ring({.cpu_count = 2, .segments_per_cpu = 32, .clock = clock}),
          epid(ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)},
                            16)) {
        for (uint64_t segment = 1; segment <= 20; segment++)
            for (uint16_t cpu = 0; cpu < 2; cpu++)
                add_segment(cpu, segment * kSegmentNs);
    }
    void add_segment(uint16_t cpu, uint64_t from) {
        ring.open_segment(cpu, from);
        for (uint64_t i = 0; i < kPerSegment; i++)
            ring.record(cpu, epid, from + i * 1000, RingBuilder::words({i}));
    }
    /// Writes the recording, without the segments of these numbers.
    void write(const std::set<uint64_t>& absent = {}, const formats::TraceHeader* header = nullptr) {
        Bytes metadata = ring.metadata_memory();
        std::vector<ByteView> pieces, kept;
        formats::RecordingBuilder finder;
        finder.add_bytes(metadata, {"metadata"}, &pieces);
        for (uint16_t cpu = 0; cpu < 2; cpu++)
            finder.add_bytes(ring.segment_memory(cpu), {"ring"}, &pieces);
        for (ByteView piece : pieces) {
            dbk_segment_header segment;
            std::memcpy(&segment, piece.data(), sizeof(segment));
            if (segment.magic != DBK_SEGMENT_MAGIC || !absent.contains(segment.sequence))
                kept.push_back(piece);
        }
        test::write_bytes(whole, test::file_of(header ? *header : test::row_header(ring, 0), kept));
    }
    formats::Trace cut(const std::string& from, const std::string& to, uint64_t since,
                       uint64_t until) {
        auto trace = formats::read_trace(from).value();
        Cut cut = Cut::plan(trace.recording, {{since, until}, {}}).value();
        PackOptions options;
        options.output_path = to;
        options.cut = &cut;
        auto packed = pack(from, options);
        INFO((packed.ok() ? "" : packed.error().message()));
        REQUIRE(packed.ok());
        return formats::read_trace(to).value();
    }
    formats::Trace cut(uint64_t since, uint64_t until) { return cut(whole, part, since, until); }
};

const formats::CpuInfo& cpu_of(const formats::Trace& trace, size_t cpu = 0) {
    return trace.recording.rings.at(0).cpus.at(cpu);
}

std::vector<uint64_t> sequences(const formats::Trace& trace) {
    std::vector<uint64_t> found;
    for (const formats::SegmentInfo& segment : cpu_of(trace).segments)
        found.push_back(segment.sequence);
    return found;
}

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

Ranges left_out(const formats::Trace& trace) {
    Ranges found;
    for (const formats::LeftOut& one : cpu_of(trace).left_out)
        found.emplace_back(one.first_sequence, one.last_sequence);
    return found;
}

} // namespace

TEST_CASE("two segments stay before a window and one after it", "[recorder][cut]") {
    RingToCut f;
    f.write();
    formats::Trace trace = f.cut(10 * kSegmentNs + 5000, 12 * kSegmentNs + 5000);
    CHECK(sequences(trace) == std::vector<uint64_t>{8, 9, 10, 11, 12, 13});
    CHECK(left_out(trace) == Ranges{{1, 7}, {14, 20}});
    const formats::LeftOut& before = cpu_of(trace, 1).left_out.at(0);
    CHECK(before.records == 70);
    CHECK(before.from_mono_ns == kSegmentNs);
    CHECK(before.to_mono_ns == 7 * kSegmentNs + 9000);
    CHECK(before.pairs.empty());
    const formats::Completeness& sum = cpu_of(trace).completeness;
    CHECK(sum.committed == 200);
    CHECK(sum.present == 60);
    CHECK(sum.rotated == 140);
    CHECK_FALSE(trace.has_losses());
    CHECK(trace.recording.findings.count() == 0);
    REQUIRE(cpu_of(trace).gaps.size() == 2);
    CHECK(cpu_of(trace).gaps[1].left_out);
    REQUIRE(trace.recording.cut_window);
    CHECK(trace.recording.cut_window->since_mono_ns == 10 * kSegmentNs + 5000);
    CHECK(trace.recording.cut_window->until_mono_ns == 12 * kSegmentNs + 5000);
}

TEST_CASE("a window at the edge of a segment keeps what a reader looks at", "[recorder][cut]") {
    RingToCut f;
    f.write();
    SECTION("a record at its beginning belongs to it") {
        CHECK(sequences(f.cut(10 * kSegmentNs, 10 * kSegmentNs)) ==
              std::vector<uint64_t>{8, 9, 10, 11});
        std::filesystem::remove(f.part);
        CHECK(sequences(f.cut(9 * kSegmentNs + 9000, 9 * kSegmentNs + 9000)) ==
              std::vector<uint64_t>{7, 8, 9, 10});
    }
    SECTION("between two segments") {
        CHECK(sequences(f.cut(9 * kSegmentNs + 9001, 10 * kSegmentNs - 1)) ==
              std::vector<uint64_t>{8, 9, 10});
    }
    SECTION("without a beginning, without an end") {
        CHECK(left_out(f.cut(0, 3 * kSegmentNs)) == Ranges{{5, 20}});
        std::filesystem::remove(f.part);
        CHECK(left_out(f.cut(19 * kSegmentNs, UINT64_MAX)) == Ranges{{1, 16}});
    }
    SECTION("before all and after all a CPU keeps what says what is missing") {
        CHECK(sequences(f.cut(1, 2)) == std::vector<uint64_t>{1});
        std::filesystem::remove(f.part);
        CHECK(sequences(f.cut(30 * kSegmentNs, 31 * kSegmentNs)) == std::vector<uint64_t>{19, 20});
    }
}

TEST_CASE("what is lost outside the window stays lost, and damaged segments stay",
          "[recorder][cut]") {
    RingToCut f;
    f.ring.drop(0, DBK_DROP_NESTED, 4); // in segment 20
    f.write({3, 4, 17});
    formats::Trace whole = formats::read_trace(f.whole).value();
    formats::Trace trace = f.cut(10 * kSegmentNs, 11 * kSegmentNs);
    CHECK(left_out(trace) == Ranges{{1, 2}, {5, 7}, {13, 16}, {18, 20}});
    const formats::Completeness &sum = cpu_of(trace).completeness,
                                &all = cpu_of(whole).completeness;
    CHECK(sum.lost == 30);
    CHECK(sum.lost == all.lost);
    CHECK(sum.segments_missing == 3);
    CHECK(sum.drops[DBK_DROP_NESTED] == 4);
    CHECK(sum.drops_unseen[DBK_DROP_NESTED] == 0);
    CHECK(sum.intervals.size() == 1);
    CHECK(sum.intervals[0].from_mono_ns == 18 * kSegmentNs);
    CHECK(trace.recording.findings.count() == whole.recording.findings.count());
    CHECK(trace.recording.findings.list()[0].text == whole.recording.findings.list()[0].text);

    RingToCut damaged;
    damaged.ring.raw(0, RingBuilder::words({UINT64_MAX})); // segment 20
    damaged.write();
    trace = damaged.cut(10 * kSegmentNs, 11 * kSegmentNs);
    CHECK(sequences(trace).back() == 20);
    CHECK(left_out(trace) == Ranges{{1, 7}, {13, 19}});
    CHECK(cpu_of(trace).completeness.segments_damaged == 1);
}

TEST_CASE("a TSC's clock is that of the whole recording", "[recorder][cut]") {
    RingToCut f(DBK_CLOCK_TSC);
    f.ring.sleep(21 * kSegmentNs, 500); // the TSC starts anew
    for (uint64_t segment = 1; segment <= 5; segment++)
        f.add_segment(0, 1'000'000'000 + segment * kSegmentNs);
    f.write();
    formats::Trace whole = formats::read_trace(f.whole).value();
    formats::Trace trace = f.cut(10 * kSegmentNs, 11 * kSegmentNs);
    CHECK(left_out(trace) == Ranges{{1, 7}, {13, 25}});
    CHECK(cpu_of(trace).left_out.at(0).pairs.size() == 7);
    const formats::ClockModel &clock = trace.recording.rings[0].clock,
                              &of_whole = whole.recording.rings[0].clock;
    REQUIRE(clock.epochs().size() == of_whole.epochs().size());
    CHECK(clock.anchors().size() == of_whole.anchors().size());
    CHECK(clock.mono_ns(2'000'000'000) == of_whole.mono_ns(2'000'000'000));
    for (const formats::SegmentInfo& segment : cpu_of(trace).segments) {
        const formats::SegmentInfo& same = cpu_of(whole).segments[segment.sequence - 1];
        CHECK(segment.last_epoch == same.last_epoch);
    }
}

TEST_CASE("a window of a window leaves out both", "[recorder][cut]") {
    RingToCut f;
    f.write();
    f.cut(5 * kSegmentNs, 15 * kSegmentNs);
    std::string again = f.folder.path + "/again.dbrk";
    formats::Trace trace = f.cut(f.part, again, 10 * kSegmentNs, 11 * kSegmentNs);
    CHECK(left_out(trace) == Ranges{{1, 7}, {13, 20}});
    CHECK(cpu_of(trace).completeness.rotated == 150);
    CHECK(trace.recording.cut_window->since_mono_ns == 10 * kSegmentNs);
    SECTION("packing it changes nothing") {
        auto packed = pack(again, {.even_if_larger = true});
        REQUIRE(packed.ok());
        CHECK(left_out(formats::read_trace(again).value()) == Ranges{{1, 7}, {13, 20}});
    }
}

TEST_CASE("what other files have was not left out", "[recorder][cut]") {
    RingToCut f;
    f.write();
    f.cut(10 * kSegmentNs, 11 * kSegmentNs);
    std::string other = f.folder.path + "/other.dbrk";
    f.cut(f.whole, other, 5 * kSegmentNs, 6 * kSegmentNs);
    SECTION("the whole recording") {
        formats::Trace all = formats::read_traces(std::vector{f.whole, f.part}).value();
        CHECK(cpu_of(all).left_out.empty());
        CHECK(cpu_of(all).completeness.present == 200);
        CHECK_FALSE(all.recording.cut_window);
    }
    SECTION("another window") {
        formats::Trace both = formats::read_traces(std::vector{other, f.part}).value();
        CHECK(sequences(both) == std::vector<uint64_t>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
        CHECK(left_out(both) == Ranges{{1, 2}, {13, 20}});
        CHECK(cpu_of(both).completeness.rotated == 100);
        CHECK_FALSE(both.has_losses());
    }
    SECTION("windows with a hole between") {
        std::string late = f.folder.path + "/late.dbrk";
        f.cut(f.whole, late, 17 * kSegmentNs, 17 * kSegmentNs);
        formats::Trace both = formats::read_traces(std::vector{other, late}).value();
        CHECK(left_out(both) == Ranges{{1, 2}, {8, 14}, {19, 20}});
        CHECK(cpu_of(both).completeness.rotated == 110);
        CHECK(cpu_of(both).completeness.lost == 0);
    }
}

TEST_CASE("a snapshot's window stays, and what is before it", "[recorder][cut]") {
    RingToCut f;
    formats::TraceHeader header = test::row_header(f.ring, 0);
    header.window_from_ns = 5 * kSegmentNs;
    header.window_to_ns = 20 * kSegmentNs;
    f.write({1, 2, 3}, &header);
    formats::Trace trace = f.cut(10 * kSegmentNs, 11 * kSegmentNs);
    CHECK(left_out(trace) == Ranges{{4, 7}, {13, 20}});
    CHECK(cpu_of(trace).completeness.rotated == 150);
    CHECK_FALSE(cpu_of(trace).gaps.at(0).left_out);
    CHECK(trace.recording.window_to_ns == 20 * kSegmentNs);
    CHECK_FALSE(trace.has_losses());
}

TEST_CASE("a file that changes between is an error", "[recorder][cut]") {
    RingToCut f;
    f.write();
    auto trace = formats::read_trace(f.whole).value();
    Cut cut = Cut::plan(trace.recording, {{10 * kSegmentNs, 11 * kSegmentNs}, {}}).value();
    f.write({1});
    PackOptions options;
    options.output_path = f.part;
    options.cut = &cut;
    CHECK(pack(f.whole, options).error().code() == base::ErrorCode::corrupt);
    CHECK_FALSE(std::filesystem::exists(f.part));
}

TEST_CASE("nothing is left out of rings that must be whole", "[recorder][cut]") {
    RingToCut f;
    f.write();
    auto trace = formats::read_trace(f.whole).value();
    Cut cut = Cut::plan(trace.recording, {{1, 2}, {f.ring.options().ring_id}}).value();
    CHECK(cut.window().left_out.empty());
    CHECK(cut.counts().records_kept == 400);
}
