// SPDX-License-Identifier: Apache-2.0
//
// ReplayedProbes: the probes of a replay's machine, made of those that its recordings have.
//
// Of one recording they are its own, with their ids.  Of several, one probe stands for that of all
// recordings that stored the same values there, in the same slots: a clause is compiled once for a
// thousand machines that ran one program.  Recordings that stored others have another probe, of the
// same name; clauses are bound to these by id.
//
//     web-1  syscall::openat:entry  execname, pid --+--> probe 4  syscall::openat:entry
//     web-2  syscall::openat:entry  execname, pid --'
//     db-1   syscall::openat:entry  execname -----------> probe 5  syscall::openat:entry
//
// What a program calls a machine ("web-*", option -E) has a bit, which is set in the firings of the
// recordings of these machines.
#pragma once

#include "analyze/replay/replayed_recording.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace daybreak::analyze {

struct ReplayedProbe {
    formats::ProbeInfo info;                 ///< its id is that in the replay
    const CapturedProbe* captured = nullptr; ///< of one of its recordings; null: the replay's timer
    std::set<size_t> recordings;             ///< that have it, by index

    bool is_timer() const { return info.name.starts_with("tick-"); }
};

class ReplayedProbes {
public:
    /// The recordings' tables are finished; they must outlive it.
    explicit ReplayedProbes(std::span<const ReplayedRecording> recordings);

    bool is_of_several() const { return recordings_.size() > 1; }
    /// Whether they are of several boots, whose addresses have nothing in common.
    bool is_of_boots() const { return recordings_.back().boot != 0; }
    std::span<const ReplayedRecording> recordings() const { return recordings_; }
    const CaptureSlots& slots() const { return recordings_[0].table->slots(); }

    /// Those of the recordings and timers, by id; of one recording BEGIN, END and ERROR, too.
    const std::map<uint32_t, ReplayedProbe>& all() const { return probes_; }
    /// Returns the id of a recording's probe; 0: the replay has none for it.
    uint32_t id_of(size_t recording, uint32_t recorded_id) const;
    /// Returns the id of a timer of the replay's own, of several recordings: tick-N.
    uint32_t add_timer(const std::string& name);

    /// Returns the indexes of the recordings of machines with such a name; "" is all.
    std::set<size_t> machines(const std::string& glob) const;
    /// Returns the slot whose bit says whether a firing is of one of these recordings.  Empty: the
    /// program asks for kMachineSetsMax such sets already.
    std::optional<uint32_t> slot_of(const std::set<size_t>& recordings);
    /// The bits of a recording's firings.
    uint64_t machine_bits(size_t recording) const { return machine_bits_[recording]; }

private:
    void add_one();
    void add_several();

    std::span<const ReplayedRecording> recordings_;
    std::map<uint32_t, ReplayedProbe> probes_;
    std::vector<std::map<uint32_t, uint32_t>> ids_; // by recording: ids by those recorded
    std::map<std::string, uint32_t> timers_;
    std::map<std::set<size_t>, uint32_t> bits_; // of sets of recordings
    std::vector<uint64_t> machine_bits_;
};

} // namespace daybreak::analyze
