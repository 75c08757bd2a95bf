// SPDX-License-Identifier: Apache-2.0
#include "compiler/sema/format.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::compiler;

TEST_CASE("formats are taken apart and put together", "[compiler][format]") {
    Format format = parse_format("a%%b %-#5.3d|%*.*s|%@d|%?p!");
    REQUIRE(format.error.empty());
    REQUIRE(format.conversions.size() == 4);
    CHECK(format.conversions[0].before == "a%%b ");
    CHECK(format.conversions[0].flags == "-#");
    CHECK(format.conversions[0].width == "5");
    CHECK(format.conversions[0].precision == "3");
    CHECK(format.conversions[1].width_argument);
    CHECK(format.conversions[1].precision_argument);
    CHECK(format.conversions[2].aggregation);
    CHECK(format.after == "!");
    CHECK(format.text() == "a%%b %-#5.3d|%*.*s|%@d|%16p!");
    CHECK(parse_format("%@-10d %-10@d").text() == "%@-10d %@-10d");
    CHECK(parse_format("plain").text() == "plain");
    CHECK(parse_format("%").error ==
          "format conversion #1 name expected before end of format string");
    CHECK(parse_format("%5").error ==
          "format conversion #1 name expected before end of format string");
    CHECK(parse_format("%q").error == "format conversion #1 is undefined: %q");
    CHECK_FALSE(parse_format("%1$d").error.empty());
    CHECK_FALSE(parse_format("%123456789d").error.empty());
    CHECK(parse_format("%12345678d").error.empty());
}
