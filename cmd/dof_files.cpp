// SPDX-License-Identifier: Apache-2.0
#include "cmd/dof_files.hpp"

#include "base/file.hpp"
#include "formats/dof/dialect.hpp"
#include "formats/dof/dof_reader.hpp"
#include "formats/dof/properties.hpp"

namespace daybreak::cmd {

namespace {

/// Adds the programs of a file: an image, or properties with several.
base::Result<void> add_parts(const std::string& path, base::ByteView untrusted,
                             std::vector<formats::DofProgram>& parts) {
    DBK_TRY(auto images, formats::dof_images_in(untrusted));
    for (const base::Bytes& bytes : images) {
        auto image = formats::parse_dof(bytes);
        if (!image.ok())
            return std::move(image).error().with_context(path);
        parts.push_back(std::move(image->program));
    }
    return {};
}

} // namespace

base::Result<formats::DofProgram> read_dof_files(const std::vector<std::string>& paths,
                                                 const std::string& dialect) {
    std::vector<formats::DofProgram> parts;
    for (const std::string& path : paths) {
        DBK_TRY(base::Bytes bytes, base::read_file(path));
        DBK_TRY_VOID(add_parts(path, bytes, parts));
    }
    formats::DofProgram program = formats::join_programs(std::move(parts));
    DBK_TRY_VOID(formats::translate_program(program, *formats::dof_dialect_named(dialect)));
    return program;
}

} // namespace daybreak::cmd
