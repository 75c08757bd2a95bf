// SPDX-License-Identifier: Apache-2.0
//
// -l: the probes that the programs name, or all there are; -v: what is known of them.
#include "cmd/dtrace/listing.hpp"

#include "analyze/list.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/dtrace/stability.hpp"
#include "compiler/diagnostics/other_tracers.hpp"

#include <utility>

namespace daybreak::cmd {

namespace {

void print_argument_types(std::string& line, const live::SessionProbe& probe,
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

/// Lines of a listing, written many at a time: a kernel has 80 000 probes.
class Lines {
public:
    explicit Lines(DtraceOutput& output) : output_(output) {}

    void flush() { output_.write(std::exchange(text_, {})); }
    /// `types` is null without -v.
    void add(const live::SessionProbe& probe, compiler::ProbeArgumentTypes* types);
    void add_heading() { analyze::print_probe_heading(text_); }

private:
    static constexpr size_t kTextBytesMax = 64u << 10;

    DtraceOutput& output_;
    std::string text_;
};

void Lines::add(const live::SessionProbe& probe, compiler::ProbeArgumentTypes* types) {
    print_listed(text_, probe, types);
    if (text_.size() >= kTextBytesMax)
        flush();
}

} // namespace

void print_listed(std::string& text, const live::SessionProbe& probe,
                  compiler::ProbeArgumentTypes* types) {
    analyze::print_probe(text, probe.id, probe.provider, probe.module, probe.function, probe.name);
    if (types == nullptr)
        return;
    print_attributes(text, "Probe Description Attributes", probe_attributes(probe));
    print_attributes(text, "Argument Attributes", argument_attributes(probe));
    print_argument_types(text, probe, *types);
}

std::string unmatched_text(const formats::DofProbeName& description) {
    std::string why = compiler::hint_for_missing_probe(description.provider, description.module,
                                                       description.function, description.name);
    return "failed to match " + description.text() + ": No probe matches description" +
           (why.empty() ? "" : " (" + why + ")");
}

void list_probes(const DtraceArguments& arguments, const CompiledPrograms* compiled,
                 live::ProbeIndex& probes, compiler::KernelTypes* kernel, DtraceOutput& output) {
    std::optional<compiler::ProbeArgumentTypes> known_types;
    compiler::ProbeArgumentTypes* types =
        arguments.verbose ? &known_types.emplace(kernel) : nullptr;
    Lines lines(output);
    lines.add_heading();
    if (compiled == nullptr) {
        static_cast<void>(probes.exists({})); // makes all of them known
        for (const live::SessionProbe& probe : probes.all())
            lines.add(probe, types);
        lines.flush();
        if (!probes.error().empty())
            say(arguments.name, probes.error());
        return;
    }
    for (size_t i = 0; i < compiled->descriptions.size(); i++) {
        for (const formats::DofEcb* ecb : compiled->ecbs_of(i)) {
            auto found = probes.matches(ecb->probe);
            for (const live::SessionProbe* probe : found)
                lines.add(*probe, types);
            lines.flush();
            if (!found.empty())
                continue;
            say(arguments.name, unmatched_text(ecb->probe));
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
