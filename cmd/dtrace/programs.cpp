// SPDX-License-Identifier: Apache-2.0
//
// The programs of dtrace's command line, compiled into one image.
#include "cmd/dtrace/programs.hpp"

#include "base/file.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/file_places.hpp"
#include "cmd/libraries.hpp"
#include "cmd/possible_probes.hpp"
#include "cmd/preprocess.hpp"
#include "cmd/program.hpp"
#include "cmd/terminal.hpp"
#include "daybreak_version.hpp"
#include "engine/sim/bare_host.hpp"
#include "live/process/missing_function.hpp"
#include "live/process/places.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace daybreak::cmd {

namespace {

/// Whether a description names any probe.  Id 0, which none has, is in DOF that of a description
/// by names.
bool exists(live::ProbeIndex& probes, const compiler::ProbeDescription& description) {
    return description.id != 0u &&
           probes.exists({description.provider, description.module, description.function,
                          description.name, description.id.value_or(0)});
}

/// Whether a diagnostic says that already.
bool is_hint(const compiler::CompileOutput& output, const std::string& text) {
    return std::ranges::any_of(output.diagnostics.diagnostics(), [&](const auto& one) {
        return std::ranges::find(one.hints, text) != one.hints.end();
    });
}

Preprocessing preprocessing_of(const DtraceArguments& arguments) {
    Preprocessing how;
    how.wanted = arguments.preprocess;
    how.add(arguments.definitions, arguments.undefinitions, arguments.include_folders);
    for (const DtraceArguments::Setting& setting : arguments.settings)
        how.add_option(setting.name, setting.value);
    return how;
}

/// Reads one program; empty when that was not possible and has been reported.
std::optional<compiler::CompileSource> read_program(const DtraceArguments& arguments,
                                                    const DtraceProgram& program) {
    compiler::CompileSource source;
    source.name = program.name.empty() ? program.text : program.name;
    source.text = program.text;
    source.kind = program.name.empty() ? compiler::SourceKind::string : compiler::SourceKind::file;
    source.probe_spec = program.spec;
    if (program.is_script) {
        source.kind = compiler::SourceKind::file;
        auto bytes = base::read_file(program.text);
        if (!bytes.ok()) {
            say(arguments.name, "failed to open " + program.text + ": " +
                                    system_reason(program.text, bytes.error()));
            return std::nullopt;
        }
        auto text = script_text(program.text, *bytes);
        if (!text.ok()) {
            say(arguments.name, text.error().message());
            return std::nullopt;
        }
        source.text = *text;
    }
    if (Preprocessing how = preprocessing_of(arguments); how.wanted) {
        std::string name = program.is_script ? program.text : "-n";
        auto text = preprocess(name, source.text, how);
        if (!text.ok()) {
            say(arguments.name, text.error().message());
            return std::nullopt;
        }
        source.text = *text;
    }
    return source;
}

std::string describe(const DtraceProgram& program) {
    if (program.is_script)
        return "script '" + program.text + "'";
    return "description '" + program.text.substr(0, program.text.find_first_of("{/;")) + "'";
}

/// What is to be said of a function of a process that has no such probe.
std::string hint_for_function(compiler::ProbeDescription description,
                              const CompileSetting& setting) {
    const formats::DofProbeName written{description.provider, description.module,
                                        description.function, description.name};
    const uint32_t pid = live::process_named(written);
    if (pid == 0)
        return "";
    if (std::string why = live::why_not_traced(pid); !why.empty())
        return why;
    if (std::string name = std::exchange(description.name, "entry"); name != "entry") {
        bool has_function = exists(*setting.probes, description);
        if (has_function && setting.is_simulated)
            return "functions of a -c command have probes at entry only";
        if (has_function)
            return "a function has probes entry, return, and its offsets in hexadecimal, of "
                   "which there is no " +
                   name;
    }
    if (setting.is_simulated && !setting.has_command)
        return "without the module (insmod daybreak.ko) only functions of a -c command have probes";
    return live::why_no_function(pid, written);
}

/// What is to be said of an offset of a function at which there is no instruction that can be
/// probed.
std::string hint_for_instruction(compiler::ProbeDescription description,
                                 const CompileSetting& setting) {
    const std::string offset = std::exchange(description.name, "");
    auto number = [](const std::string& text) { return std::strtoul(text.c_str(), nullptr, 10); };
    std::string before, after;
    if (description.function.empty() ||
        description.function.find_first_of("*?[") != std::string::npos)
        return "kinst takes a function by its whole name: kinst::FUNCTION:OFFSET";
    if (!description.module.empty() && description.module != "vmlinux")
        return "kinst takes functions of the kernel itself (vmlinux), not of modules";
    if (offset.find_first_not_of("0123456789") != offset.npos ||
        (offset.size() > 1 && offset[0] == '0'))
        return "OFFSET is a number of bytes, as 4 or 16: kinst::" + description.function +
               ": has all";
    if (!exists(*setting.probes, description))
        return "the kernel has no function " + description.function +
               " with instructions that can be probed, or several";
    for (const live::SessionProbe& probe : setting.probes->all()) {
        if (probe.provider != "kinst" || probe.function != description.function)
            continue;
        if (number(probe.name) < number(offset) &&
            (before.empty() || number(before) < number(probe.name)))
            before = probe.name;
        if (number(probe.name) > number(offset) &&
            (after.empty() || number(after) > number(probe.name)))
            after = probe.name;
    }
    return "no instruction that can be probed begins at " + offset +
           (before.empty() ? "" : ", one does at " + before) +
           (after.empty() ? "" : (before.empty() ? ", one does at " : " and ") + after) +
           " (kinst::" + description.function + ": has all)";
}

/// What is to be said of a counter that has no probe.
std::string hint_for_counter(const std::string& name) {
    std::string problem = counter_problem(name);
    return problem.empty() ? "this machine does not count " + name.substr(0, name.find('-')) +
                                 ": a virtual machine may have no counters"
                           : problem;
}

} // namespace

