// SPDX-License-Identifier: Apache-2.0
//
// Which of the recorded probes the clauses of a replayed program are of.
#include "analyze/replay/asked_probes.hpp"

#include "engine/sim/bare_host.hpp"

namespace daybreak::analyze {

namespace {

/// Whether a part of a description means itself and nothing else.
bool is_name(const std::string& part) {
    return !part.empty() && part.find_first_of("*?[\\") == std::string::npos;
}

} // namespace

std::map<uint32_t, std::vector<const formats::DofEcb*>>
clauses_of_probes(const formats::DofProgram& program, const ReplayedProbes& probes,
                  size_t recording) {
    // A program has thousands of clauses, and a recording as many probes: most have all their
    // names.
    using Names = std::array<std::string, 3>;
    std::map<Names, std::vector<const formats::DofEcb*>> by_names;
    std::map<uint32_t, std::vector<const formats::DofEcb*>> by_id; // of several recordings
    std::vector<const formats::DofEcb*> patterns;
    for (const formats::DofEcb& clause : program.ecbs) {
        const formats::DofProbeName& probe = clause.probe;
        bool has_names = is_name(probe.provider) && is_name(probe.name) &&
                         (probe.function.empty() || is_name(probe.function));
        (probe.id != 0 ? by_id[probe.id]
         : has_names   ? by_names[{probe.provider, probe.function, probe.name}]
                       : patterns)
            .push_back(&clause);
    }
    std::map<uint32_t, std::vector<const formats::DofEcb*>> found;
    for (const auto& [id, probe] : probes.recordings()[recording].table->probes()) {
        if (probe.is_of_engine())
            continue;
        if (auto clauses = by_id.find(probes.id_of(recording, id)); clauses != by_id.end())
            found[id] = clauses->second;
        const formats::ProbeInfo& info = probe.info;
        for (const formats::DofEcb* clause : patterns)
            if (sim::names_match(clause->probe, info))
                found[id].push_back(clause);
        for (const Names& names : {Names{info.provider, info.function, info.name},
                                   Names{info.provider, "", info.name}}) {
            auto clauses = by_names.find(names);
            if (clauses == by_names.end())
                continue;
            for (const formats::DofEcb* clause : clauses->second)
                if (sim::names_match(clause->probe, info))
                    found[id].push_back(clause);
            if (info.function.empty())
                break;
        }
    }
    return found;
}

YieldedEcbs asked_ecbs(const formats::DofProgram& program, const ReplayedProbes& probes,
                       size_t recording) {
    const ReplayedRecording& replayed = probes.recordings()[recording];
    const CaptureTable& table = *replayed.table;
    auto clauses = clauses_of_probes(program, probes, recording);
    YieldedEcbs asked;
    for (const formats::RingRecording& one : replayed.recording->rings)
        asked.emplace_back(one.ecbs.all().size());
    const std::vector<formats::EcbInfo>& ecbs = replayed.ring().ecbs.all();
    for (size_t i = 0; i < ecbs.size(); i++) {
        auto probe = table.probes().find(ecbs[i].probe_id);
        asked[replayed.ring_index][i] = probe != table.probes().end() &&
                         (probe->second.is_of_engine() || clauses.contains(ecbs[i].probe_id));
    }
    return asked;
}

} // namespace daybreak::analyze
