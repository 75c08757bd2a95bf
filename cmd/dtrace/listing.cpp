// SPDX-License-Identifier: Apache-2.0
//
// -l: the probes that the programs name, or all there are; -v: what is known of them.
#include "cmd/dtrace/listing.hpp"

#include "analyze/list.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/dtrace/stability.hpp"

namespace daybreak::cmd {

namespace {

void list_probe(const SessionProbe& probe, bool verbose, DtraceOutput& output) {
    std::string line;
    analyze::print_probe(line, probe.id, probe.provider, probe.module, probe.function, probe.name);
    if (verbose) {
        print_attributes(line, "Probe Description Attributes", probe_attributes(probe));
        print_attributes(line, "Argument Attributes", argument_attributes(probe));
        line += "\n\tArgument Types\n\t\tNone\n\n";
    }
    output.write(line);
}

std::string text_of(const formats::DofProbeName& probe) {
    return probe.provider + ":" + probe.module + ":" + probe.function + ":" + probe.name;
}

} // namespace

void list_probes(const DtraceArguments& arguments, const CompiledPrograms* compiled,
                 ProbeIndex& probes, DtraceOutput& output) {
    std::string heading;
    analyze::print_probe_heading(heading);
    output.write(heading);
    if (compiled == nullptr) {
        static_cast<void>(probes.exists({})); // makes all of them known
        for (const SessionProbe& probe : probes.all())
            list_probe(probe, arguments.verbose, output);
        if (!probes.error().empty())
            say(arguments.name, probes.error());
        return;
    }
    for (size_t i = 0; i < compiled->descriptions.size(); i++) {
        for (const formats::DofEcb* ecb : compiled->ecbs_of(i)) {
            auto found = probes.matches(ecb->probe);
            for (const SessionProbe* probe : found)
                list_probe(*probe, arguments.verbose, output);
            if (found.empty())
                say(arguments.name,
                    "failed to match " + text_of(ecb->probe) + ": No probe matches description");
        }
    }
}

void print_stability(const CompiledPrograms& compiled, size_t index, DtraceOutput& output) {
    std::vector<compiler::ClauseStability> clauses;
    const compiler::CompileOutput& output_of = compiled.output;
    for (size_t i = 0; i < output_of.stability.size() && i < output_of.ecb_sources.size(); i++)
        if (output_of.ecb_sources[i] == index)
            clauses.push_back(output_of.stability[i]);
    output.write(stability_text(compiled.descriptions[index], clauses));
}

} // namespace daybreak::cmd
