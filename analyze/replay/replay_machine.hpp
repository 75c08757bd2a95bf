// SPDX-License-Identifier: Apache-2.0
//
// ReplayMachine: the bare machine that a replay's program runs on, with the program loaded.
//
// Its time is that of the records, its probes are those that were recorded, its threads are what
// the records say, and it has no memory but the recorded strings.
#pragma once

#include "analyze/replay/common_places.hpp"
#include "analyze/replay/firing_reader.hpp"
#include "analyze/replay/firing_slots.hpp"
#include "analyze/replay/replayed_probes.hpp"
#include "engine/sim/simulation.hpp"

namespace daybreak::analyze {

class ReplayMachine {
public:
    struct Options {
        std::string release;      ///< of the recorded kernel
        bool destructive = false; ///< the program may ask for destructive actions, which do nothing
        uint64_t timer_firings_max = 0;
        CommonPlaces* places = nullptr; ///< of several, or of a part; null: addresses stay
        bool places_stacks = false;     ///< the program has stacks
    };

    /// `begin_ns` is the common time at which it begins.  The probes must outlive it.
    /// Errors: as Simulation::load().
    static base::Result<std::unique_ptr<ReplayMachine>> create(const ReplayedProbes& probes,
                                                               uint64_t begin_ns,
                                                               const Options& options,
                                                               base::ByteView dof);
    /// How many CPUs it has: as many as the recordings' machines.
    static uint32_t cpus_of(std::span<const ReplayedRecording> recordings);
    ReplayMachine(const ReplayMachine&) = delete;
    ReplayMachine& operator=(const ReplayMachine&) = delete;

    /// What comes is of a recording: its machine, its boot, its time.
    void enter(size_t recording, uint64_t own_ns);
    /// What comes is the replay's own, of several recordings of none: BEGIN, END, ticks.
    void leave(uint64_t common_ns);
    /// Fills the slots with what a firing of a recording has, and sets its thread and CPU.
    void take(const FiringReader& reader, size_t recording);
    /// An idle CPU is what the replay's own timers find.
    void set_no_thread();

    sim::BareHost& host() { return *host_; }
    sim::Simulation& simulation() { return *simulation_; }
    FiringSlots& slots() { return slots_; }
    /// The probes of each recording.
    const std::vector<ReplayedProbesById>& probes() const { return probes_; }
    /// Those timers that the replay has of its own, of several recordings.
    std::span<sim::SimProbe* const> timers() const { return timers_; }
    /// Records of its buffers that had no room, and speculations.
    uint64_t drops() const;

private:
    ReplayMachine(const ReplayedProbes& probes);
    base::Result<void> make_host(uint64_t begin_ns);
    base::Result<void> add_probes();
    base::Result<void> load(const Options& options, base::ByteView dof);
    void make_names();
    void set_thread(const FiringReader& reader, size_t recording);
    void set_user_bytes();
    void place_stacks();

    const ReplayedProbes& replayed_;
    const std::span<const ReplayedRecording> recordings_;
    const CaptureSlots& capture_slots_;
    /// Of each recording, and of none: addresses in `names_`.
    struct Names {
        uint64_t vmname = 0, bootid = 0;
    };
    std::string names_;
    std::vector<Names> names_at_;
    FiringSlots slots_;
    bool has_site_ = false;                 // the host has stacks of it
    std::optional<uint64_t> user_bytes_at_; // the host has bytes of a stack there
    std::unique_ptr<sim::BareHost> host_;
    std::unique_ptr<sim::Simulation> simulation_;
    std::vector<ReplayedProbesById> probes_;
    std::vector<sim::SimProbe*> timers_;
    CommonPlaces* places_ = nullptr;
    bool places_stacks_ = false;
    size_t boot_ = 0; // that fires, and when
    uint64_t own_ns_ = 0;
    bool is_of_recording_ = false;
};

} // namespace daybreak::analyze
