// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli), the checksum of segments and trace blocks: the engine's own.
#pragma once

#include "base/byte_reader.hpp"
#include "engine/api/crc32c.h"

namespace daybreak::base {

/// Returns the CRC-32C of `bytes`, continuing from `crc` (0 to start), as RFC 3720 defines it.
/// crc32c("123456789") is 0xe3069283.
inline uint32_t crc32c(ByteView bytes, uint32_t crc = 0) {
    return dbk_crc32c(crc, bytes.data(), bytes.size());
}

} // namespace daybreak::base
