// SPDX-License-Identifier: Apache-2.0
//
// Replay: a D program run over a recording, by the engine that ran the recorded one.
//
//     records --firing by firing--> slots (CaptureTable) --> probe fires --> engine --> LiveReport
//
// The machine is a bare one: its time is that of the records, its probes are those that were
// recorded, its threads are what the records say, and it has no memory but the recorded strings.
// BEGIN fires before the first record, END after the last, tick-N in between: where its records
// say, and where it was not recorded every time (docs/design/0074-replay.md).
#pragma once

#include "analyze/live_report.hpp"
#include "analyze/replay/alike_replay.hpp"
#include "analyze/replay/firing_slots.hpp"
#include "analyze/replay/recorded_ticks.hpp"
#include "engine/sim/simulation.hpp"

namespace daybreak::analyze {

struct ReplayOptions {
    TimeWindow window;
    std::string release;      ///< of the recorded kernel
    bool destructive = false; ///< the program may ask for destructive actions, which do nothing
    std::function<bool()> interrupted; ///< asked now and then; empty: never
    /// Gets how many records were read, now and then, before anything is printed; may be empty.
    std::function<void(uint64_t records)> progress;
    /// Firings of timers after which they end: a clock that jumps has years of them.
    uint64_t timer_firings_max = 100'000'000;
};

class Replay {
public:
    /// `index` is the ring's in the recording.  All must outlive the replay.
    Replay(const formats::Recording& recording, size_t index, const CaptureTable& table,
           const ReplayOptions& options);

    /// Runs a compiled program whose clauses name probes of the table.  Once only.
    /// Errors: as Simulation::load().
    base::Result<void> run(base::ByteView dof, LiveReport& report);

    uint64_t records() const { return records_; } ///< read
    uint64_t firings() const { return firings_; } ///< replayed
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

    base::Result<void> make_host();
    base::Result<void> load(base::ByteView dof);
    void set_thread();
    void fill_all();
    void pass_time(uint64_t mono_ns, LiveReport& report);
    base::Result<void> fire(LiveReport& report);
    base::Result<void> begin(bool has_record);
    uint64_t begin_ns() const;
    void find_end();
    base::Result<void> load_counting(base::ByteView dof, formats::DofProgram program);
    base::Result<void> run_alike(base::ByteView dof, const formats::DofProgram& program,
                                 LiveReport& report);
    bool has_to_stop();
    bool may_pass_others() const;
    void poll(LiveReport& report);
    bool is_poll_due() const;
    bool is_over() const {
        return was_interrupted_ || (has_started_ && simulation_->exit_called());
    }

    const formats::Recording& recording_;
    const size_t ring_index_;
    const formats::RingRecording& ring_;
    const CaptureTable& table_;
    const ReplayOptions options_;
    std::unique_ptr<sim::SimHost> host_;
    std::unique_ptr<sim::Simulation> simulation_;
    ReplayedProbes probes_;
    std::optional<RecordedTicks> ticks_;
    std::unique_ptr<AlikeReplay> alike_; // null: no clause was carried out so
    std::optional<FiringReader> reader_;
    FiringSlots slots_;
    std::vector<uint64_t> bytes_polled_;    // of each CPU, when it was read last
    std::optional<uint64_t> next_timer_ns_; // of the earliest timer
    uint64_t firings_per_poll_ = kFiringsPerPoll;
    uint64_t records_ = 0, firings_ = 0, since_poll_ = 0, drops_ = 0;
    bool timers_ended_ = false, has_started_ = false, was_interrupted_ = false;
    std::optional<int> exit_status_;
};

} // namespace daybreak::analyze
