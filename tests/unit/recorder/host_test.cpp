// SPDX-License-Identifier: Apache-2.0
#include "recorder/host.hpp"

#include "recorder/device.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;

TEST_CASE("this host reports its facts", "[recorder][host]") {
    formats::TraceHeader header = recorder::read_host_facts("1.2");
    CHECK(header.tool_version == "1.2");
    CHECK_FALSE(header.release.empty());
    CHECK(header.cpus_online >= 1);
    CHECK(header.memory_bytes > 0);
    CHECK(header.clocks.mono_ns > 0);
    CHECK(header.clocks.boot_ns >= header.clocks.mono_ns);
    CHECK(header.clocks.wall_ns > header.clocks.boot_ns);
}

TEST_CASE("a device that is not there says what to do", "[recorder][host]") {
    auto device = recorder::open_device("/dev/no-such-daybreak");
    REQUIRE_FALSE(device.ok());
    CHECK(device.error().code() == base::ErrorCode::not_found);
    CHECK(device.error().message() ==
          "the daybreak module is not loaded (/dev/no-such-daybreak is not there): insmod "
          "daybreak.ko, or boot with it");
}

TEST_CASE("a file that is not a device is an error", "[recorder][host]") {
    auto device = recorder::open_device("/dev/null");
    REQUIRE(device.ok());
    CHECK(device.value()->status().error().code() == base::ErrorCode::io);
    CHECK_FALSE(device.value()->region(0).ok());
    CHECK_FALSE(device.value()->claim().ok());
    CHECK_FALSE(device.value()->stop(1).ok());
}
