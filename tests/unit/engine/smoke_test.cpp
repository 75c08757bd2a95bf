// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/test_host.hpp"
#include <catch2/catch.hpp>
using namespace daybreak::engine_test;
TEST_CASE("a traced argument is in the ring", "[engine]") {
    auto outcome = run({{ldgs(DIF_VAR_ARG0, 1), ret(1)}}, {1234});
    REQUIRE(outcome.record);
    CHECK(outcome.value() == 1234);
}
