// SPDX-License-Identifier: Apache-2.0
//
// A window that was cut out of a recording reads as the window of the whole recording: report,
// messages, completeness; and what was left out does not count as lost.
//
//     random recording --> file --> report of a window   == report of the window
//                           |--cut--> file ---^               ^--- report of all, of a window in it
//                                      |--cut again--> file ---'
#include "analyze/decode/small_ring.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/report.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/reader.hpp"
#include "recorder/pack.hpp"
#include "tests/support/file_row.hpp"
#include "tests/unit/analyze/program_builder.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace daybreak;
using namespace daybreak::test;

namespace {

using analyze::TimeWindow;

/// Rings of all sorts: either clock, a machine that slept, wrapped, dropped, damaged, with holes;
/// clauses that print, that only aggregate, that are of one firing, and speculations.
class RandomRecording {
public:
    explicit RandomRecording(uint64_t seed) : random_(seed) {
        is_tsc_ = chance(2);
        in_engine_ = chance(4);
        RingBuilderOptions options;
        options.cpu_count = static_cast<uint16_t>(1 + random_() % 3);
        options.segments_per_cpu = static_cast<uint32_t>(8 + random_() % 24);
        options.clock = is_tsc_ ? DBK_CLOCK_TSC : DBK_CLOCK_MONO_NS;
        options.ticks_per_second = is_tsc_ ? 2'000'000'000 : 1'000'000'000;
        options.start_boot_ns = 500;
        options.aggregate = in_engine_ ? DBK_AGGREGATE_ENGINE : DBK_AGGREGATE_RECORD;
        options.activity = chance(2) ? DBK_ACTIVITY_STOPPED : DBK_ACTIVITY_ACTIVE;
        traced_ = program_.clause("syscall", "vmlinux", "read", "entry");
        program_.trace(traced_, Member::integer(8));
        returned_ = program_.clause("syscall", "vmlinux", "read", "return");
        program_.printf(returned_, "%d\n", {Member::integer(8)});
        counted_ = program_.clause("profile", "", "", "tick-1");
        program_.aggregate(counted_, 1, {DTRACEAGG_COUNT, 0}, {Member::integer(8)});
        if (chance(3))
            program_.option(DTRACEOPT_BUFSIZE, 512); // a ring of less than a segment
        recording_.emplace(program_, options);
        fill(1500 + random_() % 3000);
    }

    /// The pieces as a recorder has them, some of them gone.
    Bytes file(bool columns) {
        Bytes file;
        auto sink = [&](ByteView bytes) {
            file.insert(file.end(), bytes.begin(), bytes.end());
            return base::Result<void>();
        };
        formats::TraceHeader header = row_header(ring(), 0);
        if (chance(5)) { // a snapshot of a window
            header.window_from_ns = times_[times_.size() / 3];
            header.window_to_ns = times_.back();
        }
        formats::TraceWriterOptions options{
            .zstd_level = 1, .block_raw_bytes = 8192u << (random_() % 4), .columns = columns};
        auto writer = formats::TraceWriter::create(sink, header, options).value();
        std::vector<Bytes> memory = recording_->pieces();
        std::vector<ByteView> pieces;
        formats::RecordingBuilder finder;
        for (const Bytes& bytes : memory)
            finder.add_bytes(bytes, {"memory"}, &pieces);
        formats::metadata_first(pieces);
        bool has_holes = chance(3);
        for (ByteView piece : pieces) {
            bool is_segment =
                formats::parse_piece(piece).value().kind == formats::PieceKind::segment;
            if (!is_segment || !has_holes || !chance(10))
                REQUIRE(writer.add_piece(piece).ok());
        }
        REQUIRE(writer.finish({}).ok());
        return file;
    }

    /// CLOCK_MONOTONIC, on a record, beside one, between two, or within a firing.
    uint64_t time() {
        if (!edges_.empty() && chance(3))
            return edges_[random_() % edges_.size()];
        uint64_t at = times_[random_() % times_.size()];
        return chance(3) ? at : at + random_() % 2'000'001 - std::min<uint64_t>(at, 1'000'000);
    }
    bool chance(uint64_t in) { return random_() % in == 0; }

private:
    RingBuilder& ring() { return recording_->ring(); }

