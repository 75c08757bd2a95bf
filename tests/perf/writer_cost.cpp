// SPDX-License-Identifier: Apache-2.0
//
// writer_cost TRACE: prints the CPU time of writing the pieces of TRACE in rows and in columns, in ns
// a record.
//
// Only the writer is measured, as the recorder uses it: reading TRACE comes before, and what is
// written goes nowhere.  Both forms take turns, and of each the least of all rounds counts, so that
// what else the host does hits both alike or none.
#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

constexpr int kRounds = 40;

struct Pieces {
    std::vector<Bytes> bytes;
    uint64_t records = 0;
};

Result<Pieces> pieces_of(const Recording& recording) {
    Pieces pieces;
    for (ByteView block : recording.metadata)
        pieces.bytes.emplace_back(block.begin(), block.end());
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus)
            for (const SegmentInfo& segment : cpu.segments) {
                DBK_TRY(PinnedBytes loaded, segment.bytes.load());
                pieces.bytes.emplace_back(loaded.bytes.begin(), loaded.bytes.end());
                pieces.records += segment.record_count;
            }
    if (pieces.records == 0)
        return base::errorf(ErrorCode::invalid, "there are no records");
    return pieces;
}

double cpu_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

Result<double> write_once(const Pieces& pieces, bool columns) {
    TraceWriterOptions options;
    options.columns = columns;
    auto nowhere = [](ByteView) { return Result<void>(); };
    DBK_TRY(TraceWriter writer, TraceWriter::create(nowhere, TraceHeader(), options));
    double from = cpu_ns();
    for (ByteView piece : pieces.bytes)
        DBK_TRY_VOID(writer.add_piece(piece));
    DBK_TRY_VOID(writer.finish({}));
    return (cpu_ns() - from) / static_cast<double>(pieces.records);
}

/// Of rows and of columns.
Result<std::pair<double, double>> measure(const std::string& path) {
    DBK_TRY(Trace trace, read_trace(path));
    DBK_TRY(Pieces pieces, pieces_of(trace.recording));
    std::pair<double, double> least{HUGE_VAL, HUGE_VAL};
    for (int i = 0; i < kRounds; i++) {
        DBK_TRY(double rows, write_once(pieces, false));
        DBK_TRY(double columns, write_once(pieces, true));
        least = {std::min(least.first, rows), std::min(least.second, columns)};
    }
    return least;
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: writer_cost TRACE\n");
        return 2;
    }
    Result<std::pair<double, double>> ns = measure(arguments[1]);
    if (ns.ok())
        std::printf("%.1f %.1f\n", ns.value().first, ns.value().second);
    else
        std::fprintf(stderr, "writer_cost: %s\n", ns.error().message().c_str());
    return ns.ok() ? 0 : 1;
}
