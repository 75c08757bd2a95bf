// SPDX-License-Identifier: Apache-2.0
//
// printf-style construction of messages and errors.
#include "base/result.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstring>

namespace daybreak::base {

namespace {

std::string vstrprintf(const char* format, va_list arguments) {
    va_list copy;
    va_copy(copy, arguments);
    int length = std::vsnprintf(nullptr, 0, format, copy);
    va_end(copy);
    DBK_ASSERT(length >= 0);
    std::string text(static_cast<size_t>(length), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    return text;
}

} // namespace

std::string strprintf(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string text = vstrprintf(format, arguments);
    va_end(arguments);
    return text;
}

Error errorf(ErrorCode code, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string text = vstrprintf(format, arguments);
    va_end(arguments);
    return Error(code, std::move(text));
}

Error errno_errorf(const char* format, ...) {
    int saved = errno;
    va_list arguments;
    va_start(arguments, format);
    std::string text = vstrprintf(format, arguments);
    va_end(arguments);
    return Error(saved == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                 text + ": " + std::strerror(saved));
}

} // namespace daybreak::base
