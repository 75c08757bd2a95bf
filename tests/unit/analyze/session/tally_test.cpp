// SPDX-License-Identifier: Apache-2.0
//
// What is tallied prints as what is merged record by record.
#include "analyze/live_report.hpp"
#include "base/byte_source.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"
#include "tests/unit/analyze/program_builder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <random>

using namespace daybreak;
using namespace daybreak::analyze;
using namespace daybreak::test;

namespace {

struct Printed {
    std::string text;
    PrintedRecords records;
};

/// Of a ring that grows every record is merged.
Printed print(const formats::Recording& recording, const TimeWindow& window, bool merge_all,
              const WantedProbes& probes = {}) {
    StringSink sink;
    ReportOptions options;
    options.window = window;
    options.probes = probes;
    options.grows = merge_all;
    ReportSession session(options, sink);
    session.feed(recording, {});
    session.end();
    return {sink.text, session.printed()};
}

void check_same(const Printed& got, const Printed& expected) {
    REQUIRE(got.text == expected.text);
    REQUIRE(got.records.count == expected.records.count);
    REQUIRE(got.records.first_boot_ns == expected.records.first_boot_ns);
    REQUIRE(got.records.last_boot_ns == expected.records.last_boot_ns);
}

/// Clauses that print, and some that only aggregate, by all that a key may have.
struct Program {
    ProgramBuilder builder;
    std::vector<size_t> prints, counts;

    explicit Program(std::mt19937_64& random) {
        builder.option(DTRACEOPT_QUIET);
        for (int i = 0; i < 2; i++) {
            prints.push_back(clause("print" + std::to_string(i)));
            builder.printf(prints.back(), "printed %d of %s\n",
                           {Member::integer(8), Member::text()});
        }
        const std::vector<std::vector<Member>> keys = {
            {},
            {Member::text()},
            {Member::text(), Member::text()},
            {Member::integer(4), Member::text(), Member::integer(1)},
            {Member::integer(2), Member::integer(24)},
            {Member::stack()},
        };
        const uint32_t kinds[] = {DTRACEAGG_COUNT,   DTRACEAGG_SUM, DTRACEAGG_MIN,
                                  DTRACEAGG_MAX,     DTRACEAGG_AVG, DTRACEAGG_STDDEV,
                                  DTRACEAGG_QUANTIZE};
        for (uint32_t variable = 1; variable <= 5; variable++) {
            counts.push_back(clause("count" + std::to_string(variable)));
            key_of_.push_back(keys[random() % keys.size()]);
            kind_of_.push_back(kinds[random() % std::size(kinds)]);
            builder.aggregate(counts.back(), variable, {kind_of_.back(), 0}, key_of_.back());
        }
        both = clause("both");
        builder.trace(both, Member::integer(8));
        builder.aggregate(both, 9, {DTRACEAGG_COUNT, 0}, {Member::text()});
    }
    size_t clause(const std::string& name) { return builder.clause("test", "", name, "fire"); }

