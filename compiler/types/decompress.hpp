// SPDX-License-Identifier: Apache-2.0
//
// Unpacking compressed kernels and modules, with a bound on memory.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <functional>

namespace daybreak::compiler {

/// No image unpacks to more than this; Debian's kernels unpack to 60 MB.
constexpr uint64_t kUnpackedBytesMax = 512u << 20;

/// Whether bytes start as gzip, xz, zstd or the kernel's lz4 do.
bool is_compressed(base::ByteView bytes);

/// Asked now and then with what has come out so far: whether that is all that is wanted.
using Enough = std::function<bool(base::ByteView unpacked)>;

/// Unpacks gzip, xz, zstd or lz4 (legacy frames), found by its magic; what follows the compressed
/// stream is ignored.  `what` names the data in messages.
/// Errors: unsupported (no known magic, or a library refuses), corrupt, truncated, limit (more than
/// `bytes_max` come out).  With `enough`, stops where that says yes: what lies after is not seen.
base::Result<base::Bytes> decompress(base::ByteView untrusted_bytes, const std::string& what,
                                     uint64_t bytes_max = kUnpackedBytesMax,
                                     const Enough& enough = {});

} // namespace daybreak::compiler
