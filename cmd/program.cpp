// SPDX-License-Identifier: Apache-2.0
//
// The D program on a command line.
#include "cmd/program.hpp"

#include "base/file.hpp"
#include "cmd/libraries.hpp"
#include "cmd/possible_probes.hpp"
#include "cmd/preprocess.hpp"
#include "cmd/terminal.hpp"
#include "compiler/types/btf_cache.hpp"
#include "compiler/types/kernel_release.hpp"
#include "daybreak_version.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

/// DTrace's classes of actions: stop, raise, system, freopen; breakpoint, panic, chill.
constexpr uint32_t kClassProcessDestructive = 0x0200, kClassKernelDestructive = 0x0500;

bool calls_destructive(const formats::Difo& difo) {
    return std::any_of(difo.text.begin(), difo.text.end(), [](uint32_t instruction) {
        uint32_t subroutine = DIF_INSTR_SUBR(instruction);
        return DIF_INSTR_OP(instruction) == DIF_OP_CALL &&
               (subroutine == DIF_SUBR_COPYOUT || subroutine == DIF_SUBR_COPYOUTSTR);
    });
}

/// Whether a program has an action that changes the system.
bool is_destructive(const formats::DofProgram& program) {
    for (const formats::DofActionList& list : program.action_lists)
        for (const formats::DofAction& action : list.actions)
            if (DTRACEACT_CLASS(action.kind) == kClassProcessDestructive ||
                DTRACEACT_CLASS(action.kind) == kClassKernelDestructive)
                return true;
    return std::any_of(program.difos.begin(), program.difos.end(), calls_destructive);
}

std::string_view option_name(std::string_view option) {
    return option.substr(0, option.find('='));
}

std::optional<std::string> option_value(const std::string& option) {
    size_t equals = option.find('=');
    return equals == std::string::npos ? std::nullopt : std::optional(option.substr(equals + 1));
}

base::Result<compiler::CompileSource> read_source(const ProgramArguments& arguments) {
    if (arguments.source)
        return *arguments.source;
    compiler::CompileSource source;
    if (arguments.script.empty()) {
        source.name = source.text = arguments.text;
        source.kind = compiler::SourceKind::string;
    } else {
        source.name = arguments.label.empty() ? arguments.script : arguments.label;
        DBK_TRY(base::Bytes bytes, base::read_file(arguments.script));
        DBK_TRY(source.text, script_text(arguments.script, bytes));
    }
    Preprocessing how;
    how.wanted = arguments.preprocess;
    how.add(arguments.definitions, arguments.undefinitions, arguments.include_folders);
    for (const std::string& option : arguments.options)
        how.add_option(option_name(option), option_value(option));
    if (how.wanted) {
        std::string name = arguments.script.empty() ? "-n" : arguments.script;
        DBK_TRY(source.text, preprocess(name, source.text, how));
    }
    return source;
}

// "BEGIN" of "BEGIN { exit(0); }": what dtrace(1) calls the program.
std::string describe(const ProgramArguments& arguments) {
    if (arguments.source)
        return "script '" + arguments.source->name + "'";
    if (!arguments.script.empty())
        return "script '" + arguments.script + "'";
    return "description '" + arguments.text.substr(0, arguments.text.find_first_of("{/;")) + "'";
}

/// Where the kernel's types are; empty when the program is compiled without.
base::Result<std::optional<compiler::KernelSource>>
kernel_source(const ProgramArguments& arguments) {
    if (!arguments.btf.empty())
        return std::optional(
            compiler::KernelSource{.file = arguments.btf, .cache = cache_folder()});
    if (arguments.kernel.empty())
        return std::optional<compiler::KernelSource>();
    DBK_TRY(compiler::KernelSource where, kernel_source_of(arguments.kernel));
    return std::optional(std::move(where));
}

void set_options(const ProgramArguments& arguments, compiler::CompileOptions& options) {
    for (const std::string& option : arguments.options) {
        options.options.emplace_back(option_name(option), option_value(option));
    }
    if (arguments.quiet)
        options.options.emplace_back("quiet", std::nullopt);
    if (arguments.flowindent)
        options.options.emplace_back("flowindent", std::nullopt);
    if (arguments.destructive)
        options.options.emplace_back("destructive", std::nullopt);
    if (!arguments.bufsize.empty())
        options.options.emplace_back("bufsize", arguments.bufsize);
}

} // namespace

base::Result<std::string> own_file(const char* installed, const char* built) {
    std::error_code none;
    std::filesystem::path folder =
        std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    for (const char* path : {installed, built})
        if (std::filesystem::path file = folder / path; std::filesystem::exists(file, none))
            return file.lexically_normal().string();
    return base::errorf(base::ErrorCode::not_found,
                        "%s is not there: install Daybreak with `cmake --install build/release`",
                        (folder / installed).lexically_normal().c_str());
}

