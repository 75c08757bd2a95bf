// SPDX-License-Identifier: Apache-2.0
//
// Which symbols are code, by the letter that /proc/kallsyms has for them.
#pragma once

#include "formats/trace/metadata.hpp"

namespace daybreak::formats {

inline bool is_code(const Symbol& symbol) {
    return symbol.type == 't' || symbol.type == 'T' || symbol.type == 'w' || symbol.type == 'W';
}

} // namespace daybreak::formats
