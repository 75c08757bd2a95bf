// SPDX-License-Identifier: Apache-2.0
//
// replay_floor TRACE: counts the records of a trace file in columns by EPID and their first string, and
// prints how many there are.
//
// It is what a reader has to do at least for `{ @[execname, probename] = count(); }`: it unpacks the
// same blocks, and looks each record's key up in a hash table.  No clocks, no firings, no engine.
#include "formats/trace/column_block.hpp"
#include "formats/trace/reader.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

constexpr size_t kSlots = 1u << 12, kWords = 4;

/// A key: the EPID, and the beginning of the string.
using Key = std::array<uint64_t, kWords>;
struct Slot {
    Key key{};
    uint64_t count = 0;
};

uint64_t hash(const Key& key) {
    uint64_t sum = 0;
    for (uint64_t word : key)
        sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    return sum ^ sum >> 32;
}

Key key_of(uint32_t epid, ByteView text) {
    Key key{epid};
    std::memcpy(&key[1], text.data(), std::min(text.size(), (kWords - 1) * sizeof(uint64_t)));
    return key;
}

Result<void> count(const LayoutColumns& layout, std::vector<Slot>& slots) {
    const std::vector<uint8_t>& widths = layout.record.widths;
    auto item = static_cast<size_t>(std::ranges::find(widths, kTailItem) - widths.begin());
    TailColumn tail;
    if (item < widths.size())
        DBK_TRY_VOID(ColumnBlock::tails(layout, item, tail));
    for (size_t i = 0; i < layout.count; i++) {
        Key key = key_of(layout.record.word, item < widths.size() ? tail.value(i) : ByteView());
        size_t at = hash(key) % kSlots;
        for (size_t left = kSlots; left != 0 && slots[at].count != 0 && slots[at].key != key; left--)
            at = (at + 1) % kSlots;
        slots[at].key = key;
        slots[at].count++;
    }
    return {};
}

Result<uint64_t> count_all(const Recording& recording) {
    std::vector<Slot> slots(kSlots);
    std::set<std::pair<PieceStore*, uint32_t>> seen;
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus)
            for (const SegmentInfo& segment : cpu.segments) {
                PieceStore* store = segment.bytes.store();
                if (!store || !seen.insert({store, segment.bytes.block()}).second)
                    continue;
                DBK_TRY(std::shared_ptr<const ColumnBlock> block,
                        store->columns(segment.bytes.block()));
                if (!block)
                    return base::errorf(ErrorCode::invalid, "a block is not in columns");
                for (const LayoutColumns& layout : block->layouts())
                    if (layout.count != 0)
                        DBK_TRY_VOID(count(layout, slots));
            }
    uint64_t records = 0;
    for (const Slot& slot : slots)
        records += slot.count;
    return records;
}

Result<uint64_t> run(const char* path) {
    DBK_TRY(Trace trace, read_trace(path));
    return count_all(trace.recording);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: replay_floor TRACE\n");
        return 2;
    }
    auto records = run(argv[1]);
    if (!records.ok()) {
        std::fprintf(stderr, "replay_floor: %s\n", records.error().message().c_str());
        return 1;
    }
    std::printf("%llu\n", static_cast<unsigned long long>(*records));
    return 0;
}
