// SPDX-License-Identifier: Apache-2.0
//
// A program that is replayed: what it is compiled against and how its buffers are.
#include "cmd/replayed_program.hpp"

#include "cmd/terminal.hpp"
#include "engine/sim/sim_host.hpp"
#include "formats/dof/dof_writer.hpp"

namespace daybreak::cmd {

using base::errorf;

std::string some_of(const std::set<std::string>& names) {
    constexpr size_t kNamed = 3;
    std::string text;
    size_t named = 0;
    for (auto name = names.begin(); name != names.end() && named < kNamed; ++name, ++named)
        text += (named == 0 ? "" : ", ") + *name;
    return names.size() > named ? text + base::strprintf(" and %zu more", names.size() - named)
                                : text;
}

void complain_of_predicates(const formats::DofProgram& program,
                            const analyze::CaptureTable& table) {
    std::set<std::string> asked, refused;
    for (const formats::DofEcb& ecb : program.ecbs)
        asked.insert(ecb.probe.text());
    for (const auto& [id, probe] : table.probes()) {
        std::string name = formats::DofProbeName{probe.info.provider, probe.info.module,
                                                 probe.info.function, probe.info.name, 0}
                               .text();
        bool is_own = probe.info.provider == "dtrace" || probe.info.name.starts_with("tick-");
        if (probe.is_conditional && !is_own && asked.contains(name))
            refused.insert(name);
    }
    if (refused.empty())
        return;
    complain("not every firing was recorded, only what a predicate or a commit() let through: " +
             some_of(refused));
}

base::Result<size_t> ring_of(const formats::Recording& recording) {
    std::optional<size_t> found;
    std::string names;
    for (size_t i = 0; i < recording.rings.size(); i++) {
        const formats::RingRecording& ring = recording.rings[i];
        if (ring.ecbs.empty())
            continue;
        names += (names.empty() ? "" : ", ") + ring.info.name;
        if (found)
            return errorf(base::ErrorCode::invalid,
                          "the recording is of several programs (%s): name one with --ring",
                          names.c_str());
        found = i;
    }
    if (!found)
        return errorf(base::ErrorCode::not_found,
                      "the recording does not describe its records: nothing can be replayed");
    return *found;
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

base::Result<base::Bytes> replayed_dof(CompiledProgram& compiled,
                                       const std::vector<formats::DofOption>& recorded_options) {
    std::vector<formats::DofOption>& options = compiled.program.options;
    options.insert(options.begin(), recorded_options.begin(), recorded_options.end());
    std::erase_if(options, [](const formats::DofOption& option) {
        return option.option == DTRACEOPT_BUFPOLICY || option.option == DTRACEOPT_BUFSIZE ||
               option.option == DBK_OPT_AGGREGATE || option.option == DBK_OPT_RINGTIME;
    });
    options.push_back({DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH, std::nullopt});
    options.push_back({DTRACEOPT_BUFSIZE, 32u << 20, std::nullopt});
    options.push_back({DBK_OPT_AGGREGATE, DBK_AGGREGATE_RECORD, std::nullopt});
    return formats::write_dof(compiled.program);
}

std::string hint_for(const compiler::ProbeDescription& description,
                     const formats::RingRecording& ring, const std::string& path) {
    for (const auto& [id, probe] : ring.probes)
        if (sim::names_match(description, probe))
            return "its clauses stored nothing; what is counted in the kernel (aggregate=engine) "
                   "has no records: record with -x aggregate=record, or capture()";
    if (description.name.starts_with("profile-"))
        return "profile-N fires where it was recorded; tick-N fires in any replay";
    if (description.name.starts_with("tick-") && description.module.empty() &&
        description.function.empty() &&
        (description.provider.empty() || description.provider == "profile"))
        return "its interval is not one of a timer: tick-10ms, tick-97hz, from 200 us on";
    return "it was not recorded: daybreak list " + path + " prints what was";
}

} // namespace daybreak::cmd
