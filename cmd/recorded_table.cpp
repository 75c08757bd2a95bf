// SPDX-License-Identifier: Apache-2.0
//
// RecordedTable: what a recording has of the machine, as the compiler of a replay asks for it.
#include "cmd/recorded_table.hpp"

#include "engine/sim/sim_host.hpp"
#include "formats/dof/dof_program.hpp"

#include <algorithm>

namespace daybreak::cmd {

namespace {

/// The four names of a probe, as any type has them.
template <class Probe>
std::string name_of(const Probe& probe) {
    return formats::DofProbeName{probe.provider, probe.module, probe.function, probe.name, 0}
        .text();
}

compiler::ProbeDescription named(compiler::ProbeDescription description,
                                 const formats::ProbeInfo& probe) {
    description.id.reset();
    description.provider = probe.provider;
    description.module = probe.module;
    description.function = probe.function;
    description.name = probe.name;
    return description;
}

bool has(const std::vector<compiler::ProbeDescription>& list, const char* name) {
    return std::ranges::any_of(list, [&](const auto& one) { return one.name == name; });
}

/// A timer that the replay fires itself.
bool is_tick(const compiler::ProbeDescription& probe) {
    return probe.name.starts_with("tick-") &&
           sim::probe_can_exist({probe.provider.c_str(), probe.module.c_str(),
                                 probe.function.c_str(), probe.name.c_str(), 0});
}

} // namespace

RecordedTable::RecordedTable(const analyze::CaptureTable& table) : table_(table) {
    for (const auto& [id, probe] : table.probes())
        by_name_.try_emplace(name_of(probe.info), &probe);
}

std::vector<compiler::ProbeDescription>
RecordedTable::matches(const compiler::ProbeDescription& description) const {
    std::vector<compiler::ProbeDescription> found;
    for (const auto& [id, probe] : table_.probes())
        if (description.id ? *description.id == id : sim::names_match(description, probe.info))
            found.push_back(named(description, probe.info));
    bool is_recorded = !found.empty();
    for (const auto& [id, name] : {std::pair(1u, "BEGIN"), {2u, "END"}, {3u, "ERROR"}}) {
        formats::ProbeInfo own{id, "dtrace", "", "", name};
        if ((description.id ? *description.id == id : sim::names_match(description, own)) &&
            !has(found, name))
            found.push_back(named(description, own));
    }
    if (!is_recorded && found.empty() && is_tick(description))
        found.push_back(description);
    return found;
}

std::optional<RecordedTable::Value>
RecordedTable::find(const compiler::ProbeDescription& probe, const std::string& expression) const {
    const analyze::CapturedProbe* captured = captured_at(probe);
    if (!captured)
        return std::nullopt;
    auto value = captured->values.find(expression);
    if (value == captured->values.end())
        return std::nullopt;
    if (!value->second.is_always && !captured->is_of_engine())
        partial_.insert(expression + " at " + name_of(probe));
    return Value{value->second.slot, value->second.type, value->second.is_always};
}

std::string RecordedTable::all(const compiler::ProbeDescription& probe) const {
    std::string text;
    if (const analyze::CapturedProbe* captured = captured_at(probe))
        for (const auto& [expression, value] : captured->values)
            if (!expression.starts_with('"') && expression.find("this->") == std::string::npos &&
                expression.find("self->") == std::string::npos)
                text += (text.empty() ? "" : ", ") + expression;
    return text.empty() ? "nothing" : text;
}

const analyze::CapturedProbe*
RecordedTable::captured_at(const compiler::ProbeDescription& probe) const {
    auto found = by_name_.find(name_of(probe));
    return found == by_name_.end() ? nullptr : found->second;
}

} // namespace daybreak::cmd
