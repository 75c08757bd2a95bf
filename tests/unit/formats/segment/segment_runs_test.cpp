// SPDX-License-Identifier: Apache-2.0
//
// Lists of segments of which most are known by runs: what they hand out, and how lists of several
// files become one.
#include "formats/segment/builder_state.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

/// Has the segments of one stream in each of its groups, and counts how often they are read.
class Source : public SegmentSource {
public:
    std::vector<std::vector<SegmentInfo>> groups;
    int reads = 0, changed = 0;

    Segments segments(uint32_t group, uint32_t) override {
        reads++;
        if (groups[group].empty())
            return nullptr;
        return std::make_shared<const std::vector<SegmentInfo>>(groups[group]);
    }
    void add_changed(uint32_t) override { changed++; }
};

/// Segment `sequence` of a CPU with ten records in each; of a longer copy when `longer`.
SegmentInfo segment(uint64_t sequence, uint32_t file_number = 0, bool longer = false) {
    static const Bytes kBytes(4096);
    SegmentInfo info;
    info.sequence = sequence;
    info.recorded_ticks = info.base_mono_ns = 1000 * sequence;
    info.min_ticks = 1000 * sequence + 1;
    info.last_ticks = 1000 * sequence + 900;
    info.records_before = 10 * sequence;
    info.record_count = 10;
    info.counted = info.sealed = true;
    info.file_number = file_number;
    info.bytes = ByteView(kBytes).first(longer ? 512 : 256);
    return info;
}

std::vector<SegmentInfo> segments(uint64_t first, uint64_t last, uint32_t file_number = 0) {
    std::vector<SegmentInfo> all;
    for (uint64_t sequence = first; sequence <= last; sequence++)
        all.push_back(segment(sequence, file_number));
    return all;
}

/// Adds a group to the source, and a run of all of it to the list.
void add_run(SegmentList& list, Source& source, const std::vector<SegmentInfo>& all) {
    SegmentRun run = run_of(all.data(), all.size());
    run.source = &source;
    run.group = static_cast<uint32_t>(source.groups.size());
    source.groups.push_back(all);
    for (SegmentInfo& one : source.groups.back())
        one.file_number = 0; // the source does not know it
    list.push_back(run);
}

std::vector<uint64_t> sequences(const SegmentList& list) {
    std::vector<uint64_t> all;
    for (const SegmentInfo& one : list)
        all.push_back(one.sequence);
    return all;
}

size_t runs_in(const SegmentList& list) {
    return static_cast<size_t>(std::count_if(list.parts().begin(), list.parts().end(),
                                             [](const auto& part) { return part.is_run(); }));
}

} // namespace

TEST_CASE("a list hands out the segments of its runs", "[segment][runs]") {
    Source source;
    SegmentList list;
    for (const SegmentInfo& one : segments(1, 3))
        list.push_back(one);
    add_run(list, source, segments(4, 103, 7));
    list.push_back(segment(110));
    add_run(list, source, segments(111, 130));
    REQUIRE(list.size() == 3 + 100 + 1 + 20);
    CHECK(list.parts().size() == 4);
    CHECK(list[3].sequence == 4);
    CHECK(list[102].sequence == 103);
    CHECK(list[102].file_number == 7);
    CHECK(list[103].sequence == 110);
    CHECK(list.back().sequence == 130);
    CHECK(source.reads == 2);
    CHECK(sequences(list).size() == list.size());
    CHECK(source.reads == 4); // each was read once more
    list.unfold_all();
    CHECK(runs_in(list) == 0);
    list.in_memory(50).sequence = 77;
    CHECK(list[50].sequence == 77);
    CHECK(source.changed == 0);
}

TEST_CASE("a run whose segments changed has others without records", "[segment][runs]") {
    Source source;
    SegmentList list;
    add_run(list, source, segments(4, 103));
    SECTION("one of them has more records") { source.groups[0][50].record_count++; }
    SECTION("one of them is later") { source.groups[0][99].last_ticks++; }
    SECTION("some are not there") { source.groups[0].resize(99); }
    REQUIRE(list.size() == 100);
    CHECK(list[0].record_count == 0);
    CHECK(list[99].sequence == 103);
    CHECK(list[99].damaged);
    CHECK(source.changed > 0);
    source.groups[0].clear(); // cannot be read at all: the source reports it
    SegmentList copy;
    copy.push_back(list.parts()[0].run);
    CHECK(copy[7].record_count == 0);
}

