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

#include <algorithm>
#include <memory>

namespace daybreak::cmd {

namespace {

base::Result<void> print_native(const std::vector<NativeSource>& programs) {
    DBK_TRY(std::string text, native_text(programs));
    put(text);
    return {};
}

base::Result<void> print_image(base::ByteView untrusted_dof) {
    DBK_TRY(auto image, formats::parse_dof(untrusted_dof));
    put(formats::print_dof(image));
    return {};
}

/// What of a program is compiled in the module that has it.
base::Result<void> print_ways(const formats::EmbeddedImage& image, const formats::NativePart& part) {
    static constexpr const char* kWays[] = {
#define DBK_WAY(name, value, text) text,
        DBK_NATIVE_WAYS(DBK_WAY)
#undef DBK_WAY
    };
    DBK_TRY(auto parsed, formats::parse_dof(image.dof));
    put("\nnative code of enabling " + image.name + "\n");
    for (size_t i = 0; i < std::min(part.ways.size(), parsed.program.ecbs.size()); i++) {
        const formats::DofEcb& ecb = parsed.program.ecbs[i];
        put(base::strprintf("  section %-4u %-12s %s:%s:%s:%s\n", ecb.section, kWays[part.ways[i]],
                            ecb.probe.provider.c_str(), ecb.probe.module.c_str(), ecb.probe.function.c_str(),
                            ecb.probe.name.c_str()));
    }
    return {};
}

base::Result<void> print_module(base::ByteView untrusted_module, bool native) {
    DBK_TRY(auto module, formats::read_module(untrusted_module));
    if (native) {
        std::vector<NativeSource> programs;
        for (const formats::EmbeddedImage& image : module.images)
            programs.push_back({"enabling " + image.name, image.dof});
        return print_native(programs);
    }
    put("module for kernel " + module.release + ", " +
        base::counted(module.images.size(), "embedded enabling") + "\n");
    for (const formats::EmbeddedImage& image : module.images) {
        put(base::strprintf("\nenabling %s, %zu bytes\n", image.name.c_str(), image.dof.size()));
        DBK_TRY_VOID(print_image(image.dof));
        if (const formats::NativePart* part = module.native_of(image))
            DBK_TRY_VOID(print_ways(image, *part));
        else if (!module.natives.empty())
            put("\nno native code of enabling " + image.name + ": it is interpreted\n");
    }
    return {};
}

base::Result<void> print_properties(base::ByteView untrusted_text, bool native) {
    DBK_TRY(auto images, formats::read_dof_properties(untrusted_text));
    if (native) {
        std::vector<NativeSource> programs;
        for (const base::Bytes& image : images)
            programs.push_back({"", image});
        return print_native(programs);
    }
    for (size_t i = 0; i < images.size(); i++) {
        put(base::strprintf("%sproperty dof-data-%zu, %zu bytes\n", i == 0 ? "" : "\n", i,
                            images[i].size()));
        DBK_TRY_VOID(print_image(images[i]));
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
    base::Result<void> printed;
    if (formats::looks_like_dof(bytes))
        printed = native ? print_native({{"", bytes}}) : print_image(bytes);
    else if (formats::looks_like_dof_properties(bytes))
        printed = print_properties(bytes, native);
    else if (formats::looks_like_module(bytes))
        printed = print_module(bytes, native);
    else
        return base::errorf(base::ErrorCode::invalid,
                            "%s is neither DOF, a file with properties nor a kernel module; daybreak compile makes DOF of a D program",
                            path.c_str());
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
    Option output = command.add_option("-o,--output", arguments->output_path,
                                       "Do not print: write the images as one of Daybreak's own");
    command.add_option("--dialect", arguments->dialect,
                       "Whose numbers they have, for -o: oracle (as Daybreak), illumos, freebsd, "
                       "opendtrace");
    command.add_flag("--native", arguments->native,
                     "Print them as C, translated, with what of each clause is native")
        .excludes(output);
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
