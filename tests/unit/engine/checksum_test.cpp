// SPDX-License-Identifier: Apache-2.0
#include "engine/api/crc32c.h"

#include "base/crc32c.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace daybreak;

TEST_CASE("the engine's checksum is user space's", "[checksum]") {
    CHECK(dbk_crc32c(0, "123456789", 9) == 0xe3069283);
    std::mt19937 random(1);
    base::Bytes bytes(5000);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
    for (size_t count = 0; count < 300; count++) {
        size_t at = random() % 4000;
        base::ByteView part = base::ByteView(bytes).subspan(at, count);
        CHECK(dbk_crc32c(0, part.data(), part.size()) == base::crc32c(part));
        size_t cut = count == 0 ? 0 : random() % count;
        CHECK(dbk_crc32c(dbk_crc32c(0, part.data(), cut), part.data() + cut, count - cut) ==
              base::crc32c(part));
    }
}
