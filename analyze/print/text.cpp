// SPDX-License-Identifier: Apache-2.0
//
// Appending formatted text to the output buffer.
#include "analyze/print/text.hpp"

#include <cstdarg>
#include <cstdio>

namespace daybreak::analyze {

void appendf(std::string& out, const char* format, ...) {
    char small[160];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = std::vsnprintf(small, sizeof(small), format, arguments);
    if (length >= 0 && static_cast<size_t>(length) < sizeof(small)) {
        out.append(small, static_cast<size_t>(length));
    } else if (length > 0) {
        size_t start = out.size();
        out.resize(start + static_cast<size_t>(length) + 1);
        std::vsnprintf(&out[start], static_cast<size_t>(length) + 1, format, again);
        out.pop_back();
    }
    va_end(again);
    va_end(arguments);
}

} // namespace daybreak::analyze
