// SPDX-License-Identifier: Apache-2.0
//
// Unpacking compressed kernels and modules, with a bound on memory.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

namespace daybreak::compiler {

/// No image unpacks to more than this; Debian's kernels unpack to 60 MB.
constexpr uint64_t kUnpackedBytesMax = 512u << 20;

/// Whether bytes start as gzip, xz, zstd or the kernel's lz4 do.
bool is_compressed(base::ByteView bytes);

/// Unpacks gzip, xz, zstd or lz4 (legacy frames), found by its magic; what follows the compressed
/// stream is ignored.  `what` names the data in messages.
/// Errors: unsupported (no known magic, or a library refuses), corrupt, truncated, limit (more than
/// `bytes_max` come out).
base::Result<base::Bytes> decompress(base::ByteView untrusted_bytes, const std::string& what,
                                     uint64_t bytes_max = kUnpackedBytesMax);

} // namespace daybreak::compiler
