// SPDX-License-Identifier: Apache-2.0
//
// Of the specifications: worked examples, the hex block that follows a heading of a .md file, and
// tables of numbers and names.
#pragma once

#include "base/byte_reader.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

namespace daybreak::test {

/// Returns the bytes of the first ``` block after the line `heading`; each of its lines is an
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

/// Returns the name of each number in the first table after the line that begins with `intro`: of
/// its columns "number" and "name", which may be there several times.
inline std::map<uint64_t, std::string> spec_numbers(const std::string& path,
                                                    const std::string& intro) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line) && !line.starts_with(intro)) {
    }
    while (std::getline(file, line) && !line.starts_with("| number | name")) {
    }
    bool pairs = line.find("name | number") != std::string::npos;
    std::map<uint64_t, std::string> numbers;
    while (std::getline(file, line) && line.starts_with("|")) {
        std::istringstream cells(line.substr(1));
        std::string number, name;
        while (std::getline(cells, number, '|') && std::getline(cells, name, '|')) {
            size_t digit = number.find_first_of("0123456789"), letter = name.find_first_not_of(' ');
            if (digit != std::string::npos && letter != std::string::npos)
                numbers[std::stoull(number.substr(digit), nullptr, 0)] =
                    name.substr(letter, name.find_last_not_of(' ') + 1 - letter);
            if (!pairs)
                break;
        }
    }
    return numbers;
}

} // namespace daybreak::test