    void fill(int count) {
        uint64_t ticks = 1'000'000;
        for (int i = 0; i < count; i++) {
            ticks += chance(400) ? 2'000'000'000 : random_() % 100'000;
            auto cpu = static_cast<uint16_t>(random_() % ring().options().cpu_count);
            if (is_tsc_ && chance(1500)) { // it sleeps, and the TSC starts anew
                uint64_t before = ticks;
                ticks = 1'000'000;
                ring().sleep(before, ticks);
                for (uint16_t each = 0; each < ring().options().cpu_count; each++)
                    ring().open_segment(each, ticks);
            }
            times_.push_back(ring().mono_of(ticks));
            fire(cpu, ticks);
        }
    }

    void fire(uint16_t cpu, uint64_t ticks) {
        switch (random_() % 40) {
        case 0:
            ring().drop(cpu, chance(2) ? DBK_DROP_NESTED : DBK_DROP_PRINCIPAL,
                        static_cast<uint32_t>(1 + random_() % 5));
            return;
        case 1:
            if (chance(20)) { // the rest of the segment cannot be read
                ring().open_segment(cpu, ticks);
                recording_->fire(cpu, ticks, traced_, {uint64_t{1}});
                ring().raw(cpu, RingBuilder::words({UINT64_MAX}));
                ring().open_segment(cpu, ticks);
            }
            return;
        case 2:
            if (chance(10))
                commit(cpu, ticks);
            return;
        case 3:
            if (in_engine_)
                snapshot(cpu);
            return;
        default:
            break;
        }
        size_t clause = random_() % 3 == 0 ? returned_ : chance(2) ? counted_ : traced_;
        recording_->fire(cpu, ticks, clause, {random_() % 4});
        if (!chance(4))
            return;
        if (chance(8)) { // a firing that goes on in the next segment
            ring().open_segment(cpu, ticks + 300);
            edges_.push_back(ring().mono_of(ticks + 150));
        }
        // A second clause, a little later.
        recording_->fire(cpu, ticks + 300, chance(2) ? counted_ : clause, {random_() % 4}, true);
    }

    /// A record of long ago that a commit() puts here, in a segment of its own.
    void commit(uint16_t cpu, uint64_t ticks) {
        ring().open_segment(cpu, ticks);
        uint64_t made = ticks - std::min<uint64_t>(ticks / 2, random_() % 50'000'000);
        dbk_control_commit control = {{0, DBK_CONTROL_COMMIT, sizeof(control)}, ticks, 32, 1};
        dbk_control_time_base base = {{0, DBK_CONTROL_TIME_BASE, sizeof(base)}, made};
        dbk_record_header record = {recording_->epid(traced_), 0};
        Bytes bytes;
        RingBuilder::append(bytes, &control, sizeof(control));
        RingBuilder::append(bytes, &base, sizeof(base));
        RingBuilder::append(bytes, &record, sizeof(record));
        RingBuilder::append(bytes, RingBuilder::words({77}).data(), 8);
        ring().raw(cpu, bytes);
        ring().facts(cpu).records++;
        ring().open_segment(cpu, ticks);
    }

    void snapshot(uint16_t cpu) {
        std::vector<uint64_t> cells = {1 + random_() % 9};
        recording_->snapshot(cpu, ++snapshots_, recording_->entry(counted_, {random_() % 4}, cells));
    }

    std::mt19937_64 random_;
    bool is_tsc_ = false, in_engine_ = false;
    ProgramBuilder program_;
    size_t traced_ = 0, returned_ = 0, counted_ = 0;
    std::optional<RecordingOf> recording_;
    std::vector<uint64_t> times_, edges_;
    uint64_t snapshots_ = 0;
};

struct Read {
    std::string report, verdict;
    std::vector<std::string> messages;
    int status = 0;
    uint64_t records = 0;

