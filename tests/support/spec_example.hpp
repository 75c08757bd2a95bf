// SPDX-License-Identifier: Apache-2.0
//
// Worked examples of the specifications: the hex block that follows a heading of a .md file.
#pragma once

#include "base/byte_reader.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace daybreak::test {

/// Returns the bytes of the first ``` block behind the line `heading`; each of its lines is an
/// offset and up to 16 bytes in hex.  Empty when there is none.
inline base::Bytes spec_example(const std::string& path, const std::string& heading) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line) && line != heading) {
    }
    while (std::getline(file, line) && line != "```") {
    }
    base::Bytes bytes;
    while (std::getline(file, line) && line != "```") {
        std::istringstream words(line);
        std::string word;
        words >> word; // the offset
        while (words >> word)
            bytes.push_back(static_cast<std::byte>(std::stoul(word, nullptr, 16)));
    }
    return bytes;
}

} // namespace daybreak::test
