// SPDX-License-Identifier: Apache-2.0
//
// A folder that goes with the test.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace daybreak::test {

struct TempFolder {
    std::filesystem::path path;
    TempFolder() {
        std::string name = std::filesystem::temp_directory_path() / "daybreak-test-XXXXXX";
        path = ::mkdtemp(name.data());
    }
    ~TempFolder() { std::filesystem::remove_all(path); }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
};

} // namespace daybreak::test
