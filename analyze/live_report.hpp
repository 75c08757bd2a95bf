// SPDX-License-Identifier: Apache-2.0
//
// LiveReport: what dtrace(1) prints while it traces.
//
// The same session as of a Report, fed with what a running ring has got since the last time:
//
//     LiveReport live(options, sink);
//     loop:  live.add(pieces)      prints the new records, reports new drops
//     live.end()                   the aggregations that no printa() has shown
//
// A segment that is still being written may be given again, longer: its records count once.  Each
// add() hands all of its text to the sink before it returns.
#pragma once

#include "analyze/session/report_session.hpp"

#include <deque>

namespace daybreak::analyze {

/// What is new of one ring; every element is a whole piece as segment.md and meta.md have them.
struct LivePieces {
    std::vector<base::Bytes> metadata; ///< all blocks of the ring and of the host
    std::vector<base::Bytes> segments;
    std::vector<base::Bytes> aggregations;
    /// The time up to which all records are here; those after it are left for the next time.  0: no
    /// records were looked at.  Empty: there is nothing after it.
    std::optional<uint64_t> horizon_mono_ns;
    /// What was looked at: drops of records are reported with records, those of aggregations with
    /// aggregations, all others with the status.
    formats::Readings looked_at{true, true, true};
};

class LiveReport {
public:
    /// `sink`, and the symbols and hooks in `options`, must outlive it.
    LiveReport(const ReportOptions& options, Sink& sink) : session_(options, sink) {}

    /// Prints what is new.  Pieces are untrusted, as in render_report().
    void add(LivePieces pieces);
    /// Prints a line of its own between two adds: dtrace(1) puts one before the aggregations.
    void newline() { session_.newline(); }
    /// Prints the aggregations that were not printed.
    void end() { session_.end(); }

    /// What the program gave to exit(), last.
    std::optional<int> exit_status() const { return session_.exit_status(); }
    const UnnamedAddresses& unnamed() const { return session_.unnamed(); }
    /// The options in force, setopt() included; null before the first add().
    const OutputOptions* output_options() const { return session_.output_options(); }

private:
    std::deque<formats::Recording> recordings_; // that the session refers to
    ReportSession session_;
    DropCounters counters_;
};

} // namespace daybreak::analyze
