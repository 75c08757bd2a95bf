// SPDX-License-Identifier: Apache-2.0
//
// Writing a trace file again, smaller: in columns, at another level, or back in rows; or a window
// of it.
#pragma once

#include "base/file.hpp"
#include "formats/trace/writer.hpp"
#include "recorder/cut.hpp"

namespace daybreak::recorder {

using base::Result;

struct PackOptions {
    std::string output_path;     ///< empty: the file itself is replaced
    bool replace = false;        ///< a file at output_path; else it is an error
    bool even_if_larger = false; ///< in place, too: what was asked for is its form
    formats::TraceWriterOptions writer;
    /// A window of it, planned for the recording that the file has; null: all.  Needs an output
    /// path.
    Cut* cut = nullptr;
};

struct PackSummary {
    uint64_t bytes_before = 0, bytes_after = 0;
    bool replaced = false; ///< false: in place, and it would not have become smaller
};

/// Packs one file.  With an output path of its own it gets the symbols that it has in a file beside
/// it.  Everything but that and the index is the same again, and the new file is compared with the
/// old one's pieces before it takes its place: on an error nothing has changed.  With a cut it has
/// what that leaves, and says what it has left out.
/// Errors: not_found, io; invalid: not a trace file; corrupt: it is damaged, cut, or not finished,
///         or of a newer version, or symbols beside it are not there or others: it stays as it is.
Result<PackSummary> pack(const std::string& path, const PackOptions& options);

} // namespace daybreak::recorder
