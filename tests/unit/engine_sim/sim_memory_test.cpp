// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/sim_memory.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

using namespace daybreak::sim;

namespace {

constexpr uint64_t kAddress = 0xffff888012340000;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (int value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

} // namespace

TEST_CASE("what is mapped can be loaded, what is not faults", "[sim][memory]") {
    SimMemory memory;
    memory.map(kAddress, bytes_of({1, 2, 3, 4}));
    std::array<uint8_t, 4> out{};
    CHECK(memory.load(out.data(), kAddress, 4));
    CHECK(out == std::array<uint8_t, 4>{1, 2, 3, 4});
    CHECK(memory.load(out.data(), kAddress + 3, 1));
    CHECK_FALSE(memory.load(out.data(), kAddress + 1, 4));
    CHECK_FALSE(memory.load(out.data(), kAddress - 1, 2));
    CHECK_FALSE(memory.load(out.data(), kAddress + 4, 1));
    for (uint64_t address :
         {uint64_t{0}, uint64_t{8}, UINT64_MAX, UINT64_MAX - 3, kAddress ^ (uint64_t{1} << 63)})
        CHECK_FALSE(memory.load(out.data(), address, 4));
    memory.unmap(kAddress);
    CHECK_FALSE(memory.load(out.data(), kAddress, 1));
}

TEST_CASE("a load may run over ranges that touch", "[sim][memory]") {
    SimMemory memory;
    memory.map(kAddress, bytes_of({1, 2}));
    memory.map(kAddress + 2, bytes_of({3, 4}));
    std::array<uint8_t, 4> out{};
    CHECK(memory.load(out.data(), kAddress, 4));
    CHECK(out == std::array<uint8_t, 4>{1, 2, 3, 4});
}

TEST_CASE("strings are cut at the room and fault at the edge", "[sim][memory]") {
    SimMemory memory;
    memory.map_string(kAddress, "daybreak");
    char out[16];
    CHECK(memory.load_string(out, kAddress, sizeof(out)) == 8);
    CHECK(std::string(out) == "daybreak");
    CHECK(memory.load_string(out, kAddress, 4) == 3);
    CHECK(std::string(out) == "day");
    CHECK(memory.load_string(out, kAddress, 1) == 0);
    CHECK(std::string(out).empty());
    CHECK(memory.load_string(out, kAddress + 8, 4) == 0);
    CHECK(memory.load_string(out, kAddress + 9, 4) == -1);
    memory.map(kAddress, bytes_of({'a', 'b'})); // no NUL
    CHECK(memory.load_string(out, kAddress, sizeof(out)) == -1);
    CHECK(memory.load_string(out, kAddress, 3) == 2);
}

TEST_CASE("own memory lies at its own address until it is removed", "[sim][memory]") {
    SimMemory memory;
    uint64_t value = 0x1122334455667788, out = 0;
    uint64_t address = reinterpret_cast<uintptr_t>(&value);
    CHECK_FALSE(memory.load(&out, address, sizeof(out)));
    memory.add_own(&value, sizeof(value));
    CHECK(memory.load(&out, address, sizeof(out)));
    CHECK(out == value);
    CHECK_FALSE(memory.load(&out, address + 1, sizeof(out)));
    memory.remove_own(&value);
    CHECK_FALSE(memory.load(&out, address, sizeof(out)));
}

TEST_CASE("the program's constants are readable when asked for", "[sim][memory]") {
    static const char kText[] = "a constant of the program";
    SimMemory memory;
    char out[64];
    uint64_t address = reinterpret_cast<uintptr_t>(kText);
    CHECK(memory.load_string(out, address, sizeof(out)) == -1);
    memory.allow_image();
    CHECK(memory.load_string(out, address, sizeof(out)) == 25);
    CHECK(std::strcmp(out, kText) == 0);
}
