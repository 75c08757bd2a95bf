// SPDX-License-Identifier: Apache-2.0
//
// Numbers with what they count.
#include "base/counted.hpp"

#include <catch2/catch.hpp>

using daybreak::base::counted;

TEST_CASE("one is not several", "[base]") {
    CHECK(counted(0, "record") == "0 records");
    CHECK(counted(1, "record") == "1 record");
    CHECK(counted(2, "copy", "copies") == "2 copies");
    CHECK(counted(1, "ring is", "rings are") == "1 ring is");
    CHECK(counted(UINT64_MAX, "byte") == "18446744073709551615 bytes");
}