TEST_CASE("drops of a run are found by its first", "[segment][runs]") {
    Source source;
    SegmentList list;
    std::vector<SegmentInfo> all = segments(1, 20);
    all[3].drops_place = 5;
    all[9].drops_place = 6;
    add_run(list, source, all);
    for (SegmentInfo& one : source.groups[0])
        one.drops_place = one.drops_place != 0; // it knows whether, not where
    CHECK(list[3].drops_place == 5);
    CHECK(list[9].drops_place == 6);
    CHECK(list[10].drops_place == 0);
    list.move_drops(100);
    CHECK(list[9].drops_place == 106);
}

TEST_CASE("files of a row that have one segment in common stay runs", "[segment][runs]") {
    Source source;
    SegmentList list;
    // The segment that was open when a file ended stands in the next one, longer.
    for (uint32_t file = 0; file < 50; file++) {
        std::vector<SegmentInfo> all = segments(file * 100, file * 100 + 100, file + 1);
        all.front() = segment(all.front().sequence, file + 1, true);
        add_run(list, source, all);
    }
    keep_best(list);
    REQUIRE(list.size() == 5001);
    for (size_t i = 0; i < list.size(); i++) {
        SegmentInfo one = list[i];
        REQUIRE(one.sequence == i);
        REQUIRE(one.bytes.size() == (i % 100 == 0 && i != 5000 ? 512 : 256));
        REQUIRE(one.file_number == (i == 5000 ? 50 : i / 100 + 1));
    }
    CHECK(runs_in(list) == 50);
    CHECK(list.parts().size() < 110);
}

TEST_CASE("lists of any parts become what their segments would", "[segment][runs][prop]") {
    for (uint32_t seed = 1; seed <= 400; seed++) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        Source source;
        SegmentList list;
        base::ChunkList<SegmentInfo> plain;
        uint32_t parts = 1 + random() % 12;
        for (uint32_t i = 0; i < parts; i++) {
            uint64_t first = random() % 300, count = 1 + random() % 90;
            std::vector<SegmentInfo> all = segments(first, first + count, i);
            for (SegmentInfo& one : all)
                one.bytes = segment(0, 0, random() % 2).bytes;
            bool is_run = random() % 3 != 0;
            if (!is_run)
                std::shuffle(all.begin(), all.end(), random);
            for (const SegmentInfo& one : all) {
                plain.push_back(one);
                if (!is_run)
                    list.push_back(one);
            }
            if (is_run)
                add_run(list, source, all);
        }
        SegmentList expected;
        for (const SegmentInfo& one : plain)
            expected.push_back(one);
        keep_best(expected);
        keep_best(list);
        REQUIRE(list.size() == expected.size());
        for (size_t i = 0; i < list.size(); i++) {
            SegmentInfo a = list[i], b = expected[i];
            REQUIRE(a.sequence == b.sequence);
            REQUIRE(a.bytes.size() == b.bytes.size());
            REQUIRE(a.records_before == b.records_before);
            if (i > 0)
                REQUIRE(a.sequence > list[i - 1].sequence);
        }
        CHECK(source.changed == 0);
    }
}

TEST_CASE("which pairs of a clock are kept depends on the pairs alone", "[segment][clock]") {
    std::mt19937_64 random(3);
    std::vector<ClockPair> all;
    for (uint64_t i = 0; i < 5 * ClockPairs::kPairsMax; i++)
        all.push_back({7 * i, 1'000'000 * i + random() % 1000});
    auto kept = [](const ClockPairs& pairs) {
        std::vector<std::pair<uint64_t, uint64_t>> list;
        for (const ClockPair& pair : pairs.list())
            list.emplace_back(pair.mono_ns, pair.ticks);
        std::sort(list.begin(), list.end());
        return list;
    };
    ClockPairs in_order, mixed, first, second;
    for (const ClockPair& pair : all)
        in_order.add(pair);
    for (size_t i = 0; i < all.size(); i++)
        (i < all.size() / 3 ? first : second).add(all[i]);
    std::shuffle(all.begin(), all.end(), random);
    for (const ClockPair& pair : all)
        mixed.add(pair);
    first.add(second);
    for (ClockPairs* pairs : {&in_order, &mixed, &first})
        pairs->settle();
    CHECK(in_order.is_thinned());
    CHECK(in_order.size() <= ClockPairs::kPairsMax);
    CHECK(in_order.size() > ClockPairs::kPairsMax / 4);
    CHECK(kept(in_order) == kept(mixed));
    CHECK(kept(in_order) == kept(first));

    ClockPairs few;
    for (size_t i = 0; i < 100; i++)
        few.add(all[i]);
    few.settle();
    CHECK_FALSE(few.is_thinned());
    CHECK(few.size() == 100);
}
