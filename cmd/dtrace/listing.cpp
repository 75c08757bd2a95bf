// SPDX-License-Identifier: Apache-2.0
//
// -l: the probes that the programs name, or all there are; -v: what is known of them.
#include "cmd/dtrace/listing.hpp"

#include "analyze/list.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/dtrace/stability.hpp"

namespace daybreak::cmd {

namespace {

void print_argument_types(std::string& line, const SessionProbe& probe,
                          compiler::ProbeArgumentTypes& types) {
    compiler::ProbeDescription named;
    named.provider = probe.provider;
    named.module = probe.module;
    named.function = probe.function;
    named.name = probe.name;
    auto known = types.of(named);
    line += "\n\tArgument Types\n";
    if (!known || known->empty())
        line += known ? "\t\tNone\n" : "\t\tUnknown: no types of a kernel have it\n";
    for (size_t i = 0; known && i < known->size(); i++)
        line += base::strprintf("\t\targs[%zu]: %s\n", i, (*known)[i].c_str());
    line += "\n";
}

/// `types` is null without -v.
void list_probe(const SessionProbe& probe, compiler::ProbeArgumentTypes* types,
                DtraceOutput& output) {
    std::string line;
    analyze::print_probe(line, probe.id, probe.provider, probe.module, probe.function, probe.name);
    if (types != nullptr) {
        print_attributes(line, "Probe Description Attributes", probe_attributes(probe));
        print_attributes(line, "Argument Attributes", argument_attributes(probe));
        print_argument_types(line, probe, *types);
    }
    output.write(line);
}

std::string text_of(const formats::DofProbeName& probe) {
    return probe.provider + ":" + probe.module + ":" + probe.function + ":" + probe.name;
}

} // namespace

void list_probes(const DtraceArguments& arguments, const CompiledPrograms* compiled,
                 ProbeIndex& probes, compiler::KernelTypes* kernel, DtraceOutput& output) {
    std::optional<compiler::ProbeArgumentTypes> known_types;
    compiler::ProbeArgumentTypes* types =
        arguments.verbose ? &known_types.emplace(kernel) : nullptr;
    std::string heading;
    analyze::print_probe_heading(heading);
    output.write(heading);
    if (compiled == nullptr) {
        static_cast<void>(probes.exists({})); // makes all of them known
        for (const SessionProbe& probe : probes.all())
            list_probe(probe, types, output);
        if (!probes.error().empty())
            say(arguments.name, probes.error());
        return;
    }
    for (size_t i = 0; i < compiled->descriptions.size(); i++) {
        for (const formats::DofEcb* ecb : compiled->ecbs_of(i)) {
            auto found = probes.matches(ecb->probe);
            for (const SessionProbe* probe : found)
                list_probe(*probe, types, output);
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
