// SPDX-License-Identifier: Apache-2.0
//
// Messages: the plain values of metadata.hpp as Cap'n Proto, and back.
//
// message.cpp is the one place that knows Cap'n Proto; its exceptions end there as Errors.
#pragma once

#include "formats/trace/jit_names.hpp"
#include "formats/trace/metadata.hpp"

#include <span>

namespace daybreak::formats {

/// The text of trace.capnp.
extern const std::string_view kTraceSchemaText;

/// Symbols per SYMBOLS block: a damaged one costs a tenth of a kernel's, not all.
constexpr size_t kSymbolsPerBlock = 16384;

/// The last block.
struct TraceEnd {
    uint32_t blocks = 0; ///< before it
    uint64_t bytes = 0;  ///< before it
    uint64_t contents_offset = 0; ///< 0: there is no CONTENTS block
};

Bytes encode_header(const TraceHeader& header);
Bytes encode_symbols(const SymbolTable& table, std::span<const Symbol> stretch);
Bytes encode_shared_symbols(const SharedSymbols& shared);
Bytes encode_index(const TraceIndex& index);
Bytes encode_summary(const TraceSummary& summary);
Bytes encode_skipped(std::span<const SkippedSegments> skipped);
/// A JIT_NAMES block, which is not a message.
Bytes encode_jit_text(const JitText& text);
Result<JitText> decode_jit_text(ByteView untrusted);
Bytes encode_window(const TraceWindow& window);
Bytes encode_contents(const TraceContents& contents);
Bytes encode_end(const TraceEnd& end);

/// Errors of all: corrupt.
Result<TraceHeader> decode_header(ByteView untrusted);
/// Adds the stretch to the table.
Result<void> decode_symbols(ByteView untrusted, SymbolTable& table);
Result<SharedSymbols> decode_shared_symbols(ByteView untrusted);
/// `blocks_max` is how many data blocks can lie before the index.
Result<TraceIndex> decode_index(ByteView untrusted, size_t blocks_max = SIZE_MAX);
Result<TraceSummary> decode_summary(ByteView untrusted);
Result<std::vector<SkippedSegments>> decode_skipped(ByteView untrusted);
/// Refuses what is not in order, or more than kLeftOutMax stretches.
Result<TraceWindow> decode_window(ByteView untrusted);
/// Its runs are as SegmentRun says as far as their numbers do not overflow.
Result<TraceContents> decode_contents(ByteView untrusted);
Result<TraceEnd> decode_end(ByteView untrusted);

} // namespace daybreak::formats
