// SPDX-License-Identifier: Apache-2.0
//
// Extraction: the recording of a machine that died, out of a dump of its memory.
//
// scan the dump once -> pieces, by boot -> choose the boot -> trace file. No vmlinux, no debuginfo
// and no matching kernel: a piece says what it is, where it lies and what boot it is of.
//
// One dump may hold several boots: the bank has the boot before in its other half, and memory that
// a warm reset did not clear has whatever lay there. The one that died is the one whose last known
// wall-clock time is the latest.
#pragma once

#include "formats/dump/piece_finder.hpp"
#include "formats/trace/metadata.hpp"
#include "recorder/record.hpp"

namespace daybreak::recorder {

using base::Result;

struct ExtractOptions {
    std::string output_path;  ///< empty: only list the boots
    std::string boot;         ///< how its UUID begins, dashes or not; empty: the boot that died
    std::string symbols_path; ///< a trace file or kallsyms text; empty: none
    std::string tool_version;
    formats::ScanOptions scan;
    bool replace = false; ///< a file at output_path; else it is an error
    formats::TraceWriterOptions writer;
};

/// What one boot left in the dump.
struct ExtractedBoot {
    uint64_t boot_id = 0;
    std::string release;       ///< of its kernel; empty when not known
    std::string crash;         ///< how it ended, one line; empty when not known
    uint64_t last_wall_ns = 0; ///< the latest time known of it; 0: none
    uint64_t segments = 0, blocks = 0, records = 0;
    std::vector<std::string> rings; ///< names of the enablings
};

struct ExtractSummary {
    formats::DumpFacts dump;
    std::vector<ExtractedBoot> boots; ///< the one that was written (or would be) first
    uint64_t file_bytes = 0;
    std::vector<RecordedRing> rings; ///< this and the next: of the boot that was written
    std::vector<formats::Finding> findings;
    /// Whether data that should be in the file is not: exit status 3.
    bool has_losses = false;
};

/// Extracts. The file appears complete, or not at all.
/// Errors: not_found, when the dump holds no recording, or not that boot's; those of scan_dump();
///         invalid, io for the output and the symbols.
Result<ExtractSummary> extract(formats::DumpInput& input, const ExtractOptions& options);

} // namespace daybreak::recorder
