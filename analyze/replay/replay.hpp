// SPDX-License-Identifier: Apache-2.0
//
// Replay: a D program run over recordings, by the engine that ran the recorded one.
//
//     records --firing by firing--> slots (CaptureTable) --> probe fires --> engine --> LiveReport
//
// BEGIN fires before the first record, END after the last, tick-N in between: where its records
// say, and where it was not recorded every time (docs/design/0074-replay.md).
//
// Several recordings are one run of one program: their firings come in the order of a time that
// they have in common, each with its machine's name, boot and clocks.  BEGIN, END and tick-N are of
// no machine then (docs/design/0077-many-recordings.md).
#pragma once

#include "analyze/live_report.hpp"
#include "analyze/replay/alike_replay.hpp"
#include "analyze/replay/covered_time.hpp"
#include "analyze/replay/firing_merge.hpp"
#include "analyze/replay/recorded_ticks.hpp"
#include "analyze/replay/replay_machine.hpp"

namespace daybreak::analyze {

struct ReplayOptions {
    std::string release;      ///< of the recorded kernel
    bool destructive = false; ///< the program may ask for destructive actions, which do nothing
    std::function<bool()> interrupted; ///< asked now and then; empty: never
    /// Gets how many records were read, now and then, before anything is printed; may be empty.
    std::function<void(uint64_t records)> progress;
    /// Firings of timers after which they end: a clock that jumps has years of them.
    uint64_t timer_firings_max = 100'000'000;
    /// Of several recordings: what their stacks have in common, for the report, too; may be null.
    CommonPlaces* places = nullptr;
};

class Replay {
public:
    /// Of the recordings of the probes, at least one.  All must outlive the replay.
    Replay(const ReplayedProbes& probes, const ReplayOptions& options);

    /// Runs a compiled program whose clauses name these probes.  Once only.
    /// Errors: as Simulation::load().
    base::Result<void> run(base::ByteView dof, LiveReport& report);

    /// When BEGIN fires, CLOCK_MONOTONIC, and where it did.
    uint64_t begin_ns() const { return begin_ns_; }
    uint16_t begin_cpu() const { return begin_cpu_; }
    uint64_t records() const { return records_; } ///< read
    uint64_t firings() const { return firings_; } ///< replayed
    /// Of the one recording; none, when nothing was read firing by firing.
    DividedFirings divided() const {
        return merge_ ? merge_->reader().divided() : DividedFirings{};
    }
    /// Whether a recorded probe fired that the program has a clause of.
    bool has_fired() const { return has_fired_; }
    /// Records of the replay itself that had no room, or speculations: reported, too.
    uint64_t drops() const { return drops_; }
    bool has_timers_ended() const { return timers_ended_; }
    bool was_interrupted() const { return was_interrupted_; }
    /// What the program gave to exit(); empty: it did not call it.
    std::optional<int> exit_status() const { return exit_status_; }

private:
    /// Buffers are read when so many bytes are in that of a CPU, or after so many firings.
    static constexpr uint64_t kBytesPerPoll = 4u << 20;
    static constexpr uint64_t kFiringsPerPoll = 1u << 16;
    static constexpr uint64_t kRecordsToEnd = 1u << 16;

    bool is_of_several() const { return probes_.is_of_several(); }
    base::Result<std::unique_ptr<ReplayMachine>> make_machine(base::ByteView dof) const;
    base::Result<void> begin(bool has_record);
    /// Lets time pass up to a record.
    void pass_time(uint64_t common_ns, LiveReport& report) {
        if (next_timer_ns_ && *next_timer_ns_ <= common_ns)
            fire_timers(common_ns, report);
        else
            machine_->host().clock().advance_to(common_ns);
    }
    void fire_timers(uint64_t common_ns, LiveReport& report);
    base::Result<void> fire(LiveReport& report);
    void find_end();
    base::Result<void> load(base::ByteView dof, formats::DofProgram program);
    base::Result<void> run_alike(base::ByteView dof, const formats::DofProgram& program,
                                 LiveReport& report);
    void choose(const formats::DofProgram& program);
    void pass_last(LiveReport& report);
    bool has_to_stop();
    void poll(LiveReport& report, bool is_last = false);
    bool is_poll_due() const;
    bool has_room() const;
    void poll_when_due(LiveReport& report);
    bool is_over() const {
        return was_interrupted_ || (has_started_ && machine_->simulation().exit_called());
    }

    const ReplayedProbes& probes_;
    const std::span<const ReplayedRecording> recordings_;
    const ReplayOptions options_;
    const CoveredTime covered_; // of several
    std::unique_ptr<ReplayMachine> machine_;
    std::optional<RecordedTicks> ticks_; // of the one recording, when there are not several
    std::vector<std::unique_ptr<AlikeReplay>> alike_; // of each recording that has one
    std::vector<FiringReader::Choice> choices_;       // of each recording: what is read
    std::vector<std::optional<YieldedEcbs>> asked_;   // of each recording; empty: all of it
    std::optional<FiringMerge> merge_;
    struct Polled {
        const dbk_meta_cpu* counters;
        uint64_t bytes; // when it was read last
    };
    std::vector<Polled> polled_;            // of each CPU
    std::optional<uint64_t> next_timer_ns_; // of the earliest timer
    bool places_stacks_ = false;            // the program has stacks
    uint64_t firings_per_poll_ = kFiringsPerPoll;
    uint32_t kept_bytes_ = 0;    // of a CPU's aggregations, where the engine keeps them; else 0
    uint64_t records_alike_ = 0; // read by these
    uint64_t records_ = 0, firings_ = 0, since_poll_ = 0, drops_ = 0;
    bool timers_ended_ = false, has_started_ = false, was_interrupted_ = false;
    bool has_fired_ = false;
    std::optional<int> exit_status_;
    uint64_t begin_ns_ = 0;
    uint16_t begin_cpu_ = 0;
};

} // namespace daybreak::analyze
