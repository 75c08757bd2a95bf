// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds of the trace fuzzers: a small trace file, and each kind of message.
#include "formats/trace/message.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <fstream>
#include <string>

using namespace daybreak;

namespace {

void write(const std::string& path, const base::Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    std::string folder = argv[1];
    test::RingBuilder ring = test::sample_ring(100);
    formats::SymbolTable symbols = test::sample_symbols();
    formats::TraceSummary summary;
    summary.cpus.resize(2);
    summary.findings.push_back({formats::FindingKind::truncated, "here", "why"});
    formats::IndexEntry entry{1, 2, 3, 4, 5, 6, 7, 8};
    write(folder + "/sample.dbrk", test::sample_file(ring, 4096));
    write(folder + "/header.message", formats::encode_header(test::sample_header()));
    write(folder + "/symbols.message", formats::encode_symbols(symbols, symbols.symbols()));
    write(folder + "/summary.message", formats::encode_summary(summary));
    write(folder + "/index.message", formats::encode_index({{entry}, {}}));
    return 0;
}
