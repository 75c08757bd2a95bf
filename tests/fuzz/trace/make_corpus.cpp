// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds of the trace fuzzers: a small trace file, columns, and each kind of message.
#include "formats/trace/column_pack.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/shared_symbols.hpp"
#include "formats/trace/symbol_coding.hpp"
#include "tests/unit/formats/trace/sample.hpp"
#include "tests/unit/formats/trace/sample_rows.hpp"
#include "tests/unit/formats/trace/version_2.hpp"

#include <fstream>
#include <string>

using namespace daybreak;

namespace {

void write(const std::string& path, const base::Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// Where the steps lie, as column_fuzz.cpp reads it.
enum class Form : uint32_t { last, with_items, left_out };

/// A payload of columns of random records, after its form and how many bytes they have as rows.
base::Bytes columns(Form form) {
    std::mt19937_64 random(1);
    test::RingBuilder ring = test::random_ring(random, 60, 4);
    base::Bytes rows = test::rows_of(ring), payload;
    formats::ColumnPacker packer;
    for (base::ByteView piece : test::pieces_of(rows))
        packer.learn(piece);
    std::optional<size_t> steps_offset = packer.pack(rows, payload);
    DBK_ASSERT(steps_offset);
    if (form == Form::with_items)
        payload = test::with_steps_before_items(payload, rows.size());
    if (form == Form::left_out)
        payload.resize(*steps_offset);
    base::Bytes seed(4);
    auto rows_bytes = static_cast<uint32_t>(rows.size()) | static_cast<uint32_t>(form) << 30;
    std::memcpy(seed.data(), &rows_bytes, sizeof(rows_bytes));
    seed.insert(seed.end(), payload.begin(), payload.end());
    return seed;
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
    write(folder + "/sample.dbrk", test::sample_file(ring, 4096));
    write(folder + "/sample.columns", columns(Form::last));
    write(folder + "/version_2.columns", columns(Form::with_items));
    write(folder + "/first_frame.columns", columns(Form::left_out));
    write(folder + "/header.message", formats::encode_header(test::sample_header()));
    write(folder + "/symbols.message", formats::encode_symbols(symbols, symbols.symbols()));
    write(folder + "/sorted_symbols.message",
          formats::encode_sorted_symbols(symbols, symbols.symbols()).value());
    write(folder + "/shared_symbols.message",
          formats::encode_shared_symbols(formats::share_symbols(symbols, symbols, {}).value()));
    write(folder + "/summary.message", formats::encode_summary(summary));
    formats::SkippedSegments skipped{1, 2, 3, 4, formats::SkipCause::overrun, 5};
    write(folder + "/skipped.message", formats::encode_skipped({&skipped, 1}));
    formats::LeftOut left_out{1, 0, 2, 3, 10, 20, 1000, 2000, {0, 4}, {{1, 2}, {3, 4}}};
    write(folder + "/window.message",
          formats::encode_window({5, {1000, 3000}, {left_out, {1, 1, 7, 9, 0, 1, 1, 1}}}));
    write(folder + "/contents.message", formats::encode_contents(test::sample_contents()));
    formats::PieceHead piece{128, {}, formats::SegmentCount{1, 2, 3, 4}};
    write(folder + "/index.message",
          formats::encode_index({{{1, 2, {piece, piece}, false, {1, 2}}, {3, 4, {}}}}));
    return 0;
}
