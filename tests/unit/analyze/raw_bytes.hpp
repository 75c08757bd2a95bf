// SPDX-License-Identifier: Apache-2.0
//
// The bytes of values that tests put together themselves, and what reading those may take.
#pragma once

#include <cstddef>
#include <string>
#include <sys/resource.h>

namespace daybreak::test {

/// The most memory that this process had so far.
inline size_t peak_kib() {
    struct rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<size_t>(usage.ru_maxrss);
}

template <typename T>
std::string bytes_of(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

} // namespace daybreak::test
