// SPDX-License-Identifier: Apache-2.0
//
// Catch2 3 (Debian 13, Ubuntu 24.04) under the names that the tests know from 2 (Debian 12).
#pragma once

#include <catch2/catch_all.hpp>

namespace Catch {

inline Matchers::StringContainsMatcher Contains(const std::string& text) {
    return Matchers::ContainsSubstring(text);
}

} // namespace Catch

using Catch::Approx;
