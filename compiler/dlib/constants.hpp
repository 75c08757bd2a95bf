// SPDX-License-Identifier: Apache-2.0
//
// The integer constants that every D program can name without a library: faults of dtrace:::ERROR
// and NULL.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace daybreak::compiler {

struct LibraryConstant {
    std::string_view name;
    int64_t value;
};

/// Returns the constants; they are those of Linux on x86-64, wherever the compiler runs.
std::span<const LibraryConstant> library_constants();

} // namespace daybreak::compiler
