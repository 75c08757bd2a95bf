// SPDX-License-Identifier: Apache-2.0
//
// DOF as properties of a text file: how other systems keep an anonymous enabling for the next boot.
//
//     illumos, /kernel/drv/dtrace.conf    dof-data-0=0x7f,0x44,0x4f,0x46,...;
//     FreeBSD, /boot/dtrace.dof           dof-data-0=7f444f46...
//
// Properties are numbered from 0 without a gap; each holds one image.  Lines that do not begin with
// "dof-data-" belong to other programs and are kept.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::formats {

enum class DofFormat : uint8_t { raw, illumos, freebsd };

/// Returns the format of that name: "raw", "illumos", "freebsd".
std::optional<DofFormat> dof_format_named(std::string_view name);

/// Returns whether a text file has such a property.
bool looks_like_dof_properties(base::ByteView untrusted);

/// Returns the images of a file's properties, in the order of their numbers, and whose form they
/// have. Errors: corrupt (a byte that is none, a number twice or left out), limit, not_found
/// (none).
base::Result<std::vector<base::Bytes>> read_dof_properties(base::ByteView untrusted);

/// Returns the text without any such property.
std::string without_dof_properties(std::string_view text);

/// Returns the text with `images` as its only properties, at the end.  `format` is not raw.
std::string with_dof_properties(std::string_view text, DofFormat format,
                                const std::vector<base::Bytes>& images);

/// Returns the images that a file holds: those of its properties, or the file as one image, which
/// is not looked at.  Several are one enabling: see join_programs(). Errors: those of
/// read_dof_properties().
base::Result<std::vector<base::Bytes>> dof_images_in(base::ByteView untrusted);

} // namespace daybreak::formats
