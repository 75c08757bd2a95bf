// SPDX-License-Identifier: Apache-2.0
#include "formats/abi/dof.h"
#include "formats/dof/options.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::formats;

TEST_CASE("sizes", "[formats][options]") {
    CHECK(parse_size("0") == 0);
    CHECK(parse_size("64") == 64);
    CHECK(parse_size("0x40") == 64);
    CHECK(parse_size("010") == 8);
    CHECK(parse_size("4k") == 4096);
    CHECK(parse_size("4K") == 4096);
    CHECK(parse_size("2m") == 2u << 20);
    CHECK(parse_size("1g") == 1u << 30);
    CHECK(parse_size("1t") == 1ull << 40);
    CHECK(parse_size("18446744073709551615") == ~0ull);
    for (const char* bad :
         {"", "-1", "k", "4kb", "4x", "4 k", "18446744073709551616", "16777216t", "08", "0x"})
        CHECK_FALSE(parse_size(bad));
}

TEST_CASE("rates", "[formats][options]") {
    CHECK(parse_rate("500") == 500);
    CHECK(parse_rate("500ns") == 500);
    CHECK(parse_rate("3us") == 3000);
    CHECK(parse_rate("3USEC") == 3000);
    CHECK(parse_rate("10ms") == 10000000);
    CHECK(parse_rate("2s") == 2000000000ull);
    CHECK(parse_rate("2sec") == 2000000000ull);
    CHECK(parse_rate("1m") == 60000000000ull);
    CHECK(parse_rate("1hour") == 3600000000000ull);
    CHECK(parse_rate("1d") == 86400000000000ull);
    CHECK(parse_rate("101hz") == 9900990);
    CHECK(parse_rate("0hz") == 0);
    for (const char* bad : {"", "-1s", "s", "1x", "999999999999999d"})
        CHECK_FALSE(parse_rate(bad));
}

TEST_CASE("durations are rates without hz, and not 0", "[formats][options]") {
    CHECK(parse_duration("60s") == 60000000000ull);
    CHECK(parse_duration("500ms") == 500000000ull);
    CHECK(parse_duration("2m") == 120000000000ull);
    CHECK(parse_option("ringtime", "60s").id == DBK_OPT_RINGTIME);
    CHECK(parse_option("ringtime", "60s").value == 60000000000ull);
    CHECK(parse_option("ringmax", "64m").value == 64u << 20);
    for (const char* bad : {"", "0", "0s", "101hz", "10HZ", "s"}) {
        CHECK_FALSE(parse_duration(bad));
        CHECK_FALSE(parse_option("ringtime", bad).error.empty());
    }
    CHECK_FALSE(parse_option("ringtime", std::nullopt).error.empty());
    CHECK_FALSE(parse_option("ringmax", "1s").error.empty());
}

TEST_CASE("run-time options", "[formats][options]") {
    for (const char* yes : {"yes", "ENABLE", "enabled", "true", "on", "set"})
        CHECK(parse_option("quiet", yes).value == 1);
    for (const char* no : {"no", "disable", "Disabled", "false", "off", "unset", ""})
        CHECK(parse_option("quiet", no).value == DTRACEOPT_UNSET);
    CHECK(parse_option("nspec", "4").value == 4);
    CHECK(parse_option("quiet", std::nullopt).value == 1);
    CHECK(parse_option("destructive", std::nullopt).value == 1);
    CHECK(parse_option("aggsortpos", std::nullopt).value == 0);
    CHECK(parse_option("bufpolicy", "fill").value == 1);
    CHECK(parse_option("bufresize", "manual").value == 1);
    CHECK(parse_option("aggregate", "engine").value == 1);
    CHECK(parse_option("zdefs", std::nullopt).target == OptionTarget::compile_time);
    CHECK(parse_option("quiet", "maybe").error == "Invalid value for specified option");
    CHECK_FALSE(parse_option("bufsize", std::nullopt).error.empty());
    CHECK_FALSE(parse_option("bufpolicy", "circle").error.empty());
    CHECK_FALSE(parse_option("aggregate", "both").error.empty());
    CHECK(parse_option("nosuch", "1").error == "Invalid option name");
}

TEST_CASE("options that setopt() may set", "[formats][options]") {
    for (const char* name :
         {"flowindent", "quiet", "aggrate", "switchrate", "stackindent", "rawbytes", "aggsortkey",
          "aggsortrev", "aggsortpos", "aggsortkeypos", "quietresize", "noresolve"})
        CHECK(is_dynamic_option(parse_option(name, "1").id));
    for (const char* name :
         {"bufsize", "dynvarsize", "aggsize", "specsize", "nspec", "strsize", "cleanrate", "cpu",
          "grabanon", "stackframes", "ustackframes", "statusrate", "destructive", "jstackframes",
          "jstackstrsize", "pcapsize", "segmentsize", "temporal"})
        CHECK_FALSE(is_dynamic_option(parse_option(name, "1").id));
    CHECK_FALSE(is_dynamic_option(parse_option("bufpolicy", "ring").id));
    CHECK_FALSE(is_dynamic_option(parse_option("bufresize", "auto").id));
    CHECK_FALSE(is_dynamic_option(parse_option("aggregate", "engine").id));
}
