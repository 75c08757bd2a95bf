// SPDX-License-Identifier: Apache-2.0
#include "recorder/boot_units.hpp"

#include "recorder/host.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using recorder::parse_boot_units;
using recorder::printed_by;

namespace {

std::string printed(const std::string& name, const std::string& began_us,
                    const std::string& ready_us, const std::string& after) {
    return "Id=" + name + "\nAfter=" + after + "\nInactiveExitTimestampMonotonic=" + began_us +
           "\nActiveEnterTimestampMonotonic=" + ready_us + "\n";
}

} // namespace

TEST_CASE("what systemctl prints becomes units", "[recorder][units]") {
    std::string target = printed("graphical.target", "900", "900", "a.service never.service");
    auto boot = parse_boot_units(
        target + "\n" + printed("a.service", "500", "0", "\"system-a\\\\x2db.slice\" a.socket") +
        "\n" + target + "\n" + printed("never.service", "0", "0", "a.service") + "\n" +
        printed("system-a\\x2db.slice", "100", "101", ""));
    REQUIRE(boot.ok());
    CHECK(boot->default_target == "graphical.target");
    REQUIRE(boot->units.size() == 3); // never.service did not begin
    CHECK(boot->units[0].name == "graphical.target");
    CHECK(boot->units[0].began_mono_ns == 900'000);
    CHECK(boot->units[0].after == std::vector<uint16_t>{1});
    CHECK(boot->units[1].ready_mono_ns == 0);
    CHECK(boot->units[1].after == std::vector<uint16_t>{2});
    CHECK(boot->units[2].name == "system-a\\x2db.slice");
    CHECK(boot->units[2].ready_mono_ns == 101'000);
}

TEST_CASE("what no unit prints is left out", "[recorder][units]") {
    CHECK(parse_boot_units("")->units.empty());
    CHECK(parse_boot_units("\n\nId\n=\nAfter=\"\\").value().units.empty());
    CHECK(parse_boot_units(printed("a b.service", "1", "1", "")).value().units.empty());
    CHECK(parse_boot_units(printed("a.service", "x", "1", "")).value().units.empty());
    CHECK(parse_boot_units(printed("a.service", "18446744073709551615", "1", ""))->units.empty());
}

TEST_CASE("more units than a file may have are an error", "[recorder][units]") {
    std::string text, after;
    for (size_t i = 0; i <= formats::kBootUnitsMax; i++)
        text += printed("u" + std::to_string(i) + ".service", "1", "1", "") + "\n";
    CHECK(parse_boot_units(text).error().code() == base::ErrorCode::limit);
    for (size_t i = 0; i <= formats::kBootUnitOrdersMax; i++)
        after += "a.service ";
    CHECK(parse_boot_units(printed("a.service", "1", "1", after)).error().code() ==
          base::ErrorCode::limit);
}

TEST_CASE("a program is read, and not waited for too long", "[recorder][units]") {
    constexpr uint64_t kLongNs = 20'000'000'000, kShortNs = 50'000'000;
    CHECK(printed_by({"sh", "-c", "echo a; echo b >&2; cat"}, 100, kLongNs).value() == "a\n");
    CHECK(printed_by({"sh", "-c", "exit 1"}, 100, kLongNs).error().code() == base::ErrorCode::io);
    CHECK(printed_by({"no-such-program"}, 100, kLongNs).error().code() ==
          base::ErrorCode::not_found);
    CHECK(printed_by({"yes"}, 100, kLongNs).error().code() == base::ErrorCode::limit);
    uint64_t from_ns = recorder::read_clocks().mono_ns;
    CHECK(printed_by({"sleep", "20"}, 100, kShortNs).error().message() ==
          "sleep did not end in 50 ms");
    CHECK(printed_by({"sh", "-c", "exec >&-; exec sleep 20"}, 100, kShortNs).error().message() ==
          "sh did not end in 50 ms");
    CHECK(recorder::read_clocks().mono_ns - from_ns < kLongNs);
}
