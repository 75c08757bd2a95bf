// SPDX-License-Identifier: Apache-2.0
#include "cmd/file_places.hpp"

#include "cmd/possible_probes.hpp"
#include "cmd/terminal.hpp"
#include "compiler/diagnostics/other_tracers.hpp"
#include "formats/dof/dof_writer.hpp"
#include "live/process/places.hpp"

namespace daybreak::cmd {

namespace {

formats::DofProbeName name_of(const compiler::ProbeDescription& description) {
    return {description.provider, description.module, description.function, description.name,
            description.id.value_or(0)};
}

/// Whether the file has what is named; where it cannot be read `problem` says why.
bool add_file(live::Places& places, const formats::DofProbeName& name, std::string& problem) {
    size_t before = places.all().size();
    if (auto added = places.add_by_path(name); !added.ok()) {
        problem = added.error().message();
        return false;
    }
    problem = places.too_long_count() != 0 ? "a function's name has at most 4095 bytes, a file's 127"
                                           : name.module + " has no such function or mark";
    return places.all().size() > before || places.has(name);
}

} // namespace

std::optional<CompiledProgram> compile_for_machine(const ProgramArguments& arguments) {
    live::Places places;
    std::string problem;
    KnownProbes known{.exist =
                          [&](const compiler::ProbeDescription& description) {
                              formats::DofProbeName name = name_of(description);
                              return live::is_by_path(name) ? add_file(places, name, problem)
                                                            : probe_is_possible(description);
                          },
                      .similar = similar_possible_probe};
    known.hint = [&](const compiler::ProbeDescription& description) {
        if (!live::is_by_path(name_of(description)))
            return hint_for_backfill_probe(description);
        std::string foreign = compiler::hint_for_foreign_probe(description.text);
        return foreign.empty() ? problem : foreign;
    };
    auto compiled = compile_program(arguments, known);
    if (!compiled || places.all().empty())
        return compiled;
    compiled->program.places = places.all();
    auto dof = formats::write_dof(compiled->program);
    if (!dof.ok()) {
        complain(dof.error().message());
        return std::nullopt;
    }
    compiled->dof = std::move(*dof);
    return compiled;
}

} // namespace daybreak::cmd
