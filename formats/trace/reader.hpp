// SPDX-License-Identifier: Apache-2.0
//
// Reading a trace file (.dbrk) into a Recording with its symbols and facts.
//
// trace.md is the specification.  A file that was cut or changed still reads: lost blocks are
// findings, everything else is there.
#pragma once

#include "formats/trace/metadata.hpp"

#include <optional>
#include <string>

namespace daybreak::formats {

/// How whole the file itself was.
struct TraceFileFacts {
    uint64_t file_bytes = 0;
    uint64_t blocks_good = 0;
    uint64_t blocks_lost = 0;    ///< by checksum, by numbering, or undecodable
    uint64_t bytes_skipped = 0;  ///< looked through for the next block
    uint64_t bytes_cut = 0;      ///< of a last block that is not whole
    uint64_t raw_data_bytes = 0; ///< of data blocks, unpacked
    bool has_end = false;        ///< the end block is there: nothing was cut off
};

/// A trace file, read.
struct Trace {
    std::string path;
    TraceFileFacts file;
    TraceHeader header; ///< empty values when its block was lost
    bool has_header = false;
    SymbolTable symbols;
    std::optional<TraceSummary> summary; ///< as the recorder saw it; empty when cut off
    std::vector<IndexEntry> index;       ///< as the file tells it; rebuildable from the recording
    std::string schema;                  ///< the Cap'n Proto schema text the file carries
    Recording recording;                 ///< its findings hold the file's too

    /// Returns whether the data has known losses (exit status 3).
    bool has_losses() const;
};

/// Reads a whole trace file.
/// Errors: not_found, io; invalid when it holds not one block of a trace file.
Result<Trace> read_trace(const std::string& path);

/// The same from bytes in memory; `name` stands for the path in messages.
Result<Trace> parse_trace(ByteView untrusted_file, const std::string& name);

} // namespace daybreak::formats
