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
#include "formats/segment/ring_pieces.hpp"

#include <deque>

namespace daybreak::analyze {

class LiveReport {
public:
    /// `sink`, and the symbols and hooks in `options`, must outlive it.
    LiveReport(const ReportOptions& options, Sink& sink);

    /// Prints what is new.  Pieces are untrusted, as in render_report().  Of what was `looked_at`
    /// drops are reported: those of records with records, those of aggregations with aggregations,
    /// all others with the status.
    void add(formats::RingPieces pieces, const formats::Readings& looked_at);
    /// Prints a line of its own between two adds: dtrace(1) puts one before the aggregations.
    void newline() { session_.newline(); }
    /// Prints the aggregations that were not printed.
    void end() { session_.end(); }

    /// The aggregations as data; whole after end().
    std::vector<Answer> answers() const { return session_.answers(); }
    /// What the program gave to exit(), last.
    std::optional<int> exit_status() const { return session_.exit_status(); }
    /// Has the aggregations; null before the first add().
    Consumer* consumer() { return session_.consumer(); }
    const UnnamedAddresses& unnamed() const { return session_.unnamed(); }
    /// The options in force, setopt() included; null before the first add().
    const OutputOptions* output_options() const { return session_.output_options(); }

private:
    UserNames* users_;                          ///< null: there are none
    std::deque<formats::Recording> recordings_; // that the session refers to
    ReportSession session_;
    DropCounters counters_;
};

} // namespace daybreak::analyze
