// SPDX-License-Identifier: Apache-2.0
//
// A program that is replayed: what it is compiled against and how its buffers are.
#include "cmd/replayed_program.hpp"

#include "analyze/decode/time_span.hpp"
#include "base/counted.hpp"
#include "cmd/terminal.hpp"
#include "engine/sim/bare_host.hpp"
#include "formats/dof/dof_writer.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace daybreak::cmd {

using base::errorf;
using base::some_of;

std::string note_of_predicates(const formats::DofProgram& program,
                               std::span<const analyze::CaptureTable* const> tables,
                               bool is_stored) {
    std::set<std::string> asked, refused;
    for (const formats::DofEcb& ecb : program.ecbs)
        asked.insert(ecb.probe.text());
    for (const analyze::CaptureTable* table : tables)
        for (const auto& [id, probe] : table->probes()) {
            std::string name = formats::DofProbeName{probe.info.provider, probe.info.module,
                                                     probe.info.function, probe.info.name, 0}
                                   .text();
            bool is_own = probe.is_of_engine() || probe.info.name.starts_with("tick-");
            bool is_unknown = probe.is_conditional && (!is_stored || probe.has_silent);
            if (is_unknown && !is_own && asked.contains(name))
                refused.insert(name);
        }
    if (refused.empty())
        return "";
    return "not every firing was recorded, only what a predicate or a commit() let through: " +
           some_of(refused);
}

void complain_of_predicates(const formats::DofProgram& program, const RecordingSet& set,
                            bool is_stored) {
    if (is_testing())
        return;
    std::vector<const analyze::CaptureTable*> tables;
    for (const OpenRing* ring : set.rings())
        tables.push_back(ring->table.get());
    if (std::string note = note_of_predicates(program, tables, is_stored); !note.empty())
        complain(note);
}

base::Result<void> check_recorded_once(const formats::DofProgram& program,
                                       const RecordedTable& state,
                                       std::span<const analyze::ReplayedRecording> recordings) {
    std::map<std::string, std::set<size_t>> asked; // recordings, of each probe
    for (const formats::DofEcb& ecb : program.ecbs)
        asked[ecb.probe.text()].merge(state.asked_of(ecb.probe.id));
    std::vector<analyze::TimeSpan> times; // of records in the window
    for (const analyze::ReplayedRecording& one : recordings) {
        analyze::TimeSpan span = analyze::span_of(one.ring());
        times.push_back({std::max(span.first_mono_ns, one.window.since_ns()),
                         std::min(span.last_mono_ns, one.window.until_ns())});
    }
    for (const auto& [name, having] : asked)
        for (auto one = having.begin(); one != having.end(); ++one)
            for (auto other = std::next(one);
                 other != having.end() && recordings[*other].boot == recordings[*one].boot; ++other)
                if (times[*one].first_mono_ns <= times[*other].last_mono_ns &&
                    times[*other].first_mono_ns <= times[*one].last_mono_ns)
                    return errorf(base::ErrorCode::invalid,
                                  "%s is in several rings of one boot (%u: %s, %u: %s), and would "
                                  "fire twice: name one with --ring",
                                  name.c_str(), unsigned{recordings[*one].ring().ring_id},
                                  recordings[*one].ring().info.name.c_str(),
                                  unsigned{recordings[*other].ring().ring_id},
                                  recordings[*other].ring().info.name.c_str());
    return {};
}

void know_target(KnownProbes& known, std::span<const analyze::ReplayedRecording> recordings,
                 bool is_part) {
    std::set<uint32_t> pids;
    for (const analyze::ReplayedRecording& one : recordings)
        pids.insert(one.target);
    if (pids.contains(0)) {
        known.target_hint =
            base::strprintf("%s recorded with -c or -p: name the process by its number",
                            pids.size() == 1 ? "nothing was" : "not all of the recordings were");
    } else if (is_part || pids.size() > 1) {
        known.target_is_variable = true;
        known.target_hint = "it is a number, of each recording its own: $target";
    } else {
        known.target = *pids.begin();
    }
}

base::Result<compiler::CompileSource> stored_source(const analyze::RingProgram& program) {
    for (const auto& [index, image] : program.images())
        if (image.program.source) {
            compiler::CompileSource source;
            source.text = *image.program.source;
            source.name = image.program.target ? image.program.target->main_file : "";
            if (source.name.empty())
                source.name = "the recorded program";
            return source;
        }
    return errorf(base::ErrorCode::not_found,
                  "the recording does not have the text of its program: give one with -s or -n");
}

