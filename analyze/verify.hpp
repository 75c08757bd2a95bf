// SPDX-License-Identifier: Apache-2.0
//
// Verification: every record of a recording read, its report as a checksum, and its holes.
#pragma once

#include "analyze/completeness.hpp"
#include "analyze/print/sink.hpp"
#include "analyze/session/report_session.hpp"

namespace daybreak::analyze {

/// What reading all records one by one found.
struct RecordCount {
    uint64_t segments = 0, records = 0;
    /// Segments that do not have the records that were counted of them before; the recording's
    /// findings have the first.
    uint64_t miscounted = 0;
};
RecordCount count_records(const formats::Recording& recording);

/// What a report printed, messages included, without keeping it.
struct OutputDigest {
    uint64_t bytes = 0;
    uint32_t crc32c = 0;

    bool operator==(const OutputDigest&) const = default;
};
OutputDigest digest_of_report(const formats::Recording& recording, const ReportOptions& options);

/// Prints a line for each place where something is missing, and one for each interval of drops:
/// ring and CPU, how many of what, and the time after boot.  Returns how many lines.
uint64_t print_holes(const formats::Recording& recording, Sink& sink);

} // namespace daybreak::analyze
