// SPDX-License-Identifier: Apache-2.0
//
// Simulation: one D program from BEGIN to END on a BareHost, and what it recorded.
//
//     load()    verifies the DOF, makes tick-N and profile-N probes it names, a ring, the ECBs
//     start()   BEGIN
//     step()*   the next timer fires; virtual time jumps there
//     finish()  END
//     recording(), write_trace_file()
//
// It is also the consumer that a live dtrace(1) would be, in virtual time: under bufpolicy switch
// it takes and releases segments once per switchrate, with aggregate=engine it snapshots the
// aggregation buffers once per aggrate, and at statusrate it sees exit() and full buffers.  As long
// as aggrate is not set, a snapshot is taken after every firing that recorded something, so
// that a printa() finds what had been counted when it ran.  A setopt() of a rate holds from
// when its record was read.  Speculations are cleaned once per cleanrate.
//
// A program ends by exit(), when nothing can fire any more (as if by Ctrl-C), when a buffer of
// bufpolicy fill is full, or at its time limit: kTimeLimitNs, or kExitTimeLimitNs when the program
// calls exit() somewhere.
#pragma once

#include "engine/sim/setopt_reader.hpp"
#include "engine/sim/sim_ring.hpp"
#include "formats/dof/dof_program.hpp"
#include "formats/segment/recording.hpp"
#include "formats/trace/writer.hpp"
#include "live/ring_reader.hpp"

#include <functional>

namespace daybreak::sim {

using base::Bytes;
using base::ByteView;

constexpr uint64_t kTimeLimitNs = 10 * kNsPerSecond;
constexpr uint64_t kExitTimeLimitNs = 600 * kNsPerSecond;
/// Firings of timers after which any simulation ends.
constexpr uint64_t kTimerFiringsMax = 20'000'000;

struct SimulationOptions {
    std::string name = "sim"; ///< of the enabling
    uint16_t ring_id = 1;
    bool destructive = true; ///< option destructive is allowed
    uint32_t args = 0;       ///< that every firing has: those of BareHost::set_more_args()
    uint32_t lacks = 0;      ///< DBK_LACKS_: privileges that the program's owner has not
    uint32_t aggregate_default = DBK_AGGREGATE_ENGINE;
    uint64_t time_limit_ns = 0; ///< 0: the rule above
    std::string release = "simulated";
    uint64_t timer_firings_max = kTimerFiringsMax;
    /// Another part is the consumer, with poll(): nothing is read at any rate.
    bool outside_reader = false;
    /// And nothing reads aggregations before that: no snapshot is taken after a firing.
    bool reads_late = false;
    /// Gets how many clauses matched how many probes, before memory is asked for; may be empty.
    std::function<void(uint32_t)> matched;
    /// Gets the consumer before it is enabled, to bind what is native; may be empty.
    std::function<Result<void>(dbk_consumer*)> created;
};

/// Why a run ended.
enum class SimEnd : uint8_t { exited, idle, filled, time_limit, firing_limit, interrupted };

class Simulation {
public:
    /// `host` must outlive the simulation.  Errors: invalid (what the verifier refused, an
    /// option out of bounds), limit (no memory), unsupported (needs kernel types of a real
    /// kernel).
    static Result<std::unique_ptr<Simulation>> load(BareHost& host, ByteView untrusted_dof,
                                                    const SimulationOptions& options = {});
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;
    ~Simulation();

    BareHost& host() { return host_; }
    dbk_consumer* consumer() { return consumer_; }
    /// Probes that the program is enabled on.
    uint32_t matched() const { return matched_; }

