// SPDX-License-Identifier: Apache-2.0
//
// LiveReport: what dtrace(1) prints while it traces.
//
// The same consumer as of a Report, fed with what a running ring has got since the last time:
//
//     LiveReport live(options, sink);
//     loop:  live.add(pieces)      prints the new records, reports new drops
//     live.end()                   the aggregations that no printa() has shown
//
// A segment that is still being written may be given again, longer: its records count once.  Each
// add() hands all of its text to the sink before it returns.
#pragma once

#include "analyze/consume/consumer.hpp"
#include "analyze/report.hpp"

#include <deque>

namespace daybreak::analyze {

/// What is new of one ring; every element is a whole piece as segment.md and meta.md have them.
struct LivePieces {
    std::vector<base::Bytes> metadata; ///< all blocks of the ring and of the host
    std::vector<base::Bytes> segments;
    std::vector<base::Bytes> aggregations;
    /// Records after it are left for the next time; empty: there is nothing after it.
    std::optional<uint64_t> horizon_mono_ns;
    /// What was looked at: drops of records are reported with records, those of aggregations with
    /// aggregations, all others with the status.
    formats::Readings looked_at{true, true, true};
};

class LiveReport {
public:
    /// `sink`, and the symbols and hooks in `options`, must outlive it.  `options.window` does not
    /// apply.
    LiveReport(const ReportOptions& options, Sink& sink);
    ~LiveReport();

    /// Prints what is new.  Pieces are untrusted, as in render_report().
    void add(LivePieces pieces);
    /// Prints a line of its own between two adds: dtrace(1) puts one before the aggregations.
    void newline();
    /// Prints the aggregations that were not printed.
    void end();

    /// What the program gave to exit(), last.
    std::optional<int> exit_status() const { return shared_.exit_status; }
    const UnnamedAddresses& unnamed() const { return names_.unnamed(); }
    /// The options in force, setopt() included; null before the first add().
    const OutputOptions* output_options() const {
        return consumer_ ? &consumer_->options() : nullptr;
    }

private:
    bool take_metadata(formats::Recording& recording);
    void consume_records(const formats::Recording& recording,
                         std::optional<uint64_t> horizon_mono_ns);
    void consume_firing(std::vector<MergedRecord>& firing);
    void tell_drops(const formats::RingRecording& ring, const formats::Readings& looked_at);

    ReportOptions options_;
    AddressNames names_;
    ConsumerShared shared_;
    /// The recordings that plans of the consumer refer to: one for each time ECBs were added.
    std::deque<formats::Recording> generations_;
    size_t ecbs_known_ = 0;
    std::unique_ptr<Consumer> consumer_;
    MergeStarts starts_;
    std::map<std::pair<uint16_t, unsigned>, uint64_t> drops_reported_; // by CPU and cause
};

} // namespace daybreak::analyze
