// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: the messages and the sorted symbols of a trace file from arbitrary bytes.
#include "formats/trace/message.hpp"
#include "formats/trace/shared_symbols.hpp"
#include "formats/trace/symbol_coding.hpp"

#include <cstdint>

using namespace daybreak;
using namespace daybreak::formats;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ByteView input = std::as_bytes(std::span(data, size));
    SymbolTable symbols;
    (void)decode_header(input).ok();
    (void)decode_symbols(input, symbols).ok();
    size_t left = kSymbolNameBytesMax;
    (void)decode_sorted_symbols(input, symbols, left).ok();
    if (Result<SharedSymbols> shared = decode_shared_symbols(input); shared.ok()) {
        SymbolTable joined;
        symbols.finish();
        (void)join_symbols(*shared, symbols, joined);
    }
    (void)decode_index(input).ok();
    (void)decode_summary(input).ok();
    (void)decode_skipped(input).ok();
    if (Result<TraceWindow> window = decode_window(input); window.ok())
        (void)decode_window(encode_window(*window)).value();
    if (Result<TraceContents> contents = decode_contents(input); contents.ok()) {
        for (const TraceContents::Run& one : contents->runs) {
            DBK_ASSERT(one.run.last_sequence() >= one.run.first_sequence);
            DBK_ASSERT(one.run.records_after() >= one.run.records_before);
        }
        (void)decode_contents(encode_contents(*contents)).value();
    }
    (void)decode_end(input).ok();
    symbols.finish();
    (void)symbols.find(0xffffffff81001234);
    return 0;
}
