// SPDX-License-Identifier: Apache-2.0
//
// Random pieces, back to back as a data block has them, for the tests of columns and their fuzz
// seed.
#pragma once

#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <random>

namespace daybreak::test {

/// Records of three kinds on two CPUs: integers of all widths with a gap, a string and a stack,
/// none. Values go from constant over counting to random ones.
inline RingBuilder random_ring(std::mt19937_64& random, uint64_t count, uint32_t segments_per_cpu) {
    RingBuilder ring({.cpu_count = 2, .segments_per_cpu = segments_per_cpu});
    uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
    uint32_t fixed =
        ring.add_ecb(probe,
                     {RingBuilder::integer_field(8, 8), RingBuilder::integer_field(16, 4),
                      RingBuilder::integer_field(20, 2), RingBuilder::integer_field(22, 1),
                      RingBuilder::integer_field(24, 13)},
                     40);
    uint32_t tails = ring.add_ecb(probe,
                                  {RingBuilder::tail_field(12, DBK_FIELD_STRING),
                                   RingBuilder::tail_field(16, DBK_FIELD_STACK),
                                   RingBuilder::integer_field(20, 4)},
                                  24, DBK_ECB_F_VARIABLE);
    uint32_t bare = ring.add_ecb(probe, {}, 8);
    uint64_t ticks = 1000, mask = random() >> (random() % 64);
    size_t strings = 1 + random() % 40;
    for (uint64_t i = 0; i < count; i++) {
        auto cpu = static_cast<uint16_t>(random() % 2);
        ticks += random() % 500 == 0 ? uint64_t{1} << 33 : random() % 3000;
        uint32_t mark = random() % 3 == 0 ? DBK_RECORD_F_SAME_FIRING : 0;
        switch (random() % 4) {
        case 0:
            ring.record(cpu, bare | mark, ticks, {});
            break;
        case 1: {
            Bytes text(random() % strings % 19, std::byte{'a'}), stack(8 * (random() % 4));
            for (std::byte& byte : stack)
                byte = static_cast<std::byte>(random() & mask);
            size_t text_room = (text.size() + 7) & ~size_t{7};
            auto length = static_cast<uint32_t>(24 + text_room + stack.size());
            dbk_tail_ref first{24, static_cast<uint16_t>(text.size())};
            dbk_tail_ref second{static_cast<uint16_t>(24 + text_room),
                                static_cast<uint16_t>(stack.size())};
            Bytes body(length - 8);
            std::memcpy(body.data(), &length, 4);
            std::memcpy(body.data() + 4, &first, 4);
            std::memcpy(body.data() + 8, &second, 4);
            std::copy(text.begin(), text.end(), body.begin() + 16);
            std::copy(stack.begin(), stack.end(),
                      body.begin() + static_cast<ptrdiff_t>(16 + text_room));
            ring.record(cpu, tails | mark, ticks, body);
            break;
        }
        default:
            ring.record(cpu, fixed | mark, ticks,
                        RingBuilder::words({random() & mask, i, i * i, random() % 3}));
        }
    }
    return ring;
}

/// The pieces of a ring as a data block has them, metadata first, then an aggregation buffer.
inline Bytes rows_of(RingBuilder& ring) {
    Bytes rows, metadata = ring.metadata_memory();
    std::vector<ByteView> pieces;
    formats::RecordingBuilder builder;
    builder.add_bytes(metadata, {"metadata"}, &pieces);
    for (uint16_t cpu = 0; cpu < ring.options().cpu_count; cpu++)
        builder.add_bytes(ring.segment_memory(cpu), {"ring"}, &pieces);
    Bytes aggregations = ring.aggregation_buffer(0, 1, Bytes(48));
    pieces.push_back(aggregations);
    for (ByteView piece : pieces) {
        Bytes packed = formats::packed_piece(piece).value();
        rows.insert(rows.end(), packed.begin(), packed.end());
    }
    return rows;
}

} // namespace daybreak::test
