// SPDX-License-Identifier: Apache-2.0
//
// Reading a trace file (.dbrk) into a Recording with its symbols and facts.
//
// trace.md is the specification.  A file that was cut or changed still reads: lost blocks are
// findings, everything else is there.
//
// Metadata is read at once; segments and aggregation snapshots are where they lie in the file, and are
// unpacked when they are looked at (docs/design/0057-trace-store.md).  The files stay open.
//
// Several files, as a recorder writes them one after the other, read as one recording of one boot:
//
//     files --pieces--> RecordingBuilder: the best copy of each --> Recording
//       |---header, symbols, summary of the newest--------------> Trace
#pragma once

#include "base/byte_source.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/jit_names.hpp"
#include "formats/trace/metadata.hpp"

#include <functional>
#include <optional>
#include <span>
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

/// One of the files of a recording.
struct TraceFile {
    std::string path;
    TraceFileFacts facts;
    TraceHeader header; ///< empty values when its block was lost
    bool has_header = false;
    std::optional<CutWindow> window; ///< that it was cut to
};

/// A boot of which files were found.
struct TraceBoot {
    uint64_t boot_id = 0;
    std::string name; ///< 16 hexadecimal digits: the beginning of the boot's UUID
    size_t files = 0;
    uint64_t file_bytes = 0;
    uint64_t last_wall_ns = 0; ///< when its newest file was begun; 0 when no file says
};

/// A recording, read from one file or several.
struct Trace {
    std::string path;             ///< of several: the first of what was named
    TraceFileFacts file;          ///< of several: sums; has_end when all have
    std::vector<TraceFile> files; ///< oldest first
    std::vector<TraceBoot> boots; ///< that were there to choose from, oldest first
    TraceHeader header;           ///< empty values when its block was lost
    bool has_header = false;
    SymbolTable symbols;
    /// Of a single file that has no symbols: those that read_traces() looks for beside it.
    std::optional<SharedSymbols> shared_symbols;
    JitNames jit_names;                  ///< of the newest file that has any of a process
    std::optional<TraceSummary> summary; ///< as the recorder saw it; empty when cut off
    Recording recording;                 ///< its findings hold the file's too

    /// Returns whether the data has known losses (exit status 3).
    bool has_losses() const;
};

/// Reads a whole trace file.
/// Errors: not_found, io; invalid when it is not a regular file, or holds not one block of a trace
/// file.
Result<Trace> read_trace(const std::string& path);

/// Opens a file, as base::open_source() does.
using OpenFile = std::function<Result<std::shared_ptr<base::ByteSource>>(const std::string& path)>;

struct ReadOptions {
    /// The boot wanted: how its UUID begins, without regard to dashes; empty: the running one when
    /// files of it are there, else the newest by the wall clock.
    std::string boot;
    OpenFile open_file = base::open_source;
    /// Data blocks that an index describes are not looked at before a piece of one is wanted: damage to
    /// the others goes unnoticed.  For a caller who wants a part of the recording.
    bool skim = false;
    /// As the builder's: more of them are known by the index alone.
    size_t segments_in_memory = RecordingBuilder::kSegmentsInMemory;
    unsigned jobs = 1;        ///< threads that may unpack data blocks, the caller's among them
    std::string running_boot; ///< UUID of the boot that runs; empty: not known
};

/// Reads what the paths name, files and folders (their *.dbrk), as one recording: of one boot, the
/// wanted, the running or the newest.  Symbols lie in the newest file that has any, else in the
/// file "BOOTID8-symbols.dbrk" beside a file or among the paths; of that boot, both.  A file that
/// vanishes while its folder is read was rotated away.  In a folder an entry that cannot be read,
/// or is foreign, is a finding: a loss when its name is of a recorder's row.  Of a file that fails
/// in the middle all before counts.
/// Errors: not_found: no such file, nothing in a folder, no such boot; invalid: no trace file, or
///         several boots begin like that; io.
Result<Trace> read_traces(std::span<const std::string> paths, const ReadOptions& options = {});

/// Whether the bytes begin as a trace file does.
bool looks_like_trace(ByteView untrusted);

/// The same as read_trace() from a source, or a copy of bytes in memory; `name` stands for the path in
/// messages.
Result<Trace> parse_trace(const std::shared_ptr<base::ByteSource>& untrusted_file,
                          const std::string& name, const ReadOptions& options = {});
Result<Trace> parse_trace(ByteView untrusted_file, const std::string& name);

} // namespace daybreak::formats