    /// Fires BEGIN.  Error: invalid, when called twice.
    Result<void> start();
    /// Fires the next timer; false, with the reason, when the run is over.
    bool step(SimEnd& end_ret);
    /// Fires a test's probe, and does what the consumer does after a firing.
    void fire(SimProbe& probe, std::span<const uint64_t> args, const SimSite& site = {}) {
        if (uint64_t now_ns = host_.clock().now_mono_ns(); now_ns >= nothing_before_ns_)
            catch_up(now_ns);
        host_.fire(probe, args, site);
        if (!options_.reads_late)
            after_firing();
    }
    /// Takes what the current CPU has recorded but its open segment, so that what comes has room,
    /// whatever the program's policy but fill.
    void drain();
    /// Fires END and takes what is left.
    void finish();
    /// Lets time pass until the consumer looks at the status: only then it sees that exit() was
    /// called, and END fires.
    void wait_for_status();
    /// All of that.  `stop` is asked between firings.
    Result<SimEnd> run(const std::function<bool()>& stop = {});

    /// A size that memory was short for, and what it came to.
    struct Lowered {
        std::string name; ///< "buffer size"
        uint64_t bytes = 0;
    };
    std::vector<Lowered> lowered() const;

    /// Whether exit() was called.
    bool exit_called() const { return dbk_load_acquire(&state_->activity) != DBK_ACTIVITY_ACTIVE; }
    /// Whether the deadman ended it: its clauses took the CPU for themselves.
    bool is_killed() const { return dbk_consumer_activity(consumer_) == DBK_ACTIVITY_KILLED; }
    int32_t exit_status() const { return dbk_consumer_exit_status(consumer_); }

    /// Everything.
    static constexpr formats::Readings kAll{true, true, true};
    /// Takes what is new, for who prints while it goes on.  It is the caller's: recording() and
    /// write_trace_file() do not have it any more.  Under a policy that is not switch, segments are
    /// only taken after finish().
    formats::RingPieces poll(const formats::Readings& wanted = kAll);
    /// Takes the segments only, for who knows the metadata already.
    std::vector<base::Bytes> poll_segments();
    /// Whether a buffer of policy fill is full.
    bool has_filled();
    /// What the consumer outside goes by: aggrate decides whether snapshots are taken here.
    void set_rates(const formats::ReadingRates& rates) { rates_ = rates; }

    /// Builds the Recording of what was taken up to now; owns its bytes.
    formats::Recording recording();
    /// Writes a trace file, and commits it.
    Result<formats::TraceSummary> write_trace_file(base::OutputFile& file,
                                                   const formats::TraceHeader& header,
                                                   formats::TraceWriterOptions options = {});

private:
    Simulation(BareHost& host, const SimulationOptions& options) : host_(host), options_(options) {}
    Result<void> create(ByteView untrusted_dof);
    uint32_t count_matches(const formats::DofProgram& program) const;
    void catch_up(uint64_t now_ns);
    void after_firing();
    void take_counted();
    void read_until(uint64_t next_ns);
    void read(uint64_t now_ns, uint64_t next_ns);
    void read_records();
    void clean_until(uint64_t due_ns);
    void tend_until(uint64_t due_ns);
    Result<void> open_ring();
    void take_segments();
    void take_aggregations();
    formats::Recording untaken();

    BareHost& host_;
    SimulationOptions options_;
    dbk_program* program_ = nullptr; // until the consumer owns it
    dbk_consumer* consumer_ = nullptr;
    const dbk_meta_ring* state_ = nullptr; // of the consumer
    uint32_t matched_ = 0;
    uint64_t time_limit_ns_ = 0, end_mono_ns_ = 0;
    formats::ReadingRates rates_;
    std::optional<formats::ReadingSchedule> schedule_; // from start() on
    std::optional<SetoptReader> setopt_;
    bool exit_seen_ = false, filled_ = false;  // at the last look at the status
    uint64_t clean_ns_ = 0, clean_due_ns_ = 0; // of speculations; 0: there are none
    uint64_t tend_ns_ = 0, tend_due_ns_ = 0;   // of segments
    uint64_t nothing_before_ns_ = 0;           // has to be done: of an outside reader's
    uint64_t timer_firings_ = 0, records_seen_ = 0;
    std::optional<SimRing> ring_; // the consumer's
    std::optional<live::RingReader> reader_;
    formats::RingPieces taken_; // but no metadata
};

} // namespace daybreak::sim
