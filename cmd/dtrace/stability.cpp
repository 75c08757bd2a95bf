// SPDX-License-Identifier: Apache-2.0
//
// Stabilities of probes, and the blocks of text in which -v prints attributes.
#include "cmd/dtrace/stability.hpp"

#include <algorithm>
#include <iterator>

namespace daybreak::cmd {

compiler::Attributes probe_attributes(const live::SessionProbe& probe) {
    compiler::ProbeDescription description;
    description.provider = probe.provider;
    description.module = probe.module;
    description.function = probe.function;
    description.name = probe.name;
    return compiler::StabilityRules().description(description);
}

compiler::Attributes argument_attributes(const live::SessionProbe& probe) {
    return compiler::StabilityRules().provider(probe.provider, compiler::ProviderPart::arguments);
}

void print_attributes(std::string& out, const char* title, const compiler::Attributes& attributes) {
    auto text = [](std::string_view name) { return std::string(name); };
    out += base::strprintf("\n\t%s\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n"
                           "\t\tDependency Class: %s\n",
                           title, text(stability_name(attributes.names)).c_str(),
                           text(stability_name(attributes.data)).c_str(),
                           text(dependency_class_name(attributes.dependency)).c_str());
}

std::string stability_text(const std::string& description,
                           const std::vector<compiler::ClauseStability>& clauses) {
    compiler::ClauseStability least;
    for (const compiler::ClauseStability& clause : clauses) {
        least.description = minimum(least.description, clause.description);
        least.statements = minimum(least.statements, clause.statements);
    }
    // "description 'BEGIN'" -> "description BEGIN"
    std::string what;
    std::remove_copy(description.begin(), description.end(), std::back_inserter(what), '\'');
    std::string text = "\nStability attributes for " + what + ":\n";
    print_attributes(text, "Minimum Probe Description Attributes", least.description);
    print_attributes(text, "Minimum Statement Attributes", least.statements);
    return text + "\n";
}

} // namespace daybreak::cmd
