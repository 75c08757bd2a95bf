// SPDX-License-Identifier: Apache-2.0
//
// The size of a page.
#pragma once

#include <cstdint>

namespace daybreak::base {

constexpr uint64_t kPageBytes = 4096; ///< of x86-64, the one processor that is traced

} // namespace daybreak::base
