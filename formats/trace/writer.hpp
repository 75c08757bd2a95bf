// SPDX-License-Identifier: Apache-2.0
//
// Writing a trace file (.dbrk): append-only, never seeking back.
//
// The order is: create(), then pieces and symbols in any order, then finish().  Pieces are
// segments, metadata blocks and aggregation snapshots as they were copied; they are cut to their
// committed bytes, sealed, and gathered into blocks of about block_raw_bytes: of columns when those
// are smaller, else of rows.  A file without finish() is a good file whose end is missing.
#pragma once

#include "base/file.hpp"
#include "formats/abi/trace.h"
#include "formats/trace/metadata.hpp"

#include <functional>
#include <memory>
#include <span>

namespace daybreak::formats {

/// Where the bytes go, in order.  An error of it is passed on by every function below.
using TraceSink = std::function<Result<void>(ByteView)>;

struct TraceWriterOptions {
    int zstd_level = 3;
    int rows_level = 1; ///< of rows: higher levels make them little smaller
    size_t block_raw_bytes = 1u << 20; ///< of the pieces of a block
    bool columns = true;               ///< where they are smaller than rows
    /// An index block is written after so many pieces: less than 1 MiB of it is unpacked at a time.
    size_t index_pieces = 4096;
};

class TraceWriter {
public:
    /// Writes the schema and header blocks.
    static Result<TraceWriter> create(TraceSink sink, const TraceHeader& header,
                                      TraceWriterOptions options = {});
    /// Writes nothing yet: for the blocks of another file, which add_block() and add_rows() take.
    static TraceWriter empty(TraceSink sink, TraceWriterOptions options);
    TraceWriter(TraceWriter&&) noexcept;
    TraceWriter& operator=(TraceWriter&&) noexcept;
    ~TraceWriter();

    /// Adds a segment, metadata block or aggregation snapshot as it was copied.
    /// Error: corrupt or truncated when its header is; nothing was added then.
    Result<void> add_piece(ByteView untrusted_piece);
    Result<void> add_symbols(const SymbolTable& symbols);
    /// The same by reference to the file beside this one that has them: one block.
    Result<void> add_shared_symbols(const SharedSymbols& shared);
    /// Reports what should have been added and was not; a block of its own.
    Result<void> add_skipped(std::span<const SkippedSegments> skipped);
    /// Adds what a block of pieces has, whole, whatever it is.
    Result<void> add_rows(ByteView untrusted_rows);
    /// Writes what is gathered, then a block with this payload.  An index, the contents and an end
    /// are made anew, whatever the payload.
    Result<void> add_block(enum dbk_trace_type type, ByteView raw_payload);
    /// Writes what is gathered as a block now.  After an error of the sink, which must not
    /// have written a part, it is still gathered and this can be called again.
    Result<void> flush();
    /// What is gathered and not written: whole pieces as add_piece() takes them, back to back.
    ByteView unwritten() const;
    /// Writes what is gathered, the index, the summary and the end block.
    Result<void> finish(const TraceSummary& summary);
    uint64_t bytes_written() const;

private:
    struct State;
    explicit TraceWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Memory that holds segments and metadata blocks, each on a 4 KiB boundary of it.
struct TraceRegion {
    ByteView bytes;
    std::string name; ///< for findings
};

/// Makes a trace file under another name: it is at `path` once it is committed.
/// Errors: invalid when a file with bytes in it is there and `replace` is not given; those of
/// base::OutputFile::create().
Result<base::OutputFile> create_trace_file(const std::string& path, bool replace);

/// Writes a trace file from memory regions that no CPU writes to any more, with the summary
/// computed: for the simulator, dumps and banks.  `snapshots` are aggregation buffers.  Commits the
/// file when it is complete.  Returns the summary that was written.
Result<TraceSummary> write_trace(base::OutputFile& file, const TraceHeader& header,
                                 std::span<const TraceRegion> regions,
                                 std::span<const Bytes> snapshots, const SymbolTable& symbols,
                                 TraceWriterOptions options = {});

} // namespace daybreak::formats
