// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4), which names the BTF a program was compiled for, and in partial states
// programs and parts.
//
// Only that: nothing secret depends on it, so a page of code is preferred to a cryptographic
// library in every static binary.
#pragma once

#include "base/byte_reader.hpp"

#include <array>

namespace daybreak::base {

/// Returns the SHA-256 of bytes.
std::array<uint8_t, 32> sha256(ByteView bytes);

} // namespace daybreak::base