    std::vector<FieldValue> values(size_t which, std::mt19937_64& random) const {
        std::vector<FieldValue> values;
        for (const Member& member : key_of_[which])
            if (member.shape == DBK_FIELD_STRING)
                values.emplace_back("key" + std::string(random() % 14, 'x'));
            else if (member.shape == DBK_FIELD_STACK)
                values.emplace_back(Frames(random() % 3, 0xffffffff81000000 + random() % 2));
            else
                values.emplace_back(random() % 5 == 0 ? UINT64_MAX >> (random() % 40)
                                                      : random() % 5);
        if (kind_of_[which] != DTRACEAGG_COUNT)
            values.emplace_back(random() % 1000 - 500);
        return values;
    }
    size_t both = 0;

private:
    std::vector<std::vector<Member>> key_of_;
    std::vector<uint32_t> kind_of_;
};

/// Firings of one to three records, most of which only aggregate, so that many begin in one
/// segment and end in the next.
void fire(RecordingOf& recording, const Program& program, std::mt19937_64& random, unsigned cpus) {
    uint64_t ticks = 1000, printed = 1 + random() % 200;
    for (int i = 0; i < 3000; i++) {
        ticks += random() % 3;
        auto cpu = static_cast<uint16_t>(random() % cpus);
        size_t records = 1 + random() % 3;
        for (size_t at = 0; at < records; at++) {
            if (random() % printed == 0) {
                std::string text(random() % 9, 'p');
                if (random() % 2)
                    recording.fire(cpu, ticks, program.both, {random() % 100, text}, at > 0);
                else
                    recording.fire(cpu, ticks, program.prints[random() % 2], {random() % 100, text},
                                   at > 0);
                continue;
            }
            size_t which = random() % program.counts.size();
            recording.fire(cpu, ticks, program.counts[which], program.values(which, random),
                           at > 0);
            ticks += random() % 8 == 0; // a firing takes time
        }
    }
}

Bytes file_of(RecordingOf& recording, bool columns, size_t block_bytes) {
    Bytes file;
    auto writer = formats::TraceWriter::create(
        [&](ByteView bytes) {
            file.insert(file.end(), bytes.begin(), bytes.end());
            return base::Result<void>();
        },
        {}, {.block_raw_bytes = block_bytes, .columns = columns});
    REQUIRE(writer.ok());
    formats::RecordingBuilder finder;
    std::vector<Bytes> memory = recording.pieces();
    std::vector<ByteView> pieces;
    for (auto range = memory.rbegin(); range != memory.rend(); ++range)
        finder.add_bytes(*range, {}, &pieces);
    std::stable_partition(pieces.begin(), pieces.end(), [](ByteView piece) {
        return formats::parse_piece(piece)->kind == formats::PieceKind::metadata;
    });
    for (ByteView piece : pieces)
        REQUIRE(writer->add_piece(piece).ok());
    REQUIRE(writer->finish({}).ok());
    return file;
}

} // namespace

TEST_CASE("what is tallied prints as what is merged", "[analyze][tally]") {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        Program program(random);
        auto cpus = static_cast<uint16_t>(1 + random() % 3);
        RecordingOf recording(
            program.builder,
            {.cpu_count = cpus, .segments_per_cpu = 256, .policy = DBK_POLICY_FILL});
        fire(recording, program, random, cpus);
        formats::Recording memory = recording.build();
        std::vector<formats::Trace> traces;
        for (bool columns : {false, true})
            for (size_t block_bytes : {size_t{6000}, size_t{1} << 20}) {
                auto trace = formats::parse_trace(
                    base::memory_source(file_of(recording, columns, block_bytes)), "test");
                REQUIRE(trace.ok());
                traces.push_back(std::move(*trace));
            }
        for (const TimeWindow& window :
             {TimeWindow{}, TimeWindow{1500, std::nullopt}, TimeWindow{1200, 4000}}) {
            Printed merged = print(memory, window, true);
            CHECK(merged.records.count > 0);
            check_same(print(memory, window, false), merged);
            for (const formats::Trace& trace : traces) {
                for (const formats::Finding& finding : trace.recording.findings.list())
                    FAIL_CHECK(finding.where << ": " << finding.text);
                check_same(print(trace.recording, window, false), merged);
            }
        }
    }
}

