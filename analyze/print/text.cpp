// SPDX-License-Identifier: Apache-2.0
//
// Appending formatted text to the output buffer.
#include "analyze/print/text.hpp"

#include <cstdarg>
#include <ctime>
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

std::string wall_text(uint64_t wall_ns) {
    auto seconds = static_cast<time_t>(wall_ns / 1'000'000'000);
    struct tm local {};
    char text[64] = "unknown";
    if (localtime_r(&seconds, &local))
        std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local);
    return text;
}

} // namespace daybreak::analyze
