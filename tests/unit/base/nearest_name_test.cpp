// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include <catch2/catch.hpp>

using daybreak::base::nearest_name;

TEST_CASE("the nearest name is one that a typing mistake leads to", "[base]") {
    const std::vector<std::string> commands = {"record", "report", "recover", "sim"};
    CHECK(nearest_name("reprot", commands) == "report");
    CHECK(nearest_name("recrod", commands) == "record");
    CHECK(nearest_name("recove", commands) == "recover");
    CHECK(nearest_name("report", commands) == "report");
    CHECK(nearest_name("sin", commands) == "sim");
    CHECK(nearest_name("cuont", {"count", "sum"}) == "count"); // two letters exchanged
    CHECK(nearest_name("status", commands).empty());
    CHECK(nearest_name("", commands).empty());
    CHECK(nearest_name(std::string(1000, 'r'), commands).empty());
}
