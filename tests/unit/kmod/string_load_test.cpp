// SPDX-License-Identifier: Apache-2.0
//
// Strings out of memory that may fault: what is read, and what is left where they were put.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <string>

extern "C" {
#include "kmod/host/string_load.h"
}

namespace {

/// Memory at kBase; the rest faults, in whatever piece it lies.
constexpr uint64_t kBase = 0x10000;
std::string memory;

bool load(void* to, uint64_t address, uint32_t bytes) {
    uint64_t offset = address - kBase;
    if (offset > memory.size())
        return false;
    std::memcpy(to, memory.data() + offset, std::min<uint64_t>(bytes, memory.size() - offset));
    return bytes <= memory.size() - offset;
}

struct Result {
    int32_t length;
    std::string room;
};

Result copy(uint64_t address, uint32_t bytes) {
    std::string room(bytes, '#');
    int32_t length = dbk_string_load(room.data(), address, bytes, load);
    return {length, room};
}

} // namespace

TEST_CASE("nothing of the memory after a string stays where it is put", "[kmod][memory]") {
    memory = std::string("name\0secret", 11) + std::string(200, 's');
    Result result = copy(kBase, 128);
    CHECK(result.length == 4);
    CHECK(result.room == "name" + std::string(28, '\0') + std::string(96, '#'));
    memory = std::string(70, 'a') + std::string("\0", 1) + std::string(200, 's');
    result = copy(kBase, 256);
    CHECK(result.length == 70);
    CHECK(result.room == std::string(70, 'a') + std::string(26, '\0') + std::string(160, '#'));
}

TEST_CASE("strings of every length end where they end", "[kmod][memory]") {
    for (size_t length = 0; length < 300; length++) {
        memory = std::string(length, 'a') + '\0' + std::string(300, 's');
        for (uint32_t bytes : {1u, 7u, 31u, 32u, 33u, 95u, 96u, 97u, 257u}) {
            INFO(length << " in " << bytes);
            Result result = copy(kBase, bytes);
            size_t kept = std::min<size_t>(length, bytes - 1);
            CHECK(result.length == static_cast<int32_t>(kept));
            CHECK(result.room.substr(0, kept + 1) == std::string(kept, 'a') + '\0');
            CHECK(result.room.find('s') == std::string::npos);
        }
    }
}

TEST_CASE("a string that faults leaves nothing", "[kmod][memory]") {
    memory = std::string(100, 'x');
    Result result = copy(kBase, 256);
    CHECK(result.length == -EFAULT);
    CHECK(result.room == std::string(160, '\0') + std::string(96, '#'));
}

TEST_CASE("a string at the end of a page needs nothing of the next", "[kmod][memory]") {
    memory = std::string(4090, '.') + "short" + '\0';
    CHECK(copy(kBase + 4090, 256).length == 5);
    memory = std::string(4096, 'y');
    CHECK(copy(kBase + 4000, 97).length == -EFAULT);
    CHECK(copy(kBase + 4000, 96).length == 95);
    CHECK(copy(kBase + 4000, 96).room == std::string(95, 'y') + '\0');
    CHECK(copy(kBase, 1).length == 0);
}
