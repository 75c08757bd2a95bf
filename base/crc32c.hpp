// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli), the checksum of segments and trace blocks.
#pragma once

#include "base/byte_reader.hpp"

namespace daybreak::base {

/// Returns the CRC-32C of `bytes`, continuing from `crc` (0 to start), as RFC 3720 defines it.
/// crc32c("123456789") is 0xe3069283.
uint32_t crc32c(ByteView bytes, uint32_t crc = 0);

/// Returns the same without the processor's instruction, which crc32c() uses where there is one.
uint32_t crc32c_portable(ByteView bytes, uint32_t crc = 0);

} // namespace daybreak::base
