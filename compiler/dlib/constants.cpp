// SPDX-License-Identifier: Apache-2.0
#include "compiler/dlib/constants.hpp"

#include "formats/abi/faults.h"

namespace daybreak::compiler {

namespace {

constexpr LibraryConstant kConstants[] = {
#define DBK_CONSTANT(name, code, text, has_address) {#name, code},
    DBK_FAULTS(DBK_CONSTANT)
#undef DBK_CONSTANT
    // The NULL of C, as scripts write it.
    {"NULL", 0},
};

} // namespace

std::span<const LibraryConstant> library_constants() {
    return kConstants;
}

} // namespace daybreak::compiler