void print_diagnostics(const compiler::CompileOutput& output, const compiler::ClassicStyle& style) {
    std::string text;
    if (!is_testing())
        text = render_all(output.diagnostics, output.sources, style,
                          {.colour = wants_colour(STDERR_FILENO)});
    else if (const compiler::Diagnostic* first = output.diagnostics.first_error())
        text = render_classic(*first, output.sources, style) + "\n";
    std::fputs(text.c_str(), stderr);
}

base::Result<std::string> script_text(const std::string& path, base::ByteView bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with(DOF_MAGIC_BYTES))
        return base::errorf(base::ErrorCode::invalid,
                            "%s is a compiled program, not D: daybreak dof prints it, and embed, "
                            "start --dof and sim --dof take it",
                            path.c_str());
    if (size_t at = text.find('\0'); at != text.npos)
        return base::errorf(base::ErrorCode::invalid,
                            "%s is not D: expected text, byte %zu is a NUL", path.c_str(), at);
    return std::string(text);
}

bool names_kernel_file(const std::string& kernel) {
    std::error_code none;
    return kernel.find('/') != std::string::npos || std::filesystem::is_regular_file(kernel, none);
}

std::string cache_folder() {
    const char* caches = std::getenv("XDG_CACHE_HOME");
    // Programs of root are run by packages, units and hooks of kernels; with sudo the home is a
    // user's.
    static constexpr const char* kOfSystem = "/var/cache";
    const bool is_said = caches != nullptr && caches[0] != '\0';
    std::error_code none;
    if (!is_said && ::geteuid() == 0 && std::filesystem::is_directory(kOfSystem, none))
        if (std::string folder = compiler::BtfCache::folder_below(kOfSystem, nullptr);
            !folder.empty())
            return folder;
    return compiler::BtfCache::folder_below(caches, std::getenv("HOME"));
}

base::Result<compiler::KernelSource> kernel_source_of(const std::string& kernel) {
    compiler::KernelSource where{.cache = cache_folder()};
    if (!names_kernel_file(kernel)) {
        where.release = kernel;
        return where;
    }
    where.file = kernel;
    DBK_TRY(base::Bytes image, base::read_file(where.file));
    where.release = compiler::release_of_kernel_image(image);
    return where;
}

std::map<std::string, int64_t, std::less<>> process_macros() {
    return {{"pid", ::getpid()},   {"ppid", ::getppid()}, {"uid", ::getuid()},
            {"euid", ::geteuid()}, {"gid", ::getgid()},   {"egid", ::getegid()},
            {"pgid", ::getpgrp()}, {"sid", ::getsid(0)}};
}

bool ProgramArguments::has_option(std::string_view name) const {
    return std::any_of(options.begin(), options.end(),
                       [name](const std::string& option) { return option_name(option) == name; });
}

std::optional<uint64_t> option_of(const formats::DofProgram& program, uint32_t id) {
    std::optional<uint64_t> value;
    for (const formats::DofOption& option : program.options)
        if (option.option == id)
            value = option.value;
    if (value == DTRACEOPT_UNSET)
        value.reset();
    return value;
}

base::Result<void> check_destructive(const formats::DofProgram& program, const char* how) {
    if (is_destructive(program) && !option_of(program, DTRACEOPT_DESTRUCTIVE))
        return base::errorf(base::ErrorCode::invalid, "Destructive actions not allowed%s",
                            is_testing() ? "" : base::strprintf(" (%s allows them)", how).c_str());
    return {};
}

void add_program_text_options(Command command, ProgramArguments& arguments) {
    command.add_option("-s,--script", arguments.script, "The D program's file");
    command.add_option("-n,--program", arguments.text, "The D program itself");
    auto list = [&command](const char* names, std::vector<std::string>& to, const char* text) {
        command.add_option(names, to, text).one_value_each().type_name("TEXT");
    };
    list("-x", arguments.options, "Set an option, as `#pragma D option` does: name or name=value");
    command.add_flag("-C", arguments.preprocess, "Run the program through cpp first");
    list("-D", arguments.definitions, "Define a macro for cpp: name or name=value");
    list("-U", arguments.undefinitions, "Undefine a macro for cpp");
    list("-I", arguments.include_folders, "Look for included files there");
    list("-L", arguments.library_folders, "Load the D libraries of a folder");
    command.add_flag("-q,--quiet", arguments.quiet, "Print only what the program prints");
    command.add_flag("-F,--flowindent", arguments.flowindent, "Indent by entry and return");
    command.add_flag("-w,--destructive", arguments.destructive, "Allow destructive actions");
    command.add_flag("-Z", arguments.zero_probes_allowed, "Allow descriptions that match no probe");
    command.add_option("-b", arguments.bufsize, "Size of each CPU's buffer: 64k, 4m");
    Option kernel =
        command.add_option("--kernel", arguments.kernel,
                           "The kernel whose types the program uses: a release (uname -r), or "
                           "the path of a kernel image");
    command
        .add_option("--btf", arguments.btf,
                    "File with that kernel's types: BTF, vmlinux, or a kernel image")
        .excludes(kernel);
}

