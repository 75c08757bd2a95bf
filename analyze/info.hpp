// SPDX-License-Identifier: Apache-2.0
//
// Info: what a recording is, and how complete.
#pragma once

#include "analyze/completeness.hpp"
#include "analyze/decode/wanted_probes.hpp"
#include "analyze/print/sink.hpp"
#include "formats/trace/reader.hpp"

namespace daybreak::analyze {

struct InfoOptions {
    /// So many lines of the kernel's log are printed; empty: the last ones of a machine that died.
    std::optional<size_t> log_lines;
    /// When set, records, drops and the last line are of this time only.
    TimeWindow window;
    /// The CPUs that were kept of the recording, as the user wrote them; empty: all.
    std::string cpus;
    /// Whose records are counted; what is missing is known of CPUs, not of probes.
    WantedProbes probes;

    bool is_part() const { return window.is_set() || probes.is_set(); }
};

/// Prints a summary of a trace file: host, boot, time, rings, records per CPU, drops by cause, CPU
/// and interval, findings, and as its last line whether the recording is complete.
///
/// Returns the note that the last line is made of; its advised_status() is for exit().
CompletenessNote print_info(const formats::Trace& trace, Sink& sink,
                            const InfoOptions& options = {});

/// The same without what only a file knows; for a recording in memory.
CompletenessNote print_info(const formats::Recording& recording, Sink& sink,
                            const InfoOptions& options = {});

/// Returns the boot's UUID; its first half when no more of it is there, empty when nothing is.
/// `header` is that of the file, or null.
std::string boot_text(const formats::Recording& recording, const formats::TraceHeader* header);

/// The same as one object of JSON (daybreak(1)).
CompletenessNote print_info_json(const formats::Trace& trace, Sink& sink,
                                 const InfoOptions& options = {});

} // namespace daybreak::analyze
