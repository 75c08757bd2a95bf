// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: a Recording from arbitrary bytes, every record, field and aggregation entry of it
// visited, and the maps asked.  The first byte chooses the packing.  Holds: the accounting adds up,
// time ascends with ticks.
#include "formats/segment/recording.hpp"

#include <cstddef>
#include <cstdint>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

uint64_t sum_of(ByteView bytes) {
    uint64_t sum = 0;
    for (std::byte byte : bytes)
        sum += static_cast<uint64_t>(byte);
    return sum;
}

uint64_t visit(const RingRecording& ring, const SegmentInfo& segment) {
    uint64_t sum = 0, records = 0;
    RecordCursor cursor = records_of(segment, ring);
    RecordView record;
    while (cursor.next(record)) {
        records++;
        DBK_ASSERT(record.epid <= DBK_EPID_MAX && record.epid == record.ecb->epid);
        sum += ring.clock.mono_ns(record.ticks);
        for (size_t field = 0; field < record.ecb->fields.size(); field++) {
            sum += record.integer(field).value_or(0);
            if (auto bytes = record.data(field))
                sum += sum_of(*bytes);
            if (auto stack = record.stack(field))
                for (size_t i = 0; i < stack->size(); i++)
                    sum += (*stack)[i];
            sum += record.string(field).value_or("").size();
        }
    }
    DBK_ASSERT(records == segment.record_count);
    return sum;
}

uint64_t visit(const RingRecording& ring, const AggregationSnapshot& snapshot) {
    uint64_t sum = 0;
    AggregationCursor cursor = entries_of(snapshot, ring);
    AggEntryView entry;
    while (cursor.next(entry)) {
        sum += sum_of(entry.key);
        for (size_t i = 0; i < entry.cell_count(); i++)
            sum += entry.cell(i);
        for (size_t i = 0; entry.ecb && i < entry.ecb->fields.size(); i++)
            sum += field_integer(entry.key, entry.ecb->fields[i]).value_or(0);
    }
    return sum;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0)
        return 0;
    ByteView input = std::as_bytes(std::span(data + 1, size - 1));
    RecordingBuilder builder;
    builder.add_bytes(input, {"fuzz", data[0] % 2 ? Packing::packed : Packing::pages, {}});
    Recording recording = builder.build();
    volatile uint64_t sum = 0;
    for (uint64_t mono_ns : {0, 4, 100})
        if (auto match = recording.maps.find(7, 0x1234, mono_ns))
            sum = sum + match->offset + match->file->path.size();
    for (const RingRecording& ring : recording.rings) {
        uint64_t before = 0;
        for (const ClockPair& pair : ring.clock.anchors()) {
            uint64_t now = ring.clock.mono_ns(pair.ticks);
            DBK_ASSERT(now >= before);
            before = now;
        }
        for (const CpuInfo& cpu : ring.cpus) {
            for (const SegmentInfo& segment : cpu.segments)
                sum = sum + visit(ring, segment);
            for (const AggregationSnapshot& snapshot : cpu.aggregations)
                sum = sum + visit(ring, snapshot);
        }
    }
    return 0;
}
