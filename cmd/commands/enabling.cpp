// SPDX-License-Identifier: Apache-2.0
//
// Compiling for the kernel that runs, and what such a program must say.
#include "cmd/commands/enabling.hpp"

#include "base/file.hpp"
#include "cmd/dof_files.hpp"
#include "cmd/possible_probes.hpp"
#include "cmd/terminal.hpp"
#include "formats/abi/dof.h"

#include <unistd.h>

namespace daybreak::cmd {

namespace {

using base::Result;

/// A ring that goes on without a consumer keeps the newest: policy switch would stop it when full.
Result<void> check_program(const formats::DofProgram& program, const std::string& name) {
    if (auto allowed = check_destructive(program); !allowed.ok())
        return std::move(allowed).error().with_context("could not enable tracing");
    for (const formats::DofOption& option : program.options)
        if (option.option == DTRACEOPT_BUFPOLICY && option.value != DBK_POLICY_SWITCH)
            return {};
    return base::errorf(base::ErrorCode::invalid,
                        "%s: a program that goes on by itself needs bufpolicy=ring (or fill)",
                        name.c_str());
}

/// Compiles -s for the kernel that runs.  Empty: what is wrong was said.
std::optional<base::Bytes> compile_script(ProgramArguments program) {
    // In front: what the program itself or the command line says holds.
    program.options.insert(program.options.begin(), {"bufpolicy=ring", "aggregate=record"});
    constexpr const char* kTypes = "/sys/kernel/btf/vmlinux";
    if (::access(kTypes, R_OK) == 0)
        program.btf = kTypes;
    auto compiled = compile_program(program, {probe_is_possible, similar_possible_probe});
    if (!compiled)
        return std::nullopt;
    Result<void> checked = check_program(compiled->program, program.script);
    if (checked.ok())
        return std::move(compiled->dof);
    complain(checked.error().message());
    return std::nullopt;
}

Result<base::Bytes> read_image(const std::string& path) {
    DBK_TRY(base::Bytes dof, base::read_file(path));
    DBK_TRY(formats::DofProgram program, read_dof_files({path}, "oracle"));
    DBK_TRY_VOID(check_program(program, path));
    return dof;
}

} // namespace

std::string ring_name(const std::string& path) {
    std::string name = path.substr(path.find_last_of('/') + 1);
    for (const char* suffix : {".dof", ".d"})
        if (name.ends_with(suffix))
            name.resize(name.size() - std::string_view(suffix).size());
    for (char& c : name)
        c = c > ' ' && c <= '~' ? c : '_';
    return name.empty() ? "enabling" : name.substr(0, DBK_RING_NAME_BYTES - 1);
}

void add_enabling_options(CLI::App& command, EnablingArguments& arguments,
                          const std::string& group) {
    command.add_option("-x", arguments.program.options, "Set an option of the program")
        ->allow_extra_args(false)
        ->type_name("OPT[=VALUE]")
        ->group(group);
    command
        .add_flag("-w,--destructive", arguments.program.destructive,
                  "Allow the program destructive actions")
        ->group(group);
    command.add_option("--dof", arguments.dof_files, "Enable a compiled program")
        ->allow_extra_args(false)
        ->type_name("FILE")
        ->group(group);
    command.add_option("--name", arguments.name, "Name of the program (its file's)")
        ->type_name("NAME")
        ->group(group);
}

std::optional<std::vector<recorder::NamedProgram>>
read_enablings(const EnablingArguments& arguments) {
    std::vector<recorder::NamedProgram> programs;
    const std::string& script = arguments.program.script;
    if (!arguments.name.empty() && arguments.dof_files.size() + !script.empty() != 1) {
        complain("--name is for one program: there are " +
                 std::to_string(arguments.dof_files.size() + !script.empty()));
        return std::nullopt;
    }
    auto name_of = [&](const std::string& path) {
        return arguments.name.empty() ? ring_name(path) : arguments.name;
    };
    if (!script.empty()) {
        auto dof = compile_script(arguments.program);
        if (!dof)
            return std::nullopt;
        programs.push_back({name_of(script), std::move(*dof)});
    }
    for (const std::string& path : arguments.dof_files) {
        Result<base::Bytes> dof = read_image(path);
        if (!dof.ok()) {
            complain(dof.error().message());
            return std::nullopt;
        }
        programs.push_back({name_of(path), std::move(*dof)});
    }
    return programs;
}

} // namespace daybreak::cmd
