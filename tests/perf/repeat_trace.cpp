// SPDX-License-Identifier: Apache-2.0
//
// repeat_trace IN OUT BYTES: the segments of one boot's trace files, one time after the other,
// until OUT has so many bytes.
//
// Each time sequence numbers, record counts and all times go on where the time before ended, so
// that OUT is what a recorder of that load would have written.  For measuring readers: the bytes
// are real, there are as many as wanted.
#include "formats/segment/piece.hpp"
#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

/// How far the pieces of one CPU are moved.
struct Shift {
    uint64_t sequence = 0, records = 0, ns = 0;
};

void add_at(Bytes& bytes, size_t offset, uint64_t more) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + offset, sizeof(value));
    value += more;
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

/// Returns how long the record at `offset` is, 0 when it is not known; moves the times in it.
size_t pass_record(Bytes& bytes, size_t offset, const EcbTable& ecbs, uint64_t ns) {
    dbk_control_header header;
    std::memcpy(&header, bytes.data() + offset, sizeof(header));
    if (header.epid == 0) {
        if (header.kind == DBK_CONTROL_TIME_BASE || header.kind == DBK_CONTROL_COMMIT)
            add_at(bytes, offset + sizeof(header), ns);
        return header.bytes;
    }
    const EcbInfo* ecb = ecbs.find(header.epid & DBK_EPID_MAX);
    if (!ecb || !ecb->variable())
        return ecb ? ecb->fixed_bytes : 0;
    uint32_t length;
    std::memcpy(&length, bytes.data() + offset + sizeof(header), sizeof(length));
    return length;
}

/// Returns the segment as it would be after `shift`.
Result<Bytes> moved(const SegmentInfo& segment, const RingRecording& ring, const Shift& shift) {
    DBK_TRY(PinnedBytes loaded, segment.bytes.load());
    Bytes bytes(loaded.bytes.begin(), loaded.bytes.end());
    dbk_segment_header header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.sequence += shift.sequence;
    header.base_ticks += shift.ns;
    header.base_mono_ns += shift.ns;
    header.flags &= DBK_SEGMENT_F_TSC; // the writer seals it again
    header.crc32c = 0;
    std::memcpy(bytes.data(), &header, sizeof(header));
    add_at(bytes, sizeof(header), shift.records);
    for (size_t at = DBK_SEGMENT_DATA_OFFSET; at + DBK_RECORD_ALIGN_BYTES <= bytes.size();) {
        size_t length = pass_record(bytes, at, ring.ecbs, shift.ns);
        if (length == 0)
            return base::errorf(ErrorCode::corrupt, "a record at %zu is not known", at);
        at += length;
    }
    return bytes;
}

class Repeater {
public:
    Repeater(const Recording& recording, TraceWriter& writer)
        : recording_(recording), writer_(writer) {}

    /// Writes all segments, as many times as it takes; in between the CPUs take turns.
    Result<void> run(uint64_t bytes) {
        uint64_t from = UINT64_MAX, to = 0;
        for (const RingRecording& ring : recording_.rings)
            for (const CpuInfo& cpu : ring.cpus)
                for (const SegmentInfo& segment : cpu.segments) {
                    from = std::min(from, segment.recorded_ticks);
                    to = std::max(to, segment.last_ticks);
                }
        if (from > to)
            return base::errorf(ErrorCode::invalid, "there are no segments");
        for (uint64_t time = 0; writer_.bytes_written() < bytes; time++)
            for (const RingRecording& ring : recording_.rings)
                DBK_TRY_VOID(once(ring, time, time * (to - from + 1000)));
        return {};
    }

private:
    Result<void> once(const RingRecording& ring, uint64_t time, uint64_t ns) {
        size_t most = 0;
        for (const CpuInfo& cpu : ring.cpus)
            most = std::max(most, cpu.segments.size());
        for (size_t i = 0; i < most; i++)
            for (const CpuInfo& cpu : ring.cpus) {
                if (i >= cpu.segments.size())
                    continue;
                const SegmentInfo& last = cpu.segments.back();
                const SegmentInfo& first = cpu.segments.front();
                uint64_t records = last.records_before + last.record_count - first.records_before;
                Shift shift{time * (last.sequence - first.sequence + 1), time * records, ns};
                DBK_TRY(Bytes piece, moved(cpu.segments[i], ring, shift));
                DBK_TRY_VOID(writer_.add_piece(piece));
            }
        return {};
    }

    const Recording& recording_;
    TraceWriter& writer_;
};

Result<void> repeat(const std::string& in, const std::string& out, uint64_t bytes) {
    DBK_TRY(Trace trace, read_trace(in));
    DBK_TRY(base::OutputFile file, create_trace_file(out, true));
    DBK_TRY(TraceWriter writer,
            TraceWriter::create([&](ByteView block) { return file.write(block); }, trace.header));
    DBK_TRY_VOID(writer.add_symbols(trace.symbols));
    for (ByteView block : trace.recording.metadata)
        DBK_TRY_VOID(writer.add_piece(block));
    DBK_TRY_VOID(Repeater(trace.recording, writer).run(bytes));
    DBK_TRY_VOID(writer.finish({}));
    return file.commit();
}

} // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: repeat_trace IN OUT BYTES\n");
        return 2;
    }
    Result<void> done =
        repeat(arguments[1], arguments[2], std::strtoull(arguments[3], nullptr, 10));
    if (!done.ok())
        std::fprintf(stderr, "repeat_trace: %s\n", done.error().message().c_str());
    return done.ok() ? 0 : 1;
}
