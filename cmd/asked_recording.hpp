// SPDX-License-Identifier: Apache-2.0
//
// AskedRecording: one recording that several programs are replayed over, for what they give as
// data.
#pragma once

#include "analyze/completeness.hpp"
#include "analyze/print/sink.hpp"
#include "analyze/session/answer.hpp"
#include "cmd/program.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/window_options.hpp"

#include <functional>

namespace daybreak::cmd {

/// What a program gave.
struct ProgramAnswer {
    std::vector<analyze::Answer> aggregations;
    std::string text;               ///< that it printed
    std::vector<std::string> notes; ///< what is to be known of it, a sentence each
    bool aggregates = true;         ///< the program has aggregations
    bool has_drops = false;         ///< the replay itself lost something
};

/// How a program is asked.
struct AskOptions {
    bool totals = false;         ///< clear() and trunc() do nothing: all that was aggregated
    bool where_possible = false; ///< clauses that ask what was not recorded are left out
    /// Where not all rings together can be asked, the one that recorded last is, not the first.
    bool newest_ring_first = false;
    bool pairs_entries = false; ///< entries without recorded returns are left out, and said
    std::function<void(uint64_t records, uint64_t all)> progress; ///< may be empty
    /// Gets what is printed and said, instead of the answer; null: the answer has it.
    analyze::Sink* sink = nullptr;
};

class AskedRecording {
public:
    /// Errors: as read_trace_files().
    static base::Result<AskedRecording> open(const TraceFiles& files);
    /// One that was read already.
    static AskedRecording of(formats::Trace trace);
    /// Only a part of it is asked.  Errors: as apply_window_options().
    base::Result<void> apply(const WindowOptions& window);

    /// Replays a program over all rings as one recording, else over the first that has all it asks
    /// for, which is noted.
    /// Errors: invalid, what is wrong or was not recorded; not_found, no ring describes its
    /// records.
    base::Result<ProgramAnswer> ask(const ProgramArguments& program,
                                    const AskOptions& options) const;
    /// Replays the program that the recording was made with, with the options that it had; of
    /// several rings each its own, one after the other.
    /// Errors: as of ask(); not_found, its text is not there.
    base::Result<ProgramAnswer> ask_stored(const AskOptions& options) const;
    /// What the recorded programs themselves aggregated, in records or in the kernel.
    ProgramAnswer stored(const AskOptions& options) const;
    /// Names of the aggregations of the recorded programs: "@calls".
    std::set<std::string> stored_names() const;

    /// Indexes of the rings that describe their records.
    std::vector<size_t> described_rings() const;
    const formats::Trace& trace() const { return *trace_; }
    const analyze::TimeWindow& window() const { return window_; }
    analyze::CompletenessNote completeness() const {
        return analyze::completeness_of(trace_->recording, window_);
    }

private:
    AskedRecording() = default;
    struct Ring;
    /// Of some rings, as one recording; a program that a ring has the text of has its options, too.
    base::Result<ProgramAnswer> ask_rings(const std::vector<size_t>& rings,
                                          const ProgramArguments& program,
                                          const AskOptions& options, bool is_stored = false) const;

    std::unique_ptr<formats::Trace> trace_; // where it is: what is in it is referred to
    analyze::TimeWindow window_;
};

} // namespace daybreak::cmd
