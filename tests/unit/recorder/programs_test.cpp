// SPDX-License-Identifier: Apache-2.0
#include "recorder/programs.hpp"
#include "tests/unit/recorder/fake_device.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::recorder;
using daybreak::test::FakeDevice;
using daybreak::test::RingBuilder;

namespace {

/// One ring, number 1, on a device.
struct OneProgram {
    RingBuilder ring{{.cpu_count = 2, .activity = DBK_ACTIVITY_ACTIVE}};
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    FakeDevice device{ring};

    OneProgram() {
        for (uint64_t i = 0; i < 3; i++)
            ring.record(static_cast<uint16_t>(i % 2), epid, 1000 + i, RingBuilder::words({i}));
    }
};

} // namespace

TEST_CASE("a program is listed with its counters and holder", "[programs]") {
    OneProgram one;
    one.device.who = {1, DBK_RING_HELD, 77, 0, "dtrace"};
    auto programs = list_programs(one.device);
    REQUIRE(programs.ok());
    REQUIRE(programs->size() == 1);
    const RunningProgram& program = programs->front();
    CHECK(program.ring_id == one.ring.options().ring_id);
    CHECK(program.activity == std::string("active"));
    CHECK(program.ecbs == 1);
    CHECK(program.records == 3);
    CHECK(program.holder.pid == 77);
    CHECK(one.device.maps() == 0);
}

TEST_CASE("stop ends what no process holds, by name or number, and nothing else", "[programs]") {
    OneProgram one;
    std::string name = list_programs(one.device).value().front().name;
    std::string number = std::to_string(one.ring.options().ring_id);
    CHECK(find_free_program(one.device, name + "x").error().message() ==
          "there is no program " + name + "x: did you mean " + name + "?");
    CHECK(find_free_program(one.device, "quite different").error().message() ==
          "there is no program quite different: daybreak status lists those at work");
    one.device.who = {1, DBK_RING_HELD, 77, 0, "dtrace"};
    CHECK(find_free_program(one.device, name).error().code() == ErrorCode::busy);
    one.device.who = {};
    CHECK(find_free_program(one.device, number).ok());
    auto found = find_free_program(one.device, name);
    REQUIRE(found.ok());
    CHECK(!one.device.stopped);
    auto ended = stop_program(one.device, *found);
    REQUIRE(ended.ok());
    CHECK((one.device.claimed && one.device.stopped));
    CHECK(ended->records == 3);
    CHECK(ended->activity == std::string("stopped"));
    CHECK(!stop_program(one.device, *found).ok()); // it is not there to be claimed any more
}
