// SPDX-License-Identifier: Apache-2.0
//
// daybreak embed: put compiled programs into the kernel module.
#include "base/counted.hpp"
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/enabling.hpp"
#include "cmd/native.hpp"
#include "cmd/program.hpp"
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
    std::vector<std::string> dof_paths;
    std::string module_path;
    std::string output_path;
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

/// Refuses to lose programs.
base::Result<void> check_replaced(const EmbedOptions& options,
                                  const std::vector<formats::EmbeddedImage>& before) {
    if (before.empty() || options.replace)
        return {};
    return base::errorf(base::ErrorCode::invalid,
                        "%s holds %s already: name a module that holds none, or say --replace",
                        options.module_path.c_str(), list_of(before).c_str());
}

/// Refuses an image compiled with one kernel's types for a module of another.
base::Result<void> check_target(const std::string& path, const formats::DofProgram& dof,
                                const std::string& module_release) {
    if (!dof.target || !dof.target->typed || dof.target->release.empty() ||
        module_release.empty() || dof.target->release == module_release)
        return {};
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

base::Result<void> embed(const EmbedOptions& options) {
    DBK_TRY(std::vector<std::string> names, program_names(options.dof_paths));
    DBK_TRY(base::Bytes module, base::read_file(options.module_path));
    auto before = formats::read_module(module);
    if (!before.ok())
        return std::move(before).error().with_context(options.module_path);
    DBK_TRY_VOID(check_replaced(options, before->images));
    std::vector<formats::EmbeddedImage> images;
    for (const std::string& path : options.dof_paths) {
        formats::EmbeddedImage image;
        image.name = names[images.size()];
        DBK_TRY(image.dof, read_image(path));
        auto dof = formats::parse_dof(image.dof);
        if (!dof.ok())
            return std::move(dof).error().with_context(path);
        DBK_TRY_VOID(check_target(path, dof->program, before->release));
        if (auto allowed = check_destructive(dof->program); !allowed.ok())
            return std::move(allowed).error().with_context(path); // the boot would refuse it
        images.push_back(std::move(image));
    }
    std::error_code none;
    if (std::filesystem::equivalent(options.module_path, options.output_path, none))
        return base::errorf(base::ErrorCode::invalid,
                            "%s is the module: name another file to write",
                            options.output_path.c_str());
    if (options.native) {
        DBK_TRY(module, native_module(options.build, options.module_path, before->release, formats::views_of(images)));
    }
    DBK_TRY(base::Bytes embedded, formats::embed_images(module, images));
    DBK_TRY(auto output, base::OutputFile::create(options.output_path));
    DBK_TRY_VOID(output.write(embedded));
    DBK_TRY_VOID(output.commit());
    if (!options.quiet)
        complain(options.output_path + ": " + list_of(images) +
                 (before->images.empty() ? "" : " in place of " + list_of(before->images)) +
                 (before->release.empty() ? "" : ", for kernel " + before->release));
    return {};
}

} // namespace

void add_embed(Command app, int& status) {
    auto options = std::make_shared<EmbedOptions>();
    Command command = app.add_subcommand("embed", "Put compiled programs into the kernel module");
    command.add_option("DOF", options->dof_paths, "Compiled programs; each gets its own ring")
        .required();
    command.add_option("--module", options->module_path, "The daybreak.ko to start from")
        .required();
    command.add_option("-o,--output", options->output_path, "The module to write").required();
    command.add_flag("--replace", options->replace, "Replace the programs that the module holds");
    Option native = command.add_flag("--native", options->native,
                                     "Compile them too: their probes cost less");
    command.add_option("--sources", options->build.sources,
                       "Where kmod/build is, for --native (default: of daybreak-dkms)")
        .type_name("FOLDER")
        .needs(native);
    command.add_option("--kernel-build", options->build.kernel_build,
                       "The kernel's headers, for --native (default: /lib/modules/RELEASE/build)")
        .type_name("FOLDER")
        .needs(native);
    command.add_flag("-q,--quiet", options->quiet, "Do not say what was embedded");
    command.footer("\nExample: two enablings in one module\n"
                   "  daybreak embed boot.dof net.dof --module daybreak.ko -o boot.ko\n"
                   "Example: the same, compiled as well\n"
                   "  daybreak embed --native boot.dof net.dof --module daybreak.ko -o boot.ko");
    command.callback([options, &status] {
        auto done = embed(*options);
        status = done.ok() ? static_cast<int>(Exit::ok) : fail(done.error());
    });
}

} // namespace daybreak::cmd