base::Result<compiler::CompileSource> stored_source(const RecordingSet& set) {
    const OpenRecording& first = *set.all()[0];
    DBK_TRY(compiler::CompileSource source, stored_source(*first.rings[0].program));
    for (const auto& one : set.all()) {
        if (one->rings.size() > 1) // report runs each by itself
            return errorf(base::ErrorCode::invalid,
                          "%sthe recording is of several rings (%s, %s): name one with --ring, or "
                          "give a program with -s or -n",
                          set.prefix(*one).c_str(), one->rings[0].ring->info.name.c_str(),
                          one->rings[1].ring->info.name.c_str());
        DBK_TRY(compiler::CompileSource other, stored_source(*one->rings[0].program));
        if (other.text != source.text)
            return errorf(base::ErrorCode::invalid,
                          "%s and %s recorded with different programs: give one with -s or -n",
                          first.name.c_str(), one->name.c_str());
    }
    return source;
}

base::Result<base::Bytes> replayed_dof(CompiledProgram& compiled,
                                       const std::vector<formats::DofOption>& recorded_options) {
    std::vector<formats::DofOption>& options = compiled.program.options;
    options.insert(options.begin(), recorded_options.begin(), recorded_options.end());
    std::erase_if(options, [](const formats::DofOption& option) {
        return option.option == DTRACEOPT_BUFPOLICY || option.option == DTRACEOPT_BUFSIZE ||
               option.option == DBK_OPT_AGGREGATE || option.option == DBK_OPT_RINGTIME ||
               option.option == DBK_OPT_RINGMAX;
    });
    options.push_back({DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH, std::nullopt});
    options.push_back({DTRACEOPT_BUFSIZE, 32u << 20, std::nullopt});
    options.push_back({DBK_OPT_AGGREGATE, DBK_AGGREGATE_RECORD, std::nullopt});
    return formats::write_dof(compiled.program);
}

namespace {

/// Returns "db-1, web-1 and web-2": whose recordings are there.
std::string machines_text(const RecordingSet& set) {
    std::set<std::string> names;
    for (const auto& one : set.all())
        names.insert(one->vmname.empty() ? formats::kNamelessHost : one->vmname);
    return some_of(names);
}

bool names_one(const std::string& machine, const RecordingSet& set) {
    return std::ranges::any_of(set.all(), [&](const auto& one) {
        return !machine.empty() && sim::glob_match(machine, one->vmname);
    });
}

/// What to do about a description that names machines, when it matches no probe; "": something
/// else is wrong with it.
std::string machine_hint(const compiler::ProbeDescription& description, const RecordingSet& set) {
    if (!names_one(description.machine, set))
        return "no recording is of a machine " + description.machine +
               "; there are: " + machines_text(set);
    if (description.provider == "dtrace" || description.name == "BEGIN" ||
        description.name == "END")
        return "BEGIN, END and ERROR of a replay are of no machine: name none";
    if (description.name.starts_with("tick-"))
        return "it was not recorded there; without a machine's name it fires in any replay";
    return "";
}

} // namespace

std::string hint_for(const compiler::ProbeDescription& description, const RecordingSet& set) {
    if (description.id)
        return set.rings().size() > 1
                   ? "each recording has numbers of its own: name the probe"
                   : "no probe that was recorded has that number: name the probe";
    if (!description.machine.empty()) {
        if (std::string hint = machine_hint(description, set); !hint.empty())
            return hint;
    } else if (description.provider.find_first_not_of('*') != std::string::npos &&
               names_one(description.provider, set)) {
        return "-E names a machine in five parts: machine:provider:module:function:name";
    }
    for (const OpenRing* ring : set.rings())
        for (const auto& [id, probe] : ring->ring->probes)
            if (sim::names_match(description, probe))
                return "its clauses stored nothing; what is counted in the kernel "
                       "(aggregate=engine) has no records: record with -x aggregate=record, or "
                       "capture()";
    if (description.name.starts_with("profile-"))
        return "profile-N fires where it was recorded; tick-N fires in any replay";
    if (description.name.starts_with("tick-") && description.module.empty() &&
        description.function.empty() &&
        (description.provider.empty() || description.provider == "profile"))
        return "its interval is not one of a timer: tick-10ms, tick-97hz, from 200 us on";
    return "it was not recorded: daybreak list " + set.all()[0]->trace.path + " prints what was";
}

} // namespace daybreak::cmd
