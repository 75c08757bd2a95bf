// SPDX-License-Identifier: Apache-2.0
//
// RecordedTable: what the recordings of a replay have of their machines, as the compiler asks for
// it.
#pragma once

#include "analyze/replay/replayed_probes.hpp"
#include "compiler/sema/recorded_state.hpp"

#include <map>
#include <set>

namespace daybreak::cmd {

class RecordedTable : public compiler::RecordedState {
public:
    /// The probes must outlive it; they get the timers and machines that are asked for.
    explicit RecordedTable(analyze::ReplayedProbes& probes);

    /// From now on a description that names "entry" matches those only whose every return was
    /// recorded, too.
    void pair_entries() { pairs_entries_ = true; }
    /// Entries that it would match, but for that.
    const std::set<std::string>& unpaired() const { return unpaired_; }

    std::vector<compiler::ProbeDescription>
    matches(const compiler::ProbeDescription& description) const override;
    std::optional<Value> find(const compiler::ProbeDescription& probe,
                              const std::string& expression) const override;
    void use(const compiler::ProbeDescription& probe, const std::string& expression) const override;
    bool has_process(const compiler::ProbeDescription& probe) const override;
    bool has_places(bool is_of_process) const override;
    std::string all(const compiler::ProbeDescription& probe) const override;
    std::string place(const compiler::ProbeDescription& probe) const override;

    /// Addresses of processes are to be places, as of several recordings they are: for partial
    /// states.
    void place_processes() { places_processes_ = true; }

    /// Values that were asked for, and that not every firing has.
    const std::set<std::string>& partial() const { return partial_; }
    /// The recordings, by index, whose firings of a probe descriptions asked for; by its id here.
    std::set<size_t> asked_of(uint32_t id) const {
        auto asked = asked_.find(id);
        return asked == asked_.end() ? std::set<size_t>() : asked->second;
    }
    /// Whether descriptions matched probes of more sets of recordings than there is room for.
    bool has_too_many_sets() const { return too_many_sets_; }
    /// Values of the recording that BEGIN and END asked for.
    const std::set<std::string>& of_ends() const { return of_ends_; }

private:
    bool has_own(const compiler::ProbeDescription& description,
                 const std::vector<compiler::ProbeDescription>& found, uint32_t id,
                 const char* name) const;
    bool has_return(const formats::ProbeInfo& entry) const;
    void add_recorded(const compiler::ProbeDescription& description,
                      std::vector<compiler::ProbeDescription>& found) const;
    std::optional<Value> find_own(const std::string& expression) const;
    std::optional<Value> find_time(const std::string& expression) const;
    const analyze::CapturedValue* captured_at(const compiler::ProbeDescription& probe,
                                              const std::string& expression) const;
    const analyze::ReplayedProbe* probe_at(const compiler::ProbeDescription& probe) const;

    analyze::ReplayedProbes& probes_;
    std::map<std::string, const analyze::ReplayedProbe*> by_name_; // of one recording
    /// Names that several of its probes have: a module that was loaded twice.  Their clauses are
    /// bound by id.
    std::set<std::string> ambiguous_;
    bool pairs_entries_ = false, places_processes_ = false;
    mutable std::set<std::string> partial_, of_ends_, unpaired_;
    mutable std::map<uint32_t, std::set<size_t>> asked_;
    mutable bool too_many_sets_ = false;
};

} // namespace daybreak::cmd
