// SPDX-License-Identifier: Apache-2.0
//
//   divide_trace SEED IN.dbrk OUT.dbrk...
//
// Divides a recording at random: each segment goes into one of the files, its description into all.
#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

using namespace daybreak;

namespace {

struct Out {
    std::ofstream file;
    std::vector<formats::TraceWriter> writer; // one
};

bool divide(const formats::Trace& trace, std::vector<Out>& outs, std::mt19937_64& random) {
    for (Out& out : outs) {
        for (base::ByteView block : trace.recording.metadata)
            if (!out.writer[0].add_piece(block).ok())
                return false;
        if (!out.writer[0].add_symbols(trace.symbols).ok())
            return false;
    }
    for (const formats::RingRecording& ring : trace.recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            for (const formats::SegmentInfo& segment : cpu.segments) {
                auto bytes = segment.bytes.load();
                if (!bytes.ok() ||
                    !outs[random() % outs.size()].writer[0].add_piece(bytes->bytes).ok())
                    return false;
            }
    for (Out& out : outs)
        if (!out.writer[0].finish({}).ok() || !out.file.flush())
            return false;
    return true;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4)
        return 2;
    std::mt19937_64 random(std::strtoull(argv[1], nullptr, 0));
    auto trace = formats::read_trace(argv[2]);
    if (!trace.ok()) {
        std::fprintf(stderr, "divide_trace: %s\n", trace.error().message().c_str());
        return 1;
    }
    std::vector<Out> outs(static_cast<size_t>(argc - 3));
    for (size_t i = 0; i < outs.size(); i++) {
        std::ofstream& file = outs[i].file;
        file.open(argv[3 + i], std::ios::binary);
        auto writer = formats::TraceWriter::create(
            [&file](base::ByteView bytes) {
                file.write(reinterpret_cast<const char*>(bytes.data()),
                           static_cast<std::streamsize>(bytes.size()));
                return base::Result<void>();
            },
            trace->header);
        if (!writer.ok())
            return 1;
        outs[i].writer.push_back(std::move(*writer));
    }
    return divide(*trace, outs, random) ? 0 : 1;
}