    bool operator==(const Read&) const = default;
};

formats::Trace open(const std::string& path, bool skim) {
    formats::ReadOptions options;
    options.skim = skim;
    auto trace = formats::read_traces(std::span(&path, 1), options);
    INFO(path << (trace.ok() ? "" : trace.error().message()));
    REQUIRE(trace.ok());
    return std::move(*trace);
}

/// `asked` not set: what the file itself is cut to, as daybreak report does.
Read read(const formats::Recording& recording, const TimeWindow& asked, bool flowindent) {
    analyze::ReportOptions options;
    options.window = asked.is_set() ? asked : analyze::cut_window_of(recording);
    options.output.flowindent = flowindent;
    analyze::StringSink sink;
    analyze::Report report = analyze::render_report(recording, options, sink);
    Read read{sink.text, analyze::completeness_of(recording, asked).verdict(), {}, report.status(),
              report.records};
    for (const analyze::Message& message : sink.messages)
        read.messages.push_back(message.tag + message.text + message.detail);
    return read;
}

/// Whether a ring is less than a segment: nothing of it may be left out.
std::set<uint16_t> whole_rings(const formats::Recording& recording) {
    std::set<uint16_t> rings;
    for (const auto& [cpu, start] : analyze::small_ring_starts(recording))
        rings.insert(cpu.first);
    return rings;
}

recorder::CutCounts cut(const std::string& from, const std::string& to, const TimeWindow& window,
                        bool columns) {
    formats::Trace trace = open(from, true);
    auto planned = recorder::Cut::plan(
        trace.recording,
        {{window.since_ns(), window.until_ns()}, whole_rings(trace.recording)});
    REQUIRE(planned.ok());
    recorder::PackOptions options;
    options.output_path = to;
    options.replace = true;
    options.writer.columns = columns;
    options.cut = &*planned;
    auto packed = recorder::pack(from, options);
    INFO((packed.ok() ? "" : packed.error().message()));
    REQUIRE(packed.ok());
    return planned->counts();
}

/// What a cut may not change of the whole: rotated is what was left out, and was before.
void check_accounts(const formats::Recording& got, const formats::Recording& whole) {
    REQUIRE(got.rings.size() == whole.rings.size());
    for (size_t ring = 0; ring < whole.rings.size(); ring++) {
        REQUIRE(got.rings[ring].cpus.size() == whole.rings[ring].cpus.size());
        for (size_t cpu = 0; cpu < whole.rings[ring].cpus.size(); cpu++) {
            const formats::Completeness& a = got.rings[ring].cpus[cpu].completeness;
            const formats::Completeness& b = whole.rings[ring].cpus[cpu].completeness;
            CHECK(a.present + a.rotated == b.present + b.rotated);
            CHECK(a.committed == b.committed);
            CHECK(a.overwritten == b.overwritten);
            CHECK(a.lost == b.lost);
            CHECK(a.lost_known == b.lost_known);
            CHECK(a.segments_missing == b.segments_missing);
            CHECK(a.segments_damaged == b.segments_damaged);
            CHECK(a.not_copied == b.not_copied);
            CHECK(a.drops == b.drops);
            CHECK(a.drops_unseen == b.drops_unseen);
        }
    }
    CHECK(got.findings.count() == whole.findings.count());
}

} // namespace

TEST_CASE("a window that was cut out reads as the window of the whole", "[prop][window]") {
    uint64_t left_out = 0, records = 0, with_losses = 0;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        CAPTURE(seed);
        RandomRecording random(seed);
        TemporaryFolder folder;
        const std::string whole_path = folder.path + "/whole.dbrk",
                          cut_path = folder.path + "/cut.dbrk",
                          again_path = folder.path + "/again.dbrk";
        write_bytes(whole_path, random.file(random.chance(2)));
        formats::Trace whole = open(whole_path, false);
        for (int i = 0; i < 6; i++) {
            uint64_t since = random.time(), until = random.time();
            TimeWindow window{std::min(since, until), std::max(since, until)};
            if (random.chance(5))
                window.since_mono_ns.reset();
            else if (random.chance(5))
                window.until_mono_ns.reset();
            TimeWindow within = window;
            uint64_t middle = window.since_ns() / 2 + window.until_ns() / 2;
            (random.chance(2) ? within.since_mono_ns : within.until_mono_ns) = middle;
            CAPTURE(window.since_ns(), window.until_ns(), middle);
            recorder::CutCounts counts = cut(whole_path, cut_path, window, random.chance(2));
            cut(cut_path, again_path, within, random.chance(2));
            formats::Trace part = open(cut_path, false), again = open(again_path, false);
            bool flow = random.chance(2);
            Read expected = read(whole.recording, window, flow);
            CHECK(read(part.recording, window, flow) == expected);
            CHECK(read(part.recording, {}, flow) == expected);
            CHECK(read(open(cut_path, true).recording, window, flow) == expected);
            Read expected_within = read(whole.recording, within, flow);
            CHECK(read(part.recording, within, flow) == expected_within);
            CHECK(read(again.recording, {}, flow) == expected_within);
            check_accounts(part.recording, whole.recording);
            check_accounts(again.recording, whole.recording);
            left_out += counts.segments_left_out;
            records += expected.records;
            with_losses += expected.status != 0;
        }
    }
    CHECK(left_out > 2000);
    CHECK(records > 25'000);
    CHECK(with_losses > 25);
}
