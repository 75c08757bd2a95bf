// SPDX-License-Identifier: Apache-2.0
//
// A folder that goes with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace daybreak::test {

struct TempFolder {
    std::filesystem::path path;
    TempFolder() {
        std::string name = std::filesystem::temp_directory_path() / "daybreak-test-XXXXXX";
        path = ::mkdtemp(name.data());
    }
    ~TempFolder() { std::filesystem::remove_all(path); }
    size_t files() const {
        auto all = std::filesystem::directory_iterator(path);
        return static_cast<size_t>(std::distance(begin(all), end(all)));
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
};

} // namespace daybreak::test