void add_program_options(Command command, ProgramArguments& arguments) {
    add_program_text_options(command, arguments);
    command.add_option("ARGUMENT", arguments.arguments, "$1, $2, ... of the program");
}

std::optional<std::string> program_usage_error(const ProgramArguments& arguments,
                                               const std::string& subcommand) {
    if (arguments.script.empty() && arguments.text.empty())
        return subcommand + " needs a program: -s FILE or -n TEXT" +
               (arguments.arguments.empty()
                    ? ""
                    : "; " + arguments.arguments[0] + " was taken as its argument $1");
    if (!arguments.script.empty() && !arguments.text.empty())
        return subcommand + " takes one program: -s FILE or -n TEXT";
    return std::nullopt;
}

namespace {

/// What came of a compilation, and the types it was made with.
struct Compilation {
    compiler::CompileOutput output;
    std::unique_ptr<compiler::BtfKernelTypes> kernel;
};

/// Reads, preprocesses and compiles.  Errors: a file that cannot be read; what is wrong with the
/// program is in the output.
base::Result<Compilation> compile(const ProgramArguments& arguments, const KnownProbes& probes) {
    compiler::CompileOptions options;
    DBK_TRY(compiler::CompileSource source, read_source(arguments));
    options.sources.push_back(std::move(source));
    options.arguments = arguments.arguments;
    if (!arguments.source && !probes.recorded) // of another process
        options.macros = process_macros();
    if (probes.target)
        options.macros["target"] = *probes.target;
    options.target_hint = probes.target_hint;
    options.target_is_variable = probes.target_is_variable;
    set_options(arguments, options);
    if (!probes.library.empty()) // those of -L may use it
        options.libraries.push_back({"probes.d", "(probes)", probes.library, true});
    DBK_TRY_VOID(add_libraries(arguments.library_folders, options));
    DBK_TRY(auto where, kernel_source(arguments));
    Compilation made;
    if (where)
        made.kernel = std::make_unique<compiler::BtfKernelTypes>(std::move(*where));
    options.kernel = made.kernel.get();
    options.compiler_version = "daybreak " DAYBREAK_VERSION;
    options.probe_exists = probes.exist;
    options.similar_probe = probes.similar;
    options.hint_for_probe = probes.hint ? probes.hint : hint_for_backfill_probe;
    options.zero_probes_allowed = arguments.zero_probes_allowed;
    options.recorded = probes.recorded;
    options.where_possible = probes.where_possible;
    options.names_machines = probes.names_machines;
    made.output = compiler::compile(options);
    return made;
}

/// The compilation must have a DOF.
CompiledProgram program_of(Compilation made, const ProgramArguments& arguments) {
    CompiledProgram compiled{*std::move(made.output.dof),
                             std::move(made.output.program),
                             std::move(made.output.normalized),
                             describe(arguments),
                             "",
                             std::move(made.output.stability),
                             std::move(made.kernel),
                             made.output.has_clause_left_out};
    if (compiled.program.target)
        compiled.release = compiled.program.target->release;
    return compiled;
}

} // namespace

std::optional<CompiledProgram> compile_program(const ProgramArguments& arguments,
                                               const KnownProbes& probes) {
    auto made = compile(arguments, probes);
    if (!made.ok()) {
        complain(made.error().message());
        return std::nullopt;
    }
    if (std::getenv("DTRACE_DEBUG"))
        std::fputs(library_notes(made->output).c_str(), stderr);
    print_diagnostics(made->output, {.error_tags = arguments.has_option("errtags")});
    if (!made->output.dof)
        return std::nullopt;
    return program_of(std::move(*made), arguments);
}

base::Result<CompiledProgram> compile_quietly(const ProgramArguments& arguments,
                                              const KnownProbes& probes) {
    DBK_TRY(Compilation made, compile(arguments, probes));
    if (!made.output.dof) {
        const compiler::Diagnostic* first = made.output.diagnostics.first_error();
        return base::errorf(base::ErrorCode::invalid, "%s", first ? first->text.c_str() : "");
    }
    return program_of(std::move(made), arguments);
}

} // namespace daybreak::cmd
