// SPDX-License-Identifier: Apache-2.0
//
// ReportSession: the one loop that turns recorded pieces into what dtrace(1) prints.
//
// It is fed with a whole recording, or again and again with what is new of a ring that is still
// written:
//
//     ReportSession session(options, sink);
//     session.feed(recording, drops_of(recording));
//     session.end();
//
//     records of all CPUs, in order --> the records of one firing
//                                         1 drops that lie before it
//                                         2 snapshots of the engine that begin before it
//                                         3 what it aggregates counts, in all its clauses
//                                         4 its statements are carried out
//
// A snapshot is merged where its records stand: before the first record that came into the ring
// after counting into the snapshot had begun, or, with option temporal, was made after that.  So
// what is printed depends on what was recorded and when it was read from the engine, not on how
// often a session is fed.  Option temporal is the exception: what a later commit() releases cannot
// be put before what has been printed.
#pragma once

#include "analyze/decode/window.hpp"
#include "analyze/print/sink.hpp"
#include "analyze/session/consumer.hpp"
#include "analyze/session/drops.hpp"
#include "analyze/session/tally.hpp"
#include "analyze/values/options.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace daybreak::analyze {

struct ReportOptions {
    /// What the command line asks for; the program's own options come on top.
    OutputOptions output;
    /// The CPU and ID columns are left out, as D test suites expect.
    bool testing = false;
    /// An object of JSON for each record and aggregation, one per line (daybreak(1)), not text.
    bool json = false;
    /// clear() and trunc() are not carried out: answers() has all that was aggregated.
    bool totals = false;
    TimeWindow window;
    WantedProbes probes;
    /// Kernel symbols; null: addresses stay numbers.  Must outlive the call.
    const formats::SymbolTable* symbols = nullptr;
    /// Processes that still run; null: their addresses stay numbers.  Must outlive the call.
    UserNames* users = nullptr;
    UserNameStyle user_style;
    /// Whose addresses %A of plain integers are; 0: of no one process.
    uint64_t target_pid = 0;
    ConsumerHooks hooks;
    /// Memory for aggregations of one ring.
    uint64_t aggregation_bytes_max = kAggregationBytesMax;
    /// A ring is fed as it grows, and what was fed before may be there again.
    bool grows = false;
    /// Gets how many records were read, now and then; may be empty.
    std::function<void(uint64_t records)> progress;
    /// Asked as often: the records that follow are not read.  May be empty.
    std::function<bool()> interrupted;
};

/// What a session has printed.
struct PrintedRecords {
    uint64_t count = 0;                           ///< in the window
    uint64_t first_boot_ns = 0, last_boot_ns = 0; ///< of these
};

class ReportSession {
public:
    /// `sink`, and what `options` points to, must outlive it.
    ReportSession(const ReportOptions& options, Sink& sink);

    /// Prints what the recording holds that was not fed before, up to the horizon: the time up to
    /// which the records of every CPU are here.  Empty: all of them are.  With option `grows` a
    /// segment that was fed before may be there again, longer: its records count once.
    ///
    /// Returns whether the session refers to the recording from now on, which must then outlive it.
    /// `drops` have to stand as drops_of() puts them.  The recording is untrusted: see
    /// render_report().
    bool feed(const formats::Recording& recording, std::vector<Drop> drops,
              std::optional<uint64_t> horizon_mono_ns = std::nullopt);
    /// Reports what is wrong with the pieces themselves.
    void problem(const std::string& text);
    /// Prints a line of its own: dtrace(1) puts one before the aggregations.
    void newline();
    /// Merges the snapshots that are left, and prints the aggregations that no printa() has shown.
    void end();

    /// The aggregations of all rings as data, printed or not; whole after end().
    std::vector<Answer> answers() const;
    const PrintedRecords& printed() const { return printed_; }
    /// Statements that could not be carried out.
    uint64_t problems() const { return shared_.problems; }
    /// What the program gave to exit(), last.
    std::optional<int> exit_status() const { return shared_.exit_status; }
    /// Of the first ring; null before there is one.
    Consumer* consumer() { return rings_.empty() ? nullptr : rings_.front().consumer.get(); }
    /// How many records were read until options_.interrupted(); empty: it did not say so.
    std::optional<uint64_t> interrupted_after() const { return interrupted_after_; }
    const UnnamedAddresses& unnamed() const { return names_.unnamed(); }
    /// The options in force, setopt() included, of the first ring; null before there is one.
    const OutputOptions* output_options() const {
        return rings_.empty() ? nullptr : &rings_.front().consumer->options();
    }

private:
    /// A snapshot that waits for another feed, with its bytes.
    struct Held {
        formats::AggregationSnapshot snapshot;
        base::Bytes bytes;
    };
    /// A snapshot whose turn has not come: of the recording at hand, or held.
    struct Waiting {
        const formats::AggregationSnapshot* snapshot = nullptr;
        std::unique_ptr<Held> held;
    };
    struct Ring {
        uint16_t ring_id = 0;
        size_t ecbs_known = 0;
        std::unique_ptr<Consumer> consumer;
        std::deque<Waiting> snapshots;               // ascending by base_ticks
        const formats::RingRecording* fed = nullptr; // in the recording at hand
    };

    Ring* find(uint16_t ring_id);
    bool take_rings(const formats::Recording& recording);
    void take_snapshots(Ring& ring);
    MergeStarts starts(const formats::Recording& recording) const;
    YieldedEcbs yielded_ecbs() const;
    void note_snapshots();
    MergeOrder order() const;
    bool has_to_stop(uint64_t records);
    std::unique_ptr<Tally> tally(const formats::Recording& recording, const MergeOptions& options);
    void merge_until(Ring& ring, uint64_t ticks);
    void settle_snapshots(std::optional<uint64_t> horizon_mono_ns);
    void consume_firing();
    void put_first(uint64_t boot_ns);
    bool is_reported(const Drop& drop) const;
    void report_drops(uint64_t mono_ns);

    ReportOptions options_;
    AddressNames names_;
    ConsumerShared shared_;
    std::deque<Ring> rings_;
    MergeStarts starts_; // of what comes next
    PrintedRecords printed_;
    std::optional<uint64_t> interrupted_after_;
    bool noted_snapshots_ = false;
    // Of the recording at hand:
    MergeOrder order_ = MergeOrder::arrival;
    std::vector<Ring*> fed_;           // by index in the recording
    std::vector<MergedRecord> firing_; // records of one firing, in order
    std::vector<Drop> drops_;
    size_t next_drop_ = 0;
    uint64_t last_ticks_ = 0;                         // of the last record that was printed,
    const formats::ClockModel* last_clock_ = nullptr; // and its ring's clock
};

} // namespace daybreak::analyze