namespace {

/// Three probes with a clause that counts and one that prints, too; of those only what `probe` did
/// is recorded when it is given.
RecordingOf three_probes(ProgramBuilder& program, uint64_t seed, std::optional<size_t> probe) {
    std::mt19937_64 random(seed);
    std::vector<size_t> counts, prints;
    program.option(DTRACEOPT_QUIET);
    for (uint32_t i = 0; i < 3; i++) {
        std::string name = "fire" + std::to_string(i);
        counts.push_back(program.clause("test", "", "f", name));
        program.aggregate(counts[i], i + 1, {DTRACEAGG_SUM, 0}, {Member::text()});
        prints.push_back(program.clause("test", "", "f", name));
        program.printf(prints[i], name + " printed %d\n", {Member::integer(8)});
    }
    RecordingOf recording(program,
                          {.cpu_count = 2, .segments_per_cpu = 256, .policy = DBK_POLICY_FILL});
    uint64_t ticks = 1000, printed = 1 + random() % 300;
    for (int i = 0; i < 3000; i++) {
        ticks += 1 + random() % 3;
        auto cpu = static_cast<uint16_t>(random() % 2);
        size_t which = random() % 3;
        uint64_t value = random() % 100;
        bool prints_first = random() % printed == 0, prints_last = random() % printed == 0;
        if (probe && which != *probe)
            continue;
        if (prints_first)
            recording.fire(cpu, ticks, prints[which], {value});
        recording.fire(cpu, ticks, counts[which], {std::string(value % 9, 'k'), value},
                       prints_first);
        if (prints_last)
            recording.fire(cpu, ticks, prints[which], {value + 1}, true);
    }
    return recording;
}

} // namespace

TEST_CASE("records of some probes print as if there were no others", "[analyze][tally][probe]") {
    for (uint64_t seed = 1; seed <= 30; seed++) {
        ProgramBuilder all_program, one_program;
        RecordingOf all = three_probes(all_program, seed, std::nullopt);
        size_t probe = seed % 3;
        formats::Recording one = three_probes(one_program, seed, probe).build();
        WantedProbes wanted("test:::fire?");
        formats::Recording memory = all.build();
        for (const auto& [id, info] : memory.rings[0].probes)
            if (info.name == "fire" + std::to_string(probe))
                wanted.add(memory.rings[0].ring_id, id);
        for (const TimeWindow& window : {TimeWindow{}, TimeWindow{2500, 4000}}) {
            CAPTURE(seed, probe, window.is_set());
            Printed expected = print(one, window, true);
            REQUIRE(expected.records.count > 0);
            auto check = [&](const Printed& got) {
                REQUIRE(got.text == expected.text);
                REQUIRE(got.records.count == expected.records.count);
            };
            check(print(memory, window, true, wanted));
            check(print(memory, window, false, wanted));
            for (bool columns : {false, true}) {
                auto trace =
                    formats::parse_trace(base::memory_source(file_of(all, columns, 6000)), "test");
                REQUIRE(trace.ok());
                check(print(trace->recording, window, false, wanted));
                CHECK(trace->recording.all_findings().count() == 0);
            }
        }
    }
}

TEST_CASE("nothing is tallied where order can be seen", "[analyze][tally]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t count = program.clause("test", "", "f", "fire");
    program.aggregate(count, 1, {DTRACEAGG_COUNT, 0}, {});
    size_t show = program.clause("test", "", "g", "fire");
    program.printa(show, {1}, "%@d\n");
    RecordingOf recording(program, {.cpu_count = 2});
    for (uint64_t ticks = 100; ticks < 110; ticks++)
        recording.fire(0, ticks, count, {});
    recording.fire(1, 104, show, {uint64_t{1}});
    CHECK(print(recording.build(), {}, false).text == "5\n");
}

TEST_CASE("a ring that is fed again, longer, counts once", "[analyze][tally]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t count = program.clause("test", "", "f", "fire");
    program.aggregate(count, 1, {DTRACEAGG_COUNT, 0}, {});
    RecordingOf recording(program, {.cpu_count = 2});
    StringSink sink;
    LiveReport live({}, sink);
    for (uint64_t ticks = 100; ticks < 110; ticks++) {
        recording.fire(ticks % 2, ticks, count, {});
        formats::RingPieces pieces;
        pieces.segments = recording.pieces();
        live.add(std::move(pieces), {true, true, true});
    }
    live.end();
    CHECK(sink.text.find(" 10\n") != std::string::npos);
}

