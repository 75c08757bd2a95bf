// SPDX-License-Identifier: Apache-2.0
//
// Compiling for the kernel that runs, and what such a program must say.
#include "cmd/commands/enabling.hpp"

#include "base/file.hpp"
#include "cmd/dof_files.hpp"
#include "cmd/file_places.hpp"
#include "cmd/terminal.hpp"
#include "formats/abi/dof.h"

#include <algorithm>
#include <cctype>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

using base::Result;

constexpr size_t kNameBytesMax = DBK_RING_NAME_BYTES - 1;

bool is_of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

/// A ring that goes on without a consumer keeps the newest: policy switch would stop it when full.
Result<void> check_program(const formats::DofProgram& program, const std::string& name) {
    if (auto allowed = check_destructive(program); !allowed.ok())
        return std::move(allowed).error().with_context("could not enable tracing");
    for (const formats::DofOption& option : program.options)
        if (option.option == DTRACEOPT_BUFPOLICY && option.value != DBK_POLICY_SWITCH)
            return {};
    return base::errorf(base::ErrorCode::invalid,
                        "%s: a program that goes on by itself needs bufpolicy=ring (or fill): "
                        "compile it with -x bufpolicy=ring",
                        name.c_str());
}

/// Compiles -s for the kernel that runs.  Empty: what is wrong was said.
std::optional<base::Bytes> compile_script(ProgramArguments program) {
    // In front: what the program itself or the command line says holds.
    program.options.insert(program.options.begin(), {"bufpolicy=ring", "aggregate=record"});
    constexpr const char* kTypes = "/sys/kernel/btf/vmlinux";
    if (::access(kTypes, R_OK) == 0)
        program.btf = kTypes;
    auto compiled = compile_for_machine(program);
    if (!compiled)
        return std::nullopt;
    Result<void> checked = check_program(compiled->program, program.script);
    if (checked.ok())
        return std::move(compiled->dof);
    complain(checked.error().message());
    return std::nullopt;
}

Result<base::Bytes> checked_image(const std::string& path) {
    DBK_TRY(base::Bytes dof, base::read_file(path));
    DBK_TRY(formats::DofProgram program, read_dof_files({path}, "oracle"));
    DBK_TRY_VOID(check_program(program, path));
    return dof;
}

/// Reads a compiled program.  Empty: what is wrong was said.
std::optional<base::Bytes> read_checked(const std::string& path) {
    Result<base::Bytes> dof = checked_image(path);
    if (dof.ok())
        return std::move(*dof);
    complain(dof.error().message());
    return std::nullopt;
}

} // namespace

std::string name_problem(const std::string& name) {
    bool good = !name.empty() && name.size() <= kNameBytesMax && name[0] != '-' && name[0] != '.' &&
                std::all_of(name.begin(), name.end(), is_of_name) &&
                name.find_first_not_of("0123456789") != std::string::npos;
    if (good)
        return "";
    return base::strprintf("'%s' is not a name: expected at most %zu letters, digits, '-', '_' and "
                           "'.', not digits alone, and not '-' or '.' first",
                           name.c_str(), kNameBytesMax);
}

Result<std::string> program_name(const std::string& path) {
    std::string name = path.substr(path.find_last_of('/') + 1);
    for (const char* suffix : {".dof", ".d"})
        if (name.ends_with(suffix))
            name.resize(name.size() - std::string_view(suffix).size());
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !is_of_name(c); }, '_');
    name.resize(std::min(name.size(), kNameBytesMax));
    if (std::string problem = name_problem(name); !problem.empty())
        return base::errorf(base::ErrorCode::invalid,
                            "%s: a program is named after its file, and %s: rename the file",
                            path.c_str(), problem.c_str());
    return name;
}

Result<std::vector<std::string>> program_names(const std::vector<std::string>& paths) {
    std::vector<std::string> names;
    for (const std::string& path : paths) {
        DBK_TRY(std::string name, program_name(path));
        if (std::find(names.begin(), names.end(), name) != names.end())
            return base::errorf(base::ErrorCode::invalid,
                                "%s: another program is named %s too, and rings are known by their "
                                "names: name it once, or give its file another name",
                                path.c_str(), name.c_str());
        names.push_back(std::move(name));
    }
    return names;
}

void add_enabling_options(Command command, EnablingArguments& arguments, const std::string& group) {
    command.add_option("-x", arguments.program.options, "Set an option of the program")
        .one_value_each()
        .type_name("OPT[=VALUE]")
        .group(group);
    command
        .add_flag("-w,--destructive", arguments.program.destructive,
                  "Allow the program destructive actions")
        .group(group);
    command.add_option("--dof", arguments.dof_files, "Enable a compiled program")
        .one_value_each()
        .type_name("FILE")
        .group(group);
    command.add_option("--name", arguments.name, "Name of the program (its file's)")
        .type_name("NAME")
        .check(name_problem)
        .group(group);
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
    if (script.empty() && (!arguments.program.options.empty() || arguments.program.destructive)) {
        complain("-x and -w are for a D program, and there is none: a compiled one has its options "
                 "from daybreak compile");
        return std::nullopt;
    }
    auto add = [&](const std::string& path, const auto& read) {
        Result<std::string> name =
            arguments.name.empty() ? program_name(path) : Result<std::string>(arguments.name);
        if (!name.ok()) {
            complain(name.error().message() + ", or say --name");
            return false;
        }
        std::optional<base::Bytes> dof = read();
        if (dof)
            programs.push_back({std::move(*name), std::move(*dof)});
        return dof.has_value();
    };
    if (!script.empty() && !add(script, [&] { return compile_script(arguments.program); }))
        return std::nullopt;
    for (const std::string& path : arguments.dof_files)
        if (!add(path, [&] { return read_checked(path); }))
            return std::nullopt;
    return programs;
}

} // namespace daybreak::cmd
