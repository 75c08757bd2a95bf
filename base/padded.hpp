// SPDX-License-Identifier: Apache-2.0
//
// Pieces, columns and records begin at multiples of eight bytes.
#pragma once

#include <cstddef>

namespace daybreak::base {

/// Returns the first multiple of 8 that is not less.
constexpr size_t padded_to_8(size_t bytes) {
    return (bytes + 7) & ~size_t{7};
}

} // namespace daybreak::base
