// SPDX-License-Identifier: Apache-2.0
//
// RecordedTable: what the recordings of a replay have of their machines, as the compiler asks for
// it.
#include "cmd/recorded_table.hpp"

#include "base/result.hpp"
#include "engine/sim/bare_host.hpp"
#include "formats/dof/dof_program.hpp"

#include <algorithm>

namespace daybreak::cmd {

namespace {

constexpr std::string_view kTarget = "$target";

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

/// Whether a part of it is another one in each recording.
bool names_target(const compiler::ProbeDescription& description) {
    return description.parts().find(kTarget) != std::string::npos;
}

/// Returns the description as a recording of that process has it.
compiler::ProbeDescription with_target(compiler::ProbeDescription description, uint32_t target) {
    for (std::string* part :
         {&description.provider, &description.module, &description.function, &description.name})
        if (size_t at = part->find(kTarget); at != std::string::npos)
            part->replace(at, kTarget.size(), std::to_string(target));
    return description;
}

/// A timer that the replay fires itself.
bool is_tick(const compiler::ProbeDescription& probe) {
    return probe.name.starts_with("tick-") &&
           sim::probe_can_exist({probe.provider.c_str(), probe.module.c_str(),
                                 probe.function.c_str(), probe.name.c_str(), 0});
}

} // namespace

RecordedTable::RecordedTable(analyze::ReplayedProbes& probes) : probes_(probes) {
    if (!probes.is_of_several())
        for (const auto& [id, probe] : probes.all())
            if (std::string name = name_of(probe.info); !by_name_.try_emplace(name, &probe).second)
                ambiguous_.insert(std::move(name));
}

/// Whether each return of a function, whose entry this is, was recorded.
bool RecordedTable::has_return(const formats::ProbeInfo& entry) const {
    return std::ranges::any_of(probes_.all(), [&entry](const auto& one) {
        const analyze::ReplayedProbe& probe = one.second;
        return probe.captured && !probe.captured->is_conditional && probe.info.name == "return" &&
               probe.info.provider == entry.provider && probe.info.module == entry.module &&
               probe.info.function == entry.function;
    });
}

/// Adds the recorded probes that the description matches, of the machines that it names.
void RecordedTable::add_recorded(const compiler::ProbeDescription& description,
                                 std::vector<compiler::ProbeDescription>& found) const {
    bool names_machine = !description.machine.empty();
    std::set<size_t> machines = probes_.machines(description.machine);
    std::vector<compiler::ProbeDescription> own; // of each recording, where they differ
    if (names_target(description))
        for (const analyze::ReplayedRecording& one : probes_.recordings())
            own.push_back(with_target(description, one.target));
    for (const auto& [id, probe] : probes_.all()) {
        bool is_own = !probe.captured || (names_machine && probe.captured->is_of_engine());
        // Of several recordings each has its ticks; a program that names no machine has the one
        // of the replay.
        bool is_theirs = probes_.is_of_several() && !names_machine && probe.is_timer();
        bool is_wanted = description.id ? !probes_.is_of_several() && *description.id == id
                                        : !own.empty() || sim::names_match(description, probe.info);
        if (is_own || is_theirs || !is_wanted)
            continue;
        std::set<size_t> asked = machines;
        if (!own.empty())
            std::erase_if(asked, [&](size_t i) { return !sim::names_match(own[i], probe.info); });
        auto is_asked = [&](size_t recording) { return asked.contains(recording); };
        if (std::ranges::none_of(probe.recordings, is_asked))
            continue;
        std::ranges::copy_if(probe.recordings, std::inserter(asked_[id], asked_[id].end()),
                             is_asked);
        if (pairs_entries_ && description.name == "entry" && !has_return(probe.info)) {
            unpaired_.insert(probe.info.function);
            continue;
        }
        compiler::ProbeDescription match = named(description, probe.info);
        if (probes_.is_of_several() || ambiguous_.contains(name_of(probe.info)))
            match.id = id;
        if (!std::ranges::all_of(probe.recordings, is_asked)) {
            match.machine_slot = probes_.slot_of(asked);
            if (!match.machine_slot) {
                too_many_sets_ = true;
                continue;
            }
        }
        found.push_back(std::move(match));
    }
}

/// Whether the description matches BEGIN, END or ERROR, which no recording has to have.
bool RecordedTable::has_own(const compiler::ProbeDescription& description,
                            const std::vector<compiler::ProbeDescription>& found, uint32_t id,
                            const char* name) const {
    formats::ProbeInfo own{id, "dtrace", "", "", name};
    return description.machine.empty() &&
           (description.id ? *description.id == id : sim::names_match(description, own)) &&
           std::ranges::none_of(found, [&](const auto& one) { return one.name == name; });
}

std::vector<compiler::ProbeDescription>
RecordedTable::matches(const compiler::ProbeDescription& description) const {
    std::vector<compiler::ProbeDescription> found;
    add_recorded(description, found);
    bool is_recorded = !found.empty();
    for (const auto& [id, name] : {std::pair(1u, "BEGIN"), {2u, "END"}, {3u, "ERROR"}})
        if (has_own(description, found, id, name))
            found.push_back(named(description, {id, "dtrace", "", "", name}));
    if (is_recorded || !found.empty() || !description.machine.empty() || !is_tick(description))
        return found;
    found.push_back(description);
    if (probes_.is_of_several())
        found.back().id = probes_.add_timer(description.name);
    return found;
}

/// What the replay knows of each firing by itself.
std::optional<RecordedTable::Value> RecordedTable::find_own(const std::string& expression) const {
    const analyze::CaptureSlots& slots = probes_.slots();
    if (expression == "vmname")
        return Value{slots.vmname(), "string"};
    if (expression == "bootid")
        return Value{slots.bootid(), "string"};
    if (expression == kTarget)
        return Value{slots.target(), "pid_t"};
    return std::nullopt;
}

/// The clocks of the firing's recording, where there are several: of one they are the machine's.
std::optional<RecordedTable::Value> RecordedTable::find_time(const std::string& expression) const {
    const analyze::CaptureSlots& slots = probes_.slots();
    if (!probes_.is_of_several())
        return std::nullopt;
    if (expression == "timestamp")
        return Value{slots.timestamp(), "uint64_t"};
    if (expression == "walltimestamp")
        return Value{slots.walltimestamp(), "int64_t"};
    return std::nullopt;
}

std::optional<RecordedTable::Value> RecordedTable::find(const compiler::ProbeDescription& probe,
                                                        const std::string& expression) const {
    if (auto own = find_own(expression))
        return own;
    const analyze::CapturedValue* value = captured_at(probe, expression);
    auto time = find_time(expression);
    if (!value || (time && value->is_conditional))
        return time;
    return Value{value->slot, value->type, value->is_always, value->is_conditional};
}

void RecordedTable::use(const compiler::ProbeDescription& probe,
                        const std::string& expression) const {
    const analyze::CapturedValue* value = captured_at(probe, expression);
    if (probe.provider == "dtrace" && (value || find_own(expression)))
        of_ends_.insert(expression);
    else if (value && value->is_conditional && !find_time(expression))
        partial_.insert(expression + " at " + name_of(probe));
}

/// Returns null for what no clause of the probe recorded.
const analyze::CapturedValue* RecordedTable::captured_at(const compiler::ProbeDescription& probe,
                                                         const std::string& expression) const {
    const analyze::ReplayedProbe* found = probe_at(probe);
    if (!found || !found->captured)
        return nullptr;
    auto value = found->captured->values.find(expression);
    return value == found->captured->values.end() ? nullptr : &value->second;
}

bool RecordedTable::has_process(const compiler::ProbeDescription& probe) const {
    const analyze::ReplayedProbe* found = probe_at(probe);
    if (!found || !found->captured)
        return true; // of no process: a tick, BEGIN
    return std::ranges::any_of(found->captured->values, [](const auto& one) {
        return one.first == "pid" || one.second.kind == analyze::CapturedKind::user_address ||
               one.second.kind == analyze::CapturedKind::user_stack;
    });
}

bool RecordedTable::has_places(bool is_of_process) const {
    return probes_.is_of_boots() || (places_processes_ && is_of_process);
}

std::string RecordedTable::all(const compiler::ProbeDescription& probe) const {
    std::string text;
    const analyze::ReplayedProbe* found = probe_at(probe);
    if (found && found->captured)
        for (const auto& [expression, value] : found->captured->values)
            if (!expression.starts_with('"') && expression.find("this->") == std::string::npos &&
                expression.find("self->") == std::string::npos)
                text += (text.empty() ? "" : ", ") + expression;
    return text.empty() ? "nothing" : text;
}

std::string RecordedTable::place(const compiler::ProbeDescription& probe) const {
    const analyze::ReplayedProbe* found = probe_at(probe);
    if (!probes_.is_of_several() || !found || found->recordings.empty())
        return "";
    const analyze::ReplayedRecording& first = probes_.recordings()[*found->recordings.begin()];
    if (!probes_.is_of_boots())
        return " of ring " + first.ring().info.name + " (--ring takes one alone)";
    std::string text = " of " + (first.vmname.empty() ? "boot " + first.bootid : first.vmname);
    if (found->recordings.size() > 1)
        text += base::strprintf(" and %zu more recordings", found->recordings.size() - 1);
    return text;
}

/// Returns null for what no recording has.
const analyze::ReplayedProbe*
RecordedTable::probe_at(const compiler::ProbeDescription& probe) const {
    if (probes_.is_of_several() || probe.id) {
        auto found = probes_.all().find(probe.id.value_or(0));
        return found == probes_.all().end() ? nullptr : &found->second;
    }
    auto found = by_name_.find(name_of(probe));
    return found == by_name_.end() ? nullptr : found->second;
}

} // namespace daybreak::cmd
