// SPDX-License-Identifier: Apache-2.0
//
// The release (uname -r) that a kernel image says it is.
#pragma once

#include "base/byte_reader.hpp"

#include <string>

namespace daybreak::compiler {

/// Where a bzImage has "HdrS", little-endian (Documentation/arch/x86/boot.rst).
constexpr uint64_t kSetupMagicAt = 0x202;
constexpr uint32_t kSetupMagic = 0x53726448;

/// Returns the release named in the boot header of an x86 kernel image (vmlinuz), or in the banner
/// of an ELF one (vmlinux); "" when the bytes are neither, or have none.  Source of the offsets:
/// the Linux/x86 boot protocol, "HdrS" and kernel_version.
std::string release_of_kernel_image(base::ByteView untrusted_image);

} // namespace daybreak::compiler
