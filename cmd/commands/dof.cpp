// SPDX-License-Identifier: Apache-2.0
//
// daybreak dof: print compiled programs, from a file of their own or out of the module.
#include "base/counted.hpp"
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/dof_files.hpp"
#include "cmd/native.hpp"
#include "formats/dof/dialect.hpp"
#include "formats/dof/dof_printer.hpp"
#include "formats/dof/dof_reader.hpp"
#include "formats/dof/dof_writer.hpp"
#include "formats/dof/properties.hpp"
#include "formats/module/module_file.hpp"
#include "formats/trace/reader.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

base::Result<void> print_image(base::ByteView untrusted_dof, bool native) {
    if (native) {
        DBK_TRY(std::string text, native_text(untrusted_dof));
        put(text);
        return {};
    }
    DBK_TRY(auto image, formats::parse_dof(untrusted_dof));
    put(formats::print_dof(image));
    return {};
}

base::Result<void> print_module(base::ByteView untrusted_module, bool native) {
    DBK_TRY(auto module, formats::read_module(untrusted_module));
    if (!native)
        put("module for kernel " + module.release + ", " +
        base::counted(module.images.size(), "embedded enabling") + "\n");
    for (const formats::EmbeddedImage& image : module.images) {
        if (!native)
            put(base::strprintf("\nenabling %s, %zu bytes\n", image.name.c_str(),
                                image.dof.size()));
        DBK_TRY_VOID(print_image(image.dof, native));
    }
    return {};
}

base::Result<void> print_properties(base::ByteView untrusted_text) {
    DBK_TRY(auto images, formats::read_dof_properties(untrusted_text));
    for (size_t i = 0; i < images.size(); i++) {
        put(base::strprintf("%sproperty dof-data-%zu, %zu bytes\n", i == 0 ? "" : "\n", i,
                            images[i].size()));
        DBK_TRY_VOID(print_image(images[i], false));
    }
    return {};
}

struct DofArguments {
    std::vector<std::string> paths;
    std::string output_path;
    std::string dialect = "oracle";
    bool native = false;
};

/// Joins the images and writes them as one of Daybreak's own.
base::Result<void> convert(const DofArguments& arguments) {
    DBK_TRY(formats::DofProgram program, read_dof_files(arguments.paths, arguments.dialect));
    DBK_TRY(base::Bytes bytes, formats::write_dof(program));
    DBK_TRY(auto output, base::OutputFile::create(arguments.output_path));
    DBK_TRY_VOID(output.write(bytes));
    return output.commit();
}

base::Result<void> print_file(const std::string& path, bool native) {
    DBK_TRY(base::Bytes bytes, base::read_file(path));
    if (formats::looks_like_trace(bytes))
        return base::errorf(base::ErrorCode::invalid,
                            "%s is a trace file, not DOF: daybreak report reads it", path.c_str());
    auto printed = formats::looks_like_dof(bytes)              ? print_image(bytes, native)
                   : formats::looks_like_dof_properties(bytes) ? print_properties(bytes)
                                                               : print_module(bytes, native);
    if (!printed.ok())
        return std::move(printed).error().with_context(path);
    return {};
}

} // namespace

void add_dof(Command app, int& status) {
    auto arguments = std::make_shared<DofArguments>();
    Command command = app.add_subcommand(
        "dof", "Print compiled programs and their DIF, also other compilers' images");
    command
        .add_option(
            "FILE", arguments->paths,
            "A DOF image, a file with properties (dtrace.conf, dtrace.dof), or a daybreak.ko")
        .required();
    command.add_option("-o,--output", arguments->output_path,
                       "Do not print: write the images as one of Daybreak's own");
    command.add_option("--dialect", arguments->dialect,
                       "Whose numbers they have, for -o: oracle (as Daybreak), illumos, freebsd, "
                       "opendtrace");
    command.add_flag("--native", arguments->native,
                     "Print them as C, translated, with what of each clause is native");
    command.footer("\nExample: a program and the options that another compiler made\n"
                   "  daybreak dof prog.dof options.dof --dialect illumos -o boot.dof");
    command.callback([arguments, &status] {
        if (!formats::dof_dialect_named(arguments->dialect)) {
            status = misuse("dof", "--dialect " + arguments->dialect +
                                       ": expected oracle, illumos, freebsd or opendtrace");
            return;
        }
        base::Result<void> done;
        if (!arguments->output_path.empty())
            done = convert(*arguments);
        else
            for (const std::string& path : arguments->paths)
                if (done.ok())
                    done = print_file(path, arguments->native);
        status = done.ok() ? static_cast<int>(finish_stdout()) : fail(done.error());
    });
}

} // namespace daybreak::cmd
