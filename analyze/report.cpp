// SPDX-License-Identifier: Apache-2.0
//
// Report: what dtrace(1) would have printed of a recording
// (docs/design/0004-printing-recordings.md).
#include "analyze/report.hpp"

namespace daybreak::analyze {

Report render_report(const formats::Recording& recording, const ReportOptions& options,
                     Sink& sink) {
    ReportSession session(options, sink);
    session.feed(recording, drops_of(recording));
    if (!options.json)
        session.newline();
    session.end();
    Report report;
    report.exit_status = session.exit_status();
    report.records = session.printed().count;
    report.problems = session.problems();
    report.first_boot_ns = session.printed().first_boot_ns;
    report.last_boot_ns = session.printed().last_boot_ns;
    report.completeness = completeness_of(recording, options.window);
    report.unnamed = session.unnamed();
    report.interrupted_after = session.interrupted_after();
    return report;
}

} // namespace daybreak::analyze
