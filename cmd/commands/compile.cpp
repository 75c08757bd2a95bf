// SPDX-License-Identifier: Apache-2.0
//
// daybreak compile: D to DOF.
#include "base/file.hpp"
#include "base/visible.hpp"
#include "cmd/commands.hpp"
#include "cmd/file_places.hpp"
#include "cmd/image_probes.hpp"
#include "cmd/program.hpp"
#include "formats/dof/dof_printer.hpp"
#include "formats/dof/properties.hpp"

#include <filesystem>
#include <memory>

namespace daybreak::cmd {

namespace {

struct CompileArguments {
    ProgramArguments program;
    std::string output_path;
    std::string format = "raw";
    bool disassemble = false;
};

base::Result<void> write_image(const std::string& script, const std::string& path,
                               base::ByteView dof) {
    std::error_code none;
    if (std::filesystem::equivalent(script, path, none))
        return base::errorf(base::ErrorCode::invalid,
                            "%s is the program: name another file to write", path.c_str());
    DBK_TRY(auto output, base::OutputFile::create(path));
    DBK_TRY_VOID(output.write(dof));
    return output.commit();
}

int compile(const CompileArguments& arguments) {
    auto compiled = compile_for_machine(arguments.program);
    if (!compiled)
        return static_cast<int>(Exit::failed);
    if (auto checked = check_kernel(arguments.program, *compiled); !checked.ok())
        return fail(checked.error());
    if (arguments.disassemble)
        std::fputs(base::visible(formats::print_ecbs(compiled->program)).c_str(), stderr);
    if (arguments.output_path.empty())
        return static_cast<int>(Exit::ok);
    auto format = formats::dof_format_named(arguments.format).value_or(formats::DofFormat::raw);
    std::string text;
    if (format != formats::DofFormat::raw)
        text = formats::with_dof_properties("", format, {compiled->dof});
    auto written = write_image(arguments.program.script, arguments.output_path,
                               text.empty() ? base::ByteView(compiled->dof) : base::as_bytes(text));
    return written.ok() ? static_cast<int>(Exit::ok) : fail(written.error());
}

} // namespace

void add_compile(Command app, int& status) {
    auto arguments = std::make_shared<CompileArguments>();
    Command command = app.add_subcommand("compile", "Compile a D program to DOF");
    add_program_options(command, arguments->program);
    command.add_option("-o,--output", arguments->output_path, "The DOF image to write");
    command
        .add_option("--format", arguments->format,
                    "Of the output: raw, or a property as illumos (dtrace.conf) or FreeBSD "
                    "(dtrace.dof) keep it")
        .one_of({"raw", "illumos", "freebsd"});
    command.add_flag("-S", arguments->disassemble, "Print the DIF on standard error");
    command.footer("\nExample: for the kernel that this machine boots\n"
                   "  daybreak compile -s boot.d -o boot.dof --kernel $(uname -r)");
    command.callback([arguments, &status] {
        auto wrong = program_usage_error(arguments->program, "compile");
        if (!wrong && arguments->output_path.empty() && !arguments->disassemble)
            wrong = "compile needs -o FILE, or -S to print the DIF";
        if (wrong) {
            status = misuse("compile", *wrong);
            return;
        }
        status = compile(*arguments);
    });
}

} // namespace daybreak::cmd
