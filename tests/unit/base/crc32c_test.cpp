// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak::base;

TEST_CASE("CRC-32C gives the published check value, whole and in parts", "[base]") {
    CHECK(crc32c(as_bytes("123456789")) == 0xe3069283u);
    CHECK(crc32c(as_bytes("56789"), crc32c(as_bytes("1234"))) == 0xe3069283u);
    CHECK(crc32c({}) == 0);
}

namespace {

/// By the definition, a bit at a time.
uint32_t reference(ByteView bytes) {
    uint32_t crc = ~0u;
    for (std::byte b : bytes) {
        crc ^= static_cast<uint32_t>(b);
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 1) ? (crc >> 1) ^ 0x82f63b78 : crc >> 1;
    }
    return ~crc;
}

} // namespace

TEST_CASE("CRC-32C is the same with the processor's instruction and without", "[base]") {
    std::mt19937 random(20261120);
    Bytes bytes(32768);
    for (std::byte& b : bytes)
        b = static_cast<std::byte>(random());
    for (size_t first = 0; first < 9; first++)
        for (size_t count :
             {0, 1, 7, 8, 9, 15, 16, 255, 4096, 12287, 12288, 12289, 16400, 24601, 32759}) {
            ByteView part = ByteView(bytes).subspan(first, count);
            CHECK(crc32c(part) == reference(part));
            CHECK(crc32c(part.subspan(count / 3), crc32c(part.first(count / 3))) ==
                  reference(part));
            CHECK(dbk_crc32c_portable(0, part.data(), count) == reference(part));
        }
    CHECK(dbk_crc32c_portable(dbk_crc32c_portable(0, "1234", 4), "56789", 5) == 0xe3069283u);
}
