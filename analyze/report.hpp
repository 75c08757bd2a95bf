// SPDX-License-Identifier: Apache-2.0
//
// Report: what dtrace(1) would have printed of a recording.
//
//     DBK_TRY(auto trace, formats::read_traces(paths));
//     ReportOptions options;
//     options.symbols = &trace.symbols;
//     Report report = render_report(trace.recording, options, sink);
//     // standard error: report.completeness.verdict(); exit: report.status()
#pragma once

#include "analyze/completeness.hpp"
#include "analyze/session/report_session.hpp"
#include "formats/trace/metadata.hpp"

#include <optional>

namespace daybreak::analyze {

struct Report {
    std::optional<int> exit_status;               ///< what the program gave to exit(), last
    uint64_t records = 0;                         ///< in the window
    uint64_t problems = 0;                        ///< statements that could not be carried out
    uint64_t first_boot_ns = 0, last_boot_ns = 0; ///< of the records in the window
    CompletenessNote completeness;
    UnnamedAddresses unnamed;
    std::optional<uint64_t> interrupted_after; ///< records; empty: it was not interrupted

    /// Returns the exit status for a command: the program's own if it is not 0, else 3 when data
    /// has known losses.
    int status() const {
        return exit_status.value_or(0) != 0 ? *exit_status : completeness.advised_status();
    }
};

/// Prints the recording into the sink: records in the order of time, messages about drops where
/// they happened, and at the end the aggregations that were not printed.
///
/// A recording is untrusted: whatever in it contradicts itself becomes a message of kind error, the
/// first kProblemsReported of them, and printing goes on.
Report render_report(const formats::Recording& recording, const ReportOptions& options, Sink& sink);

} // namespace daybreak::analyze
