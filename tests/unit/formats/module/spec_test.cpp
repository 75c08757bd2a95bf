// SPDX-License-Identifier: Apache-2.0
#include "formats/module/module_file.hpp"
#include "tests/support/spec_example.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;

TEST_CASE("the specification's container parses, and is what we write", "[formats][module]") {
    base::Bytes example = test::spec_example("formats/abi/embed.md", "## Worked example");
    auto images = formats::parse_container(example);
    REQUIRE(images.ok());
    REQUIRE(images->size() == 1);
    CHECK(images->front().name == "boot");
    CHECK(images->front().dof.size() == 5);
    CHECK(formats::build_container(*images).value() == example);
}
