// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: a trace file from arbitrary bytes.  Then the same bytes with the checksums of every
// block made right again, so that changes reach after them.
#include "base/crc32c.hpp"
#include "formats/abi/trace.h"
#include "formats/trace/reader.hpp"

#include <cstdint>
#include <cstring>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

void read(ByteView file) {
    Result<Trace> trace = parse_trace(file, "fuzz");
    if (!trace.ok())
        return;
    (void)trace.value().symbols.find(0xffffffff81001234);
    for (const RingRecording& ring : trace.value().recording.rings) {
        (void)ring.completeness();
        for (const CpuInfo& cpu : ring.cpus)
            for (const SegmentInfo& segment : cpu.segments) {
                RecordCursor cursor = records_of(segment, ring);
                for (RecordView record; cursor.next(record);)
                    (void)record.data(0);
            }
    }
    (void)trace.value().recording.all_findings();
}

/// Walks the blocks by their lengths and writes checksums that hold.
void reseal(Bytes& file) {
    size_t at = 0;
    while (at + sizeof(dbk_trace_block) <= file.size()) {
        dbk_trace_block header;
        std::memcpy(&header, file.data() + at, sizeof(header));
        ByteView rest = ByteView(file).subspan(at + sizeof(header));
        if (header.magic != DBK_TRACE_MAGIC || header.stored_bytes > rest.size())
            return;
        header.payload_crc32c = base::crc32c(rest.first(header.stored_bytes));
        header.header_crc32c = base::crc32c(
            std::as_bytes(std::span(&header, 1)).first(offsetof(dbk_trace_block, header_crc32c)));
        std::memcpy(file.data() + at, &header, sizeof(header));
        at += (sizeof(header) + header.stored_bytes + 7) & ~size_t{7};
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ByteView input = std::as_bytes(std::span(data, size));
    read(input);
    Bytes sealed(input.begin(), input.end());
    reseal(sealed);
    read(sealed);
    return 0;
}
