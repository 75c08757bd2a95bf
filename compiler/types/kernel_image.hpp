// SPDX-License-Identifier: Apache-2.0
//
// Getting the .BTF out of what kernels come in.
//
// A kernel's types lie in a section .BTF: of a vmlinux (ELF), of a module (ELF, maybe compressed),
// of the vmlinux that is packed inside a vmlinuz (x86 bzImage), or alone in a file, as
// /sys/kernel/btf/vmlinux shows them.  All of these are distinguished by their first bytes.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <string>

namespace daybreak::compiler {

/// Returns the raw BTF in a kernel image, module or BTF file.  `what` names it in messages.
/// Errors: unsupported (none of the above), not_found (an ELF file without .BTF), corrupt,
/// truncated, limit.
base::Result<base::Bytes> extract_btf(base::Bytes untrusted_bytes, const std::string& what);

/// Returns the vmlinux, an ELF file, that a kernel image is or has packed inside.  `what` names it
/// in messages.  Errors: as extract_btf(), and not_found (BTF alone).
base::Result<base::Bytes> extract_vmlinux(base::Bytes untrusted_bytes, const std::string& what);

/// Reads a file and returns the raw BTF in it.
base::Result<base::Bytes> read_btf_file(const std::string& path);

} // namespace daybreak::compiler
