// SPDX-License-Identifier: Apache-2.0
#include "cmd/file_places.hpp"

#include "cmd/possible_probes.hpp"
#include "cmd/terminal.hpp"
#include "formats/dof/dof_writer.hpp"
#include "live/process/places.hpp"
#include "live/process/process_names.hpp"

#include <filesystem>
#include <set>

namespace daybreak::cmd {

namespace {

namespace fs = std::filesystem;

/// Where Debian and Fedora have libraries and programs.
constexpr const char* kFolders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib",
                                    "/usr/bin", "/usr/sbin"};

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
    problem = places.too_long_count() != 0
                  ? "each part of a probe's name has at most 4095 bytes"
                  : name.module + " has no such function or mark, nor have debug symbols of its "
                                  "build in /usr/lib/debug";
    return places.all().size() > before || places.count(name) != 0;
}

/// The same by the path of a file of this machine that its OBJECT means; "": none has it.
std::string with_path(formats::DofProbeName name) {
    const std::string object = name.module;
    for (const char* folder : kFolders) {
        std::error_code failed;
        for (fs::directory_iterator one(folder, failed), end; !failed && one != end;
             one.increment(failed)) {
            if (!live::module_meant(object, one->path().filename(), false))
                continue;
            live::Places places;
            std::string problem;
            std::error_code dangling;
            name.module = fs::canonical(one->path(), dangling);
            if (!dangling && add_file(places, name, problem))
                return name.text();
        }
    }
    return "";
}

/// Whether a file that a running process has mapped has such marks; says which, as the next boot's
/// are not looked at.
bool add_running(live::Places& places, const formats::DofProbeName& name) {
    const size_t before = places.all().size();
    places.add_running(name);
    std::set<std::string> files;
    for (size_t i = before; i < places.all().size(); i++)
        files.insert(places.all()[i].path);
    for (const std::string& file : files)
        complain(name.text() + " is of " + file + ", which runs now");
    return places.all().size() > before || places.count(name) != 0;
}

} // namespace

std::string hint_for_path(const formats::DofProbeName& name) {
    live::Places places;
    std::string problem;
    if (live::is_by_path(name))
        return add_file(places, name, problem) ? "" : problem;
    std::string by_path;
    if (name.provider == "pid*" && !name.module.empty())
        by_path = with_path(name);
    return by_path.empty() ? "" : "functions of all processes are named by their file: " + by_path;
}

std::string hint_for_path(const compiler::ProbeDescription& description) {
    return hint_for_path(name_of(description));
}

std::string similar_mark(const compiler::ProbeDescription& description) {
    if (!live::is_of_running(name_of(description)))
        return "";
    std::vector<ProbeParts> marks;
    for (const auto& [provider, name] : live::running_marks())
        marks.push_back({provider + "*", description.module, description.function, name});
    return nearest_probe(description, marks);
}

std::optional<CompiledProgram> compile_for_machine(const ProgramArguments& arguments) {
    live::Places places;
    std::string problem;
    bool looked = false; // not with -Z
    KnownProbes known{.exist =
                          [&](const compiler::ProbeDescription& description) {
                              formats::DofProbeName name = name_of(description);
                              looked |= live::is_by_path(name) || live::is_of_running(name);
                              if (live::is_by_path(name))
                                  return add_file(places, name, problem);
                              return probe_is_possible(description) ||
                                     (live::is_of_running(name) && add_running(places, name));
                          },
                      .similar =
                          [](const compiler::ProbeDescription& description) {
                              std::string probe = similar_possible_probe(description);
                              return probe.empty() ? similar_mark(description) : probe;
                          }};
    known.hint = [&](const compiler::ProbeDescription& description) {
        if (live::is_by_path(name_of(description)))
            return problem;
        std::string by_path = hint_for_path(description);
        if (description.provider == "cpc")
            return counter_problem(description.name);
        return by_path.empty() ? hint_for_backfill_probe(description) : by_path;
    };
    auto compiled = compile_program(arguments, known);
    if (compiled && !looked)
        for (const formats::DofEcb& ecb : compiled->program.ecbs) {
            if (live::is_of_running(ecb.probe))
                static_cast<void>(add_running(places, ecb.probe));
            else if (live::is_by_path(ecb.probe) && !add_file(places, ecb.probe, problem))
                complain(ecb.probe.text() + " matches no probe: " + problem);
        }
    if (std::string missing = places.remark(); !missing.empty())
        complain(missing);
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
