// SPDX-License-Identifier: Apache-2.0
//
// Whether a file is for its owner alone.
#pragma once

#include <filesystem>

namespace daybreak::test {

inline bool is_secret(const std::filesystem::path& path) {
    using std::filesystem::perms;
    return std::filesystem::status(path).permissions() == (perms::owner_read | perms::owner_write);
}

} // namespace daybreak::test
