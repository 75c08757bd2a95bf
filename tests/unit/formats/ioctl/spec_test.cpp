// SPDX-License-Identifier: Apache-2.0
#include "formats/abi/ioctl.h"
#include "tests/support/spec_example.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using daybreak::test::spec_example;

TEST_CASE("the worked example of ioctl.md says what its text says", "[ioctl][spec]") {
    auto bytes = spec_example("formats/abi/ioctl.md", "## Worked example");
    REQUIRE(bytes.size() == sizeof(dbk_ioc_region));
    dbk_ioc_region region;
    std::memcpy(&region, bytes.data(), sizeof(region));
    CHECK(DBK_IOC_REGION == 0xc020db01u);
    CHECK(region.index == 2);
    CHECK(region.kind == DBK_REGION_SEGMENTS);
    CHECK(region.ring_id == 1);
    CHECK(region.cpu == 1);
    CHECK(region.offset == 0x400000400000u);
    CHECK(region.bytes == 4u << 20);
}

TEST_CASE("the calls have the numbers and sizes of ioctl.md's table", "[ioctl][spec]") {
    struct {
        unsigned long command;
        unsigned number, bytes;
    } const calls[] = {
        {DBK_IOC_STATUS, 0, 280},     {DBK_IOC_REGION, 1, 32},  {DBK_IOC_CLAIM, 2, 8},
        {DBK_IOC_ENABLE, 3, 280},     {DBK_IOC_STOP, 4, 8},     {DBK_IOC_DESTROY, 5, 8},
        {DBK_IOC_PROBE, 6, 328},      {DBK_IOC_AGGSNAP, 7, 24}, {DBK_IOC_RELEASE, 8, 16},
        {DBK_IOC_PROVIDE, 9, 320},    {DBK_IOC_DETACH, 10, 8},  {DBK_IOC_BANK, 12, 328},
        {DBK_IOC_ENABLE_AS, 13, 312}, {DBK_IOC_HOLDER, 14, 32}, {DBK_IOC_FUNCTION, 15, 144},
        {DBK_IOC_NAME, 16, 144},      {DBK_IOC_COUNT, 17, 320},
    };
    for (const auto& call : calls) {
        CHECK(_IOC_TYPE(call.command) == 0xDB);
        CHECK(_IOC_NR(call.command) == call.number);
        CHECK(_IOC_SIZE(call.command) == call.bytes);
    }
}
