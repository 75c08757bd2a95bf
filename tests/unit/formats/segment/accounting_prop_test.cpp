// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever is written, overwritten and destroyed, the accounting agrees with the truth
// that the test keeps beside the ring.
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::RingBuilder;

namespace {

/// A ring written with random records, some of its slots destroyed, and what is true of it.
struct Case {
    RingBuilder ring;
    uint32_t segments_per_cpu;
    std::map<uint64_t, std::vector<uint64_t>> segments; ///< values by sequence, all ever written
    std::set<uint64_t> destroyed;
    uint64_t newest = 0, written = 0;

    explicit Case(std::mt19937_64& random, uint32_t slots)
        : ring({.segments_per_cpu = slots}), segments_per_cpu(slots) {
        uint32_t probe = ring.add_probe("p", "m", "f", "n");
        uint32_t fixed = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
        uint32_t text = ring.add_ecb(probe, {RingBuilder::tail_field(12, DBK_FIELD_STRING)}, 16,
                                     DBK_ECB_F_VARIABLE);
        uint64_t ticks = 1000, count = random() % 3000;
        for (uint64_t i = 0; i < count; i++) {
            ticks += random() % 16 ? random() % 1000 : random() % (uint64_t{1} << 36);
            if (random() % 2)
                ring.record(0, fixed, ticks, RingBuilder::words({ticks}));
            else
                ring.record(0, text, ticks, RingBuilder::tail_body(Bytes(random() % 100)));
            newest = ring.counters(0).segments;
            segments[newest].push_back(ticks);
        }
        written = count;
        for (uint64_t sequence = first_kept(); sequence <= newest; sequence++)
            if (random() % 8 == 0) {
                destroyed.insert(sequence);
                std::memset(ring.segment_memory(0).data() +
                                ((sequence - 1) % segments_per_cpu) * 4096,
                            0, 4096);
            }
    }
    uint64_t first_kept() const {
        return newest > segments_per_cpu ? newest - segments_per_cpu + 1 : 1;
    }
};

} // namespace

TEST_CASE("the accounting agrees with the truth", "[segment][completeness][prop]") {
    uint64_t seed = 20240601;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 300; round++) {
        Case c(random, 1 + static_cast<uint32_t>(random() % 12));
        RecordingBuilder builder;
        builder.add_owned(c.ring.metadata_memory(), {"metadata"});
        builder.add_bytes(c.ring.segment_memory(0), {"ring"});
        Recording recording = builder.build();
        const CpuInfo& cpu = recording.rings.at(0).cpus.at(0);
        const Completeness& sum = cpu.completeness;

        uint64_t present = 0, oldest = c.first_kept(), destroyed = 0;
        std::vector<uint64_t> expected;
        for (const auto& [sequence, values] : c.segments) {
            if (sequence < oldest)
                continue;
            if (c.destroyed.contains(sequence)) {
                destroyed += values.size();
                continue;
            }
            present += values.size();
            expected.insert(expected.end(), values.begin(), values.end());
        }
        REQUIRE(sum.present == present);
        REQUIRE(sum.committed == c.written);
        REQUIRE(sum.committed == sum.present + sum.overwritten + sum.lost + sum.not_copied);
        // The oldest slot counts as overwritten when it is not there: it may have been next.
        bool oldest_gone = c.destroyed.contains(oldest) && oldest > 1;
        if (sum.lost_known && !oldest_gone)
            REQUIRE(sum.lost == destroyed);
        if (c.destroyed.empty())
            REQUIRE_FALSE(recording.has_losses());
        else if (c.destroyed.size() > oldest_gone)
            REQUIRE(recording.has_losses());
        std::vector<uint64_t> seen;
        for (const SegmentInfo& segment : cpu.segments) {
            RecordCursor cursor = records_of(segment, recording.rings[0]);
            RecordView record;
            while (cursor.next(record))
                seen.push_back(record.ticks);
        }
        REQUIRE(seen == expected);
    }
}