bool has_setting(const DtraceArguments& arguments, std::string_view name) {
    return std::any_of(arguments.settings.begin(), arguments.settings.end(),
                       [name](const auto& setting) { return setting.name == name; });
}

std::optional<uint64_t> CompiledPrograms::option(uint32_t id) const {
    return option_of(program(), id);
}

std::vector<const formats::DofEcb*> CompiledPrograms::ecbs_of(size_t index) const {
    std::vector<const formats::DofEcb*> ecbs;
    for (size_t i = 0; i < output.ecb_sources.size() && i < program().ecbs.size(); i++)
        if (output.ecb_sources[i] == index && output.continued_ecbs.count(i) == 0)
            ecbs.push_back(&program().ecbs[i]);
    return ecbs;
}

std::optional<CompiledPrograms> compile_programs(const DtraceArguments& arguments,
                                                 const CompileSetting& setting) {
    CompiledPrograms compiled;
    compiler::CompileOptions options;
    for (const DtraceProgram& program : arguments.programs) {
        auto source = read_program(arguments, program);
        if (!source)
            return std::nullopt;
        options.sources.push_back(std::move(*source));
        compiled.descriptions.push_back(describe(program));
    }
    if (arguments.mode != DtraceMode::link)
        options.arguments = arguments.arguments;
    options.unused_arguments_allowed = false;
    options.macros = process_macros();
    if (setting.target)
        options.macros["target"] = *setting.target;
    for (const DtraceArguments::Setting& one : arguments.settings)
        options.options.emplace_back(one.name, one.value);
    auto libraries = add_libraries(arguments.library_folders, options);
    if (!libraries.ok()) {
        say(arguments.name, libraries.error().message());
        return std::nullopt;
    }
    options.kernel = setting.kernel;
    options.compiler_version = "daybreak " DAYBREAK_VERSION;
    options.zero_probes_allowed =
        arguments.zero_probes_allowed || arguments.mode == DtraceMode::list;
    if (!arguments.hint_for_any_probe.empty())
        options.hint_for_any_probe = arguments.hint_for_any_probe;
    if (setting.probes != nullptr) {
        options.probe_exists = [&setting](const compiler::ProbeDescription& description) {
            return exists(*setting.probes, description);
        };
        options.similar_probe = [&setting](const compiler::ProbeDescription& description) {
            std::vector<ProbeParts> probes = example_timers();
            for (const live::SessionProbe& probe : setting.probes->all())
                probes.push_back({probe.provider, probe.module, probe.function, probe.name});
            std::string nearest = nearest_probe(description, probes);
            return nearest.empty() ? similar_mark(description) : nearest;
        };
        options.hint_for_probe = [&setting](const compiler::ProbeDescription& description) {
            if (std::string hint = hint_for_path(description); !hint.empty())
                return hint;
            return description.provider == "kinst" ? hint_for_instruction(description, setting)
                   : description.provider == "cpc" ? hint_for_counter(description.name)
                                                   : hint_for_function(description, setting);
        };
    }
    // Libraries alone, as with -L FOLDER -e, are worth compiling.
    if (options.sources.empty())
        options.sources.emplace_back();
    options.empty_allowed = arguments.programs.empty() || arguments.makes_own_probes();
    compiled.output = compiler::compile(options);
    if (std::getenv("DTRACE_DEBUG") != nullptr)
        std::fputs(library_notes(compiled.output).c_str(), stderr);
    if (setting.probes != nullptr && !setting.probes->error().empty() &&
        !is_hint(compiled.output, setting.probes->error()))
        say(arguments.name, setting.probes->error());
    print_diagnostics(compiled.output,
                      {.program = arguments.name, .error_tags = has_setting(arguments, "errtags")});
    if (!compiled.output.dof)
        return std::nullopt;
    return compiled;
}

} // namespace daybreak::cmd
