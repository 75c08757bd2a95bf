// SPDX-License-Identifier: Apache-2.0
//
// The kernel module's file as a container of DOF.
//
// daybreak.ko carries an empty container (formats/abi/embed.h) in a section of its own.  Embedding
// writes the same ELF file again with other contents in that section: no compiler, no linker, no
// kernel headers are needed where it happens.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"
#include "formats/abi/embed.h"

#include <string>
#include <vector>

namespace daybreak::formats {

/// One embedded enabling: a DOF image and the name its ring will have.
struct EmbeddedImage {
    std::string name; ///< 1 to 31 bytes
    base::Bytes dof;
};

/// What was compiled from a program: struct dbk_native_part.
struct NativePart {
    base::Bytes dof;                  ///< of the program that it is of
    std::vector<dbk_native_way> ways; ///< of its clauses, in their order
};

/// What a module file says of itself.
struct ModuleFileInfo {
    std::string release; ///< the kernel it was built for: first word of its vermagic
    std::string version; ///< of the Daybreak that it belongs to
    std::vector<EmbeddedImage> images;
    std::vector<NativePart> natives;

    /// The part of a program, or nullptr: it is interpreted.
    const NativePart* native_of(const EmbeddedImage& image) const;
};

/// Returns the parts of a section DBK_NATIVE_SECTION.  Errors: truncated, corrupt.
base::Result<std::vector<NativePart>> parse_native_parts(base::ByteView untrusted_section);

/// Returns the container's bytes as embed.h lays them out.
/// Errors: limit (too many images), invalid (a name that does not fit, an empty image).
base::Result<base::Bytes> build_container(const std::vector<EmbeddedImage>& images);

/// Returns the images of a container.  Errors: truncated, corrupt.
base::Result<std::vector<EmbeddedImage>> parse_container(base::ByteView untrusted_container);

/// Whether it begins as an ELF file does, which of Daybreak's files only the module is.
bool looks_like_module(base::ByteView untrusted);

/// Returns the images and the target kernel of a module file's bytes.
/// Errors: invalid when it is not an x86-64 ELF relocatable file, or not Daybreak's module;
/// unsupported: it is compressed; truncated: it ends before what its header says is in it.
base::Result<ModuleFileInfo> read_module(base::ByteView untrusted_module);

/// Returns `untrusted_module` with `images` in place of what was embedded.
/// Errors: as read_module() and build_container().
base::Result<base::Bytes> embed_images(base::ByteView untrusted_module,
                                       const std::vector<EmbeddedImage>& images);

} // namespace daybreak::formats