TEST_CASE("keys of every length are counted whole", "[analyze][tally]") {
    for (size_t length : {0, 100, 119, 120, 200, 224, 228, 231, 232, 236, 240, 250}) {
        for (bool text_first : {true, false}) {
            CAPTURE(length, text_first);
            ProgramBuilder program;
            program.option(DTRACEOPT_QUIET);
            size_t count = program.clause("test", "", "f", "fire");
            std::vector<Member> key(14, Member::integer(8));
            std::vector<FieldValue> values(14, uint64_t{7});
            auto at = static_cast<ptrdiff_t>(text_first ? 0 : 14);
            key.insert(key.begin() + at, Member::text());
            values.insert(values.begin() + at, std::string(length, 'k'));
            program.aggregate(count, 1, {DTRACEAGG_COUNT, 0}, key);
            RecordingOf recording(program);
            for (uint64_t ticks = 100; ticks < 105; ticks++)
                recording.fire(0, ticks, count, values);
            formats::Recording built = recording.build();
            Printed tallied = print(built, {}, false);
            CHECK(tallied.text.find(std::string(length, 'k')) != std::string::npos);
            check_same(tallied, print(built, {}, true));
        }
    }
}

TEST_CASE("texts that are the same one after the other are different keys", "[analyze][tally]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t count = program.clause("test", "", "f", "fire");
    program.aggregate(count, 1, {DTRACEAGG_SUM, 0},
                      {Member::text(), Member::text(), Member::integer(2)});
    RecordingOf recording(program);
    uint64_t ticks = 100;
    const std::string text = "abcdefgh12345678";
    for (uint64_t round = 1; round <= 3; round++)
        for (size_t first = 0; first <= text.size(); first++)
            recording.fire(0, ticks++, count,
                           {text.substr(0, first), text.substr(first), uint64_t{7}, round});
    formats::Recording built = recording.build();
    Printed tallied = print(built, {}, false);
    CHECK(std::count(tallied.text.begin(), tallied.text.end(), '\n') ==
          static_cast<ptrdiff_t>(text.size() + 1));
    CHECK(tallied.records.count == 3 * (text.size() + 1));
    check_same(tallied, print(built, {}, true));
}

TEST_CASE("a text that is said to lie among the numbers is read there", "[analyze][tally]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t sum = program.clause("test", "", "f", "fire");
    program.aggregate(sum, 1, {DTRACEAGG_SUM, 0}, {Member::text()});
    RecordingOf recording(program);
    recording.spoil = [](Bytes& body) {
        constexpr size_t kRef = 4, kNumber = 8; // after the length
        dbk_tail_ref ref{sizeof(dbk_record_header) + kNumber, sizeof(uint64_t)};
        std::memcpy(body.data() + kRef, &ref, sizeof(ref));
    };
    for (uint64_t ticks = 100; ticks < 110; ticks++)
        recording.fire(0, ticks, sum, {"text", uint64_t{ticks % 2 == 0 ? 0x41u : 0x42u}});
    formats::Recording built = recording.build();
    Printed tallied = print(built, {}, false);
    CHECK(tallied.text.find("A ") != std::string::npos);
    CHECK(tallied.text.find("B ") != std::string::npos);
    check_same(tallied, print(built, {}, true));
}

TEST_CASE("a block of columns may have a key for each of its records", "[analyze][tally]") {
    constexpr uint64_t kRecords = 70000; // more than groups are counted by number
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t count = program.clause("test", "", "f", "fire");
    program.aggregate(count, 1, {DTRACEAGG_COUNT, 0}, {Member::integer(8)});
    RecordingOf recording(program, {.segments_per_cpu = 1024, .policy = DBK_POLICY_FILL});
    for (uint64_t i = 0; i < kRecords; i++)
        recording.fire(0, 1000 + i, count, {i * 1000003});
    auto trace = formats::parse_trace(
        base::memory_source(file_of(recording, true, size_t{4} << 20)), "test");
    REQUIRE(trace.ok());
    Printed tallied = print(trace->recording, {}, false);
    CHECK(tallied.records.count == kRecords);
    CHECK(tallied.text == print(recording.build(), {}, false).text);
}
