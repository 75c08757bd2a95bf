// SPDX-License-Identifier: Apache-2.0
//
// aggregate=record and aggregate=engine print the same, and the order of the pieces does not
// matter.
#include "analyze/report.hpp"
#include "tests/unit/analyze/program_builder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace daybreak;
using namespace daybreak::analyze;
using namespace daybreak::test;

namespace {

/// One firing of a clause: the same data for both modes.
struct Firing {
    uint16_t cpu;
    uint64_t ticks;
    size_t clause;
    std::vector<FieldValue> values; ///< key members, value, increment
};

const std::vector<AggregationFunction> kFunctions = {
    {DTRACEAGG_COUNT, 0},
    {DTRACEAGG_SUM, 0},
    {DTRACEAGG_MIN, 0},
    {DTRACEAGG_MAX, 0},
    {DTRACEAGG_AVG, 0},
    {DTRACEAGG_STDDEV, 0},
    {DTRACEAGG_QUANTIZE, 0},
    {DTRACEAGG_LQUANTIZE, 7ull << 48 | 12ull << 32 | 0xffffffd8},
    {DTRACEAGG_LLQUANTIZE, 20ull << 48 | 4ull << 32 | 0ull << 16 | 10},
};

/// A clause per function, with and without increments, with various keys.
ProgramBuilder make_program(std::mt19937_64& random) {
    ProgramBuilder program;
    if (random() % 2)
        program.option(DTRACEOPT_AGGSORTKEY);
    if (random() % 2)
        program.option(DTRACEOPT_AGGSORTREV);
    for (uint32_t i = 0; i < kFunctions.size(); i++) {
        size_t clause = program.clause("p", "m", "f" + std::to_string(i), "n");
        std::vector<Member> key;
        for (uint64_t members = random() % 4; members > 0; members--) {
            const Member kinds[] = {Member::integer(8), Member::integer(4), Member::integer(1),
                                    Member::text(), Member::stack()};
            key.push_back(kinds[random() % std::size(kinds)]);
        }
        program.aggregate(clause, 1 + i, kFunctions[i], key,
                          kFunctions[i].is_distribution() && random() % 2);
    }
    return program;
}

FieldValue random_value(std::mt19937_64& random, const dbk_meta_field& field) {
    if (field.shape == DBK_FIELD_STRING)
        return std::string(random() % 3, 'k') + std::to_string(random() % 4);
    if (field.shape == DBK_FIELD_STACK)
        return Frames(1 + random() % 2, 0x1000 + random() % 2);
    if (field.flags & DBK_FIELD_F_KEY)
        return random() % 5;
    if (field.flags & DBK_FIELD_F_INCREMENT)
        return random() % 20 - 5;
    return static_cast<uint64_t>(static_cast<int64_t>(random()) >> (random() % 64));
}

std::vector<Firing> make_firings(std::mt19937_64& random, const ProgramBuilder& program) {
    std::vector<Firing> firings;
    uint64_t ticks = 1000;
    for (int i = 0; i < 2000; i++) {
        Firing firing;
        firing.cpu = static_cast<uint16_t>(random() % 3);
        firing.ticks = ticks += random() % 100;
        firing.clause = random() % kFunctions.size();
        for (const dbk_meta_field& field : program.fields[firing.clause])
            firing.values.push_back(random_value(random, field));
        firings.push_back(std::move(firing));
    }
    return firings;
}

RingBuilderOptions ring_options(uint32_t aggregate) {
    RingBuilderOptions options;
    options.cpu_count = 3;
    options.segments_per_cpu = 64;
    options.aggregate = aggregate;
    return options;
}

/// Counts as an engine would: per CPU, handed out in a few snapshots.
void count_in_engine(RecordingOf& recording, const ProgramBuilder& program,
                     const std::vector<Firing>& firings, size_t snapshots) {
    using Key = std::pair<size_t, std::vector<FieldValue>>;
    for (uint16_t cpu = 0; cpu < 3; cpu++) {
        for (size_t part = 0; part < snapshots; part++) {
            std::map<Key, std::vector<uint64_t>> counted;
            for (size_t i = part; i < firings.size(); i += snapshots) {
                const Firing& firing = firings[i];
                if (firing.cpu != cpu)
                    continue;
                const auto& aggregation = program.aggregations.at(firing.clause);
                auto values = firing.values;
                size_t members = aggregation.key_members;
                auto number = [&](size_t at, int64_t otherwise) {
                    return at < values.size() ? static_cast<int64_t>(std::get<uint64_t>(values[at]))
                                              : otherwise;
                };
                int64_t value = number(members, 0), increment = number(members + 1, 1);
                values.erase(values.begin() + static_cast<ptrdiff_t>(members), values.end());
                auto [cells, is_new] = counted.try_emplace({firing.clause, values});
                if (is_new) {
                    cells->second.resize(*aggregation.function.cell_count());
                    aggregation.function.init(cells->second);
                }
                aggregation.function.update(cells->second, value, increment);
            }
            Bytes entries;
            for (const auto& [key, cells] : counted) {
                Bytes entry = recording.entry(key.first, key.second, cells);
                entries.insert(entries.end(), entry.begin(), entry.end());
            }
            recording.snapshot(cpu, part + 1, entries);
        }
    }
}

std::string printed(const std::vector<Bytes>& pieces) {
    formats::RecordingBuilder builder;
    for (const Bytes& piece : pieces)
        builder.add_owned(piece, {});
    formats::Recording recording = builder.build();
    StringSink sink;
    Report report = render_report(recording, {}, sink);
    CHECK(sink.messages.empty());
    CHECK(report.problems == 0);
    CHECK(report.completeness.complete);
    return sink.text;
}

} // namespace

TEST_CASE("record mode and engine mode print the same for random data", "[analyze][modes]") {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        ProgramBuilder program = make_program(random);
        std::vector<Firing> firings = make_firings(random, program);

        RecordingOf in_records(program, ring_options(DBK_AGGREGATE_RECORD));
        for (const Firing& firing : firings)
            in_records.fire(firing.cpu, firing.ticks, firing.clause, firing.values);
        RecordingOf in_engine(program, ring_options(DBK_AGGREGATE_ENGINE));
        count_in_engine(in_engine, program, firings, 1 + random() % 3);

        std::string expected = printed(in_records.pieces());
        CHECK(expected.size() > 1000);
        CHECK(printed(in_engine.pieces()) == expected);
    }
}

TEST_CASE("the order in which the pieces were found does not matter", "[analyze][modes]") {
    std::mt19937_64 random(99);
    ProgramBuilder program = make_program(random);
    for (size_t clause = 0; clause < kFunctions.size(); clause++)
        program.trace(clause, Member::integer(8));
    RecordingOf recording(program, ring_options(DBK_AGGREGATE_RECORD));
    for (const Firing& firing : make_firings(random, program))
        recording.fire(firing.cpu, firing.ticks / 8, firing.clause, firing.values);
    std::vector<Bytes> pieces = recording.pieces();
    std::string expected = printed(pieces);
    for (int round = 0; round < 5; round++) {
        std::shuffle(pieces.begin(), pieces.end(), random);
        CHECK(printed(pieces) == expected);
    }
}
