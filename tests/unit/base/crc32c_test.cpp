// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::base;

TEST_CASE("CRC-32C gives the published check value, whole and in parts", "[base]") {
    CHECK(crc32c(as_bytes("123456789")) == 0xe3069283u);
    CHECK(crc32c(as_bytes("56789"), crc32c(as_bytes("1234"))) == 0xe3069283u);
    CHECK(crc32c({}) == 0);
}
