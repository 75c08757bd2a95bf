// SPDX-License-Identifier: Apache-2.0
//
// ReplayedProbes: the probes of a replay's machine, made of those that its recordings have.
#include "analyze/replay/replayed_probes.hpp"

#include "engine/sim/bare_host.hpp"

#include <tuple>

namespace daybreak::analyze {

namespace {

constexpr uint32_t kFirstId = 4; // after BEGIN, END and ERROR

/// What two recordings must have in common for a clause to be compiled once for both.
using Likeness =
    std::tuple<std::string, std::string, std::string, std::string,
               std::vector<std::tuple<std::string, uint32_t, std::string, bool, bool>>>;

Likeness likeness_of(const CapturedProbe& probe) {
    Likeness likeness{
        probe.info.provider, probe.info.module, probe.info.function, probe.info.name, {}};
    for (const auto& [text, value] : probe.values)
        std::get<4>(likeness).emplace_back(text, value.slot, value.type, value.is_always,
                                           value.is_conditional);
    return likeness;
}

} // namespace

ReplayedProbes::ReplayedProbes(std::span<const ReplayedRecording> recordings)
    : recordings_(recordings), ids_(recordings.size()), machine_bits_(recordings.size()) {
    if (is_of_several())
        add_several();
    else
        add_one();
}

void ReplayedProbes::add_one() {
    for (const auto& [id, captured] : recordings_[0].table->probes()) {
        probes_[id] = {captured.info, &captured, {0}};
        ids_[0][id] = id;
    }
}

/// Numbers them by name: neither the order of the recordings nor their ids matter.
void ReplayedProbes::add_several() {
    std::map<Likeness, std::vector<std::pair<size_t, const CapturedProbe*>>> alike;
    for (size_t i = 0; i < recordings_.size(); i++)
        for (const auto& [id, captured] : recordings_[i].table->probes())
            if (!captured.is_of_engine())
                alike[likeness_of(captured)].emplace_back(i, &captured);
    uint32_t id = kFirstId;
    for (const auto& [likeness, members] : alike) {
        ReplayedProbe& probe = probes_[id];
        probe.info = members[0].second->info;
        probe.info.id = id;
        probe.captured = members[0].second;
        for (const auto& [recording, captured] : members) {
            probe.recordings.insert(recording);
            ids_[recording][captured->id] = id;
        }
        id++;
    }
}

uint32_t ReplayedProbes::id_of(size_t recording, uint32_t recorded_id) const {
    auto found = ids_[recording].find(recorded_id);
    return found == ids_[recording].end() ? 0 : found->second;
}

uint32_t ReplayedProbes::add_timer(const std::string& name) {
    auto [timer, is_new] = timers_.try_emplace(name, 0);
    if (is_new) {
        timer->second = probes_.empty() ? kFirstId : probes_.rbegin()->first + 1;
        probes_[timer->second].info = {timer->second, "profile", "", "", name};
    }
    return timer->second;
}

std::set<size_t> ReplayedProbes::machines(const std::string& glob) const {
    std::set<size_t> found;
    for (size_t i = 0; i < recordings_.size(); i++)
        if (sim::glob_match(glob, recordings_[i].vmname))
            found.insert(i);
    return found;
}

std::optional<uint32_t> ReplayedProbes::slot_of(const std::set<size_t>& recordings) {
    auto known = bits_.find(recordings);
    if (known == bits_.end()) {
        auto bit = static_cast<uint32_t>(bits_.size());
        if (bit == CaptureSlots::kMachineSetsMax)
            return std::nullopt;
        for (size_t recording : recordings)
            machine_bits_[recording] |= uint64_t{1} << bit;
        known = bits_.emplace(recordings, bit).first;
    }
    return slots().machine_slot(known->second);
}

} // namespace daybreak::analyze
