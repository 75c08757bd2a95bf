// SPDX-License-Identifier: Apache-2.0
//
// daybreak embed: put programs into the kernel module.
#include "base/counted.hpp"
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/enabling.hpp"
#include "cmd/file_places.hpp"
#include "cmd/image_probes.hpp"
#include "cmd/native.hpp"
#include "formats/dof/dialect.hpp"
#include "formats/dof/dof_reader.hpp"
#include "formats/dof/dof_writer.hpp"
#include "formats/dof/properties.hpp"
#include "formats/module/module_file.hpp"

#include <filesystem>
#include <memory>

namespace daybreak::cmd {

namespace {

struct EmbedOptions {
    std::vector<std::string> program_paths; ///< compiled, or D text
    std::string module_path;
    std::string output_path;
    std::string kernel; ///< whose types D text is compiled with; empty: the module's
    bool replace = false;
    bool quiet = false;
    bool native = false;
    NativeBuild build;
};

/// Returns "2 programs (boot, net)".
std::string list_of(const std::vector<formats::EmbeddedImage>& images) {
    std::string names;
    for (const formats::EmbeddedImage& image : images)
        names += (names.empty() ? "" : ", ") + image.name;
    return base::counted(images.size(), "program") + " (" + names + ")";
}

/// How many of the clauses that the user wrote are native in a module.
base::Result<std::string> native_clauses_of(base::ByteView embedded) {
    DBK_TRY(formats::ModuleFileInfo module, formats::read_module(embedded));
    size_t count = 0, whole = 0, values = 0;
    for (const formats::EmbeddedImage& image : module.images) {
        DBK_TRY(auto parsed, formats::parse_dof(image.dof));
        const formats::NativePart* part = module.native_of(image);
        for (size_t i = 0; i < parsed.program.ecbs.size(); i++) {
            if (parsed.program.ecbs[i].probe.name ==
                "ERROR") // as the compiler adds to each program
                continue;
            const uint8_t way =
                part && i < part->ways.size() ? part->ways[i] : DBK_NATIVE_INTERPRETED;
            count++;
            whole += way == DBK_NATIVE_WHOLE;
            values += way == DBK_NATIVE_VALUES;
        }
    }
    return base::strprintf(", %zu of %s native, of %zu more the expressions", whole,
                           base::counted(count, "clause").c_str(), values);
}

/// Refuses to lose programs.
base::Result<void> check_replaced(const EmbedOptions& options,
                                  const formats::ModuleFileInfo& module) {
    const std::vector<formats::EmbeddedImage>& before = module.images;
    if (options.native && !module.natives.empty()) // a second table cannot be linked to it
        return base::errorf(
            base::ErrorCode::invalid,
            "%s holds native programs already, which --native cannot replace: name the "
            "module as it was built",
            options.module_path.c_str());
    if (before.empty() || options.replace)
        return {};
    return base::errorf(base::ErrorCode::invalid,
                        "%s holds %s already: name a module that holds none, or say --replace",
                        options.module_path.c_str(), list_of(before).c_str());
}

/// Refuses an image compiled with one kernel's types for a module of another.
base::Result<void> check_target(const std::string& path, const formats::DofProgram& dof,
                                const std::string& module_release) {
    if (!dof.target || !dof.target->typed || module_release.empty() ||
        dof.target->release == module_release)
        return {};
    if (dof.target->release.empty()) {
        complain(base::strprintf(
            "warning: %s was compiled with types of a file that does not say which kernel's "
            "they are; of another one than %s it reads what is not there",
            path.c_str(), module_release.c_str()));
        return {};
    }
    return base::errorf(base::ErrorCode::invalid,
                        "%s was compiled with the types of kernel %s, the module is for %s; "
                        "compile it again with --kernel %s",
                        path.c_str(), dof.target->release.c_str(), module_release.c_str(),
                        module_release.c_str());
}

/// Reads an image, or properties, whose images are one enabling.
base::Result<base::Bytes> read_image(const std::string& path) {
    DBK_TRY(base::Bytes bytes, base::read_file(path));
    auto images = formats::dof_images_in(bytes);
    if (!images.ok())
        return std::move(images).error().with_context(path);
    if (images->size() == 1)
        return std::move(images->front());
    std::vector<formats::DofProgram> parts;
    for (const base::Bytes& image : *images) {
        auto parsed = formats::parse_dof(image);
        if (!parsed.ok())
            return std::move(parsed).error().with_context(path);
        parts.push_back(std::move(parsed->program));
    }
    formats::DofProgram joined = formats::join_programs(std::move(parts));
    return formats::write_dof(joined);
}

/// Compiles a D program.  Empty: what is wrong was said.
base::Result<base::Bytes> compile_for(const std::string& kernel, const std::string& path) {
    ProgramArguments program;
    program.script = path;
    program.kernel = kernel;
    auto compiled = compile_for_machine(program);
    if (!compiled)
        return base::Bytes();
    DBK_TRY_VOID(check_kernel(program, *compiled));
    return std::move(compiled->dof);
}

/// Returns the programs as images.  Empty: what is wrong with one was said.
base::Result<std::vector<formats::EmbeddedImage>>
read_programs(const EmbedOptions& options, const std::vector<std::string>& names,
              const std::string& release) {
    std::vector<formats::EmbeddedImage> images;
    for (const std::string& path : options.program_paths) {
        formats::EmbeddedImage image;
        image.name = names[images.size()];
        if (path.ends_with(".d")) {
            DBK_TRY(image.dof, compile_for(options.kernel.empty() ? release : options.kernel, path));
            if (image.dof.empty())
                return std::vector<formats::EmbeddedImage>();
        } else {
            DBK_TRY(image.dof, read_image(path));
        }
        auto dof = formats::parse_dof(image.dof);
        if (!dof.ok())
            return std::move(dof).error().with_context(path);
        DBK_TRY_VOID(check_target(path, dof->program, release));
        if (auto allowed = check_destructive(dof->program, "daybreak compile -w"); !allowed.ok())
            return std::move(allowed).error().with_context(path); // the boot would refuse it
        images.push_back(std::move(image));
    }
    return images;
}

/// False: what is wrong with a program was said.
base::Result<bool> embed(const EmbedOptions& options) {
    DBK_TRY(std::vector<std::string> names, program_names(options.program_paths));
    DBK_TRY(base::Bytes module, base::read_file(options.module_path));
    auto before = formats::read_module(module);
    if (!before.ok())
        return std::move(before).error().with_context(options.module_path);
    DBK_TRY_VOID(check_replaced(options, *before));
    DBK_TRY(std::vector<formats::EmbeddedImage> images, read_programs(options, names, before->release));
    if (images.empty())
        return false;
    std::error_code none;
    if (std::filesystem::equivalent(options.module_path, options.output_path, none))
        return base::errorf(base::ErrorCode::invalid,
                            "%s is the module: name another file to write",
                            options.output_path.c_str());
    if (options.native) {
        std::vector<NativeSource> programs;
        for (size_t i = 0; i < images.size(); i++)
            programs.push_back({options.program_paths[i], images[i].dof});
        DBK_TRY(module, native_module(options.build, module, before->release, programs));
    }
    DBK_TRY(base::Bytes embedded, formats::embed_images(module, images));
    DBK_TRY(auto output, base::OutputFile::create(options.output_path));
    DBK_TRY_VOID(output.write(embedded));
    DBK_TRY_VOID(output.commit());
    if (options.quiet)
        return true;
    std::string native;
    if (options.native) {
        DBK_TRY(native, native_clauses_of(embedded));
    }
    complain(options.output_path + ": " + list_of(images) +
             (before->images.empty() ? "" : " in place of " + list_of(before->images)) +
             (before->release.empty() ? "" : ", for kernel " + before->release) + native);
    return true;
}

} // namespace

void add_embed(Command app, int& status) {
    auto options = std::make_shared<EmbedOptions>();
    Command command = app.add_subcommand("embed", "Put programs into the kernel module");
    command
        .add_option("PROGRAM", options->program_paths,
                    "Compiled programs, or D programs (.d); each gets its own ring")
        .required();
    command.add_option("--module", options->module_path, "The daybreak.ko to start from")
        .required();
    command.add_option("-o,--output", options->output_path, "The module to write").required();
    command.add_flag("--replace", options->replace, "Replace the programs that the module holds");
    command
        .add_option("--kernel", options->kernel,
                    "Whose types D programs use, or an image of it (default: the module's kernel)")
        .type_name("RELEASE");
    Option native = command.add_flag("--native", options->native,
                                     "Compile them too, with gcc and the kernel's headers: probes that compute cost up to a third less");
    command.add_option("--sources", options->build.sources,
                       "Where kmod/build is, for --native (default: of daybreak-dkms)")
        .type_name("FOLDER")
        .needs(native);
    command.add_option("--kernel-build", options->build.kernel_build,
                       "The kernel's headers, for --native (default: /lib/modules/RELEASE/build)")
        .type_name("FOLDER")
        .needs(native);
    command.add_flag("-q,--quiet", options->quiet, "Do not say what was embedded");
    command.footer("\nExample: two enablings in one module, one that was compiled before\n"
                   "  daybreak embed boot.d net.dof --module daybreak.ko -o boot.ko\n"
                   "Example: native, with the module's sources from a clone\n"
                   "  daybreak embed --native boot.d --module daybreak.ko -o boot.ko --sources .");
    command.callback([options, &status] {
        auto done = embed(*options);
        status = !done.ok() ? fail(done.error()) : static_cast<int>(*done ? Exit::ok : Exit::failed);
    });
}

} // namespace daybreak::cmd
