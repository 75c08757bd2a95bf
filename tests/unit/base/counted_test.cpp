// SPDX-License-Identifier: Apache-2.0
//
// Numbers with what they count.
#include "base/counted.hpp"

#include <catch2/catch.hpp>

using daybreak::base::counted;
using daybreak::base::some_of;

TEST_CASE("one is not several", "[base]") {
    CHECK(counted(0, "record") == "0 records");
    CHECK(counted(1, "record") == "1 record");
    CHECK(counted(2, "copy", "copies") == "2 copies");
    CHECK(counted(1, "ring is", "rings are") == "1 ring is");
    CHECK(counted(UINT64_MAX, "byte") == "18446744073709551615 bytes");
}

TEST_CASE("a few of many names, and how many more", "[base]") {
    CHECK(some_of({}).empty());
    CHECK(some_of({"a", "b", "c"}) == "a, b, c");
    CHECK(some_of({"a", "b", "c", "d", "e"}) == "a, b, c and 2 more");
    CHECK(some_of({"a", "b"}, 1) == "a and 1 more");
}
