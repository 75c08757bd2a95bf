// SPDX-License-Identifier: Apache-2.0
//
// daybreak dof: print compiled programs, from a file of their own or out of the module.
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "formats/dof/dof_printer.hpp"
#include "formats/dof/dof_reader.hpp"
#include "formats/module/module_file.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

base::Result<void> print_image(base::ByteView untrusted_dof) {
    DBK_TRY(auto image, formats::parse_dof(untrusted_dof));
    put(formats::print_dof(image));
    return {};
}

base::Result<void> print_module(base::ByteView untrusted_module) {
    DBK_TRY(auto module, formats::read_module(untrusted_module));
    put(base::strprintf("module for kernel %s, %zu embedded enabling%s\n", module.release.c_str(),
                        module.images.size(), module.images.size() == 1 ? "" : "s"));
    for (const formats::EmbeddedImage& image : module.images) {
        put(base::strprintf("\nenabling %s, %zu bytes\n", image.name.c_str(), image.dof.size()));
        DBK_TRY_VOID(print_image(image.dof));
    }
    return {};
}

base::Result<void> print_file(const std::string& path) {
    DBK_TRY(base::Bytes bytes, base::read_file(path));
    auto printed = formats::looks_like_dof(bytes) ? print_image(bytes) : print_module(bytes);
    if (!printed.ok())
        return std::move(printed).error().with_context(path);
    return {};
}

} // namespace

void add_dof(CLI::App& app, int& status) {
    auto path = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("dof", "Print compiled programs and their DIF");
    command->add_option("FILE", *path, "A DOF image, or a daybreak.ko with embedded ones")
        ->required();
    command->footer("\nExample: what is embedded in this module?\n"
                    "  daybreak dof boot.ko");
    command->callback([path, &status] {
        auto done = print_file(*path);
        status = done.ok() ? static_cast<int>(finish_stdout()) : fail(done.error());
    });
}

} // namespace daybreak::cmd
