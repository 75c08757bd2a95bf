// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds of the segment fuzzer: a ring with its metadata and an aggregation buffer, as it
// lies in memory (pages.ring) and as it lies in a trace file (packed.ring).
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <fstream>
#include <span>
#include <string>

using namespace daybreak;
using daybreak::base::Bytes;
using daybreak::test::RingBuilder;

namespace {

RingBuilder make_ring() {
    RingBuilder ring({.segments_per_cpu = 2, .clock = DBK_CLOCK_TSC, .ticks_per_second = 2000000});
    uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
    uint32_t fixed = ring.add_ecb(
        probe, {RingBuilder::integer_field(8, 8), RingBuilder::integer_field(16, 4)}, 24);
    uint32_t text = ring.add_ecb(probe, {RingBuilder::tail_field(12, DBK_FIELD_STRING)}, 16,
                                 DBK_ECB_F_VARIABLE);
    uint32_t stack =
        ring.add_ecb(probe, {RingBuilder::tail_field(12, DBK_FIELD_STACK)}, 16, DBK_ECB_F_VARIABLE);
    ring.add_ecb(probe, {RingBuilder::integer_field(0, 8, 0, DBK_FIELD_F_KEY)}, 8,
                 DBK_ECB_F_NO_RECORD);
    ring.add_dof(Bytes(40, std::byte{0x7f}));
    for (uint64_t i = 0; i < 60; i++) {
        ring.record(0, fixed, 1000 + i * 100, RingBuilder::words({i, ~i}));
        ring.record(0, text | DBK_RECORD_F_SAME_FIRING, 1001 + i * 100,
                    RingBuilder::tail_body(base::as_bytes("a string")));
        ring.record(0, stack | DBK_RECORD_F_SAME_FIRING, 1002 + i * 100,
                    RingBuilder::tail_body(RingBuilder::words({0xffffffff81000000, i})));
        if (i % 20 == 0)
            ring.drop(0, DBK_DROP_NESTED);
    }
    ring.record(0, fixed, uint64_t{1} << 40, RingBuilder::words({1, 2}));
    return ring;
}

template <typename T>
void map_entry(base::Bytes& to, uint16_t kind, const T& content) {
    dbk_map_entry entry = {};
    entry.entry_bytes = sizeof(entry) + sizeof(content);
    entry.kind = kind;
    entry.pid = 7;
    entry.mono_ns = kind;
    for (base::ByteView part :
         {std::as_bytes(std::span(&entry, 1)), std::as_bytes(std::span(&content, 1))})
        to.insert(to.end(), part.begin(), part.end());
}

/// A process that has one file mapped, and forks one that shares it.
base::Bytes maps_payload() {
    base::Bytes payload;
    map_entry(payload, DBK_MAP_BLOCK, dbk_map_block{1, 0});
    auto file_at = static_cast<uint32_t>(DBK_META_DATA_OFFSET + payload.size());
    map_entry(payload, DBK_MAP_FILE, dbk_map_file{{1, 2}, 20, 0});
    map_entry(payload, DBK_MAP_IMAGE, dbk_map_image{DBK_MAP_CAUSE_SHARED, 7});
    map_entry(payload, DBK_MAP_IMAGE, dbk_map_image{DBK_MAP_CAUSE_EXEC, 0});
    map_entry(payload, DBK_MAP_MAPPING, dbk_map_mapping{0x1000, 0x2000, 0, file_at, 0});
    map_entry(payload, DBK_MAP_GAP, dbk_map_gap{1, 1});
    return payload;
}

void write(const std::string& path, const base::Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    RingBuilder ring = make_ring();
    base::Bytes pages = ring.metadata_memory(), packed;
    ring.machine_block(pages, DBK_META_LOG,
                       RingBuilder::log_payload("the first line\nthe last line\n", 24));
    dbk_meta_crash panic = {};
    panic.state = DBK_CRASH_PANIC;
    panic.reason[0] = 'x';
    ring.machine_block(pages, DBK_META_CRASH, RingBuilder::crash_payload({panic}));
    dbk_meta_trigger trigger = {};
    trigger.kind = DBK_TRIGGER_OOPS;
    trigger.name[0] = 'x';
    ring.machine_block(pages, DBK_META_TRIGGERS,
                       RingBuilder::triggers_payload(2, {trigger, trigger, trigger}));
    ring.machine_block(pages, DBK_META_MAPS, maps_payload());
    const base::Bytes& segments = ring.segment_memory(0);
    RingBuilder::append(pages, segments.data(), segments.size());
    formats::RecordingBuilder builder;
    std::vector<base::ByteView> pieces;
    builder.add_bytes(pages, {"ring"}, &pieces);
    for (base::ByteView piece : pieces) {
        base::Bytes one = formats::packed_piece(piece).value();
        RingBuilder::append(packed, one.data(), one.size());
    }
    base::Bytes snapshot = ring.aggregation_buffer(
        0, 1, RingBuilder::aggregation_entry(4, 1, RingBuilder::words({7}), {1, 2, 3}));
    RingBuilder::append(packed, snapshot.data(), snapshot.size());
    std::string folder = argv[1];
    // The first byte says to the target how the pieces lie.
    pages.insert(pages.begin(), std::byte{0});
    packed.insert(packed.begin(), std::byte{1});
    write(folder + "/pages.ring", pages);
    write(folder + "/packed.ring", packed);
    return 0;
}
