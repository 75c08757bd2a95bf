// SPDX-License-Identifier: Apache-2.0
#include "live/session/live_session.hpp"
#include "live/session/probe_index.hpp"

#include "tests/unit/live/session/session_fixture.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::live;
using test::FakeDevice;
using test::RingBuilder;

namespace {

struct Fixture {
    RingBuilder ring{{.policy = DBK_POLICY_SWITCH, .activity = DBK_ACTIVITY_ACTIVE}};
    uint32_t read = ring.add_ecb(ring.add_probe("syscall", "vmlinux", "read", "entry"),
                                 {RingBuilder::integer_field(8, 8)}, 16);
    test::SessionMachine machine;
    FakeDevice* device = nullptr; // the session's
    std::unique_ptr<Session> session;

    explicit Fixture(uint32_t waiting = 1) {
        auto made = std::make_unique<FakeDevice>(ring);
        device = made.get();
        device->facts().anonymous = waiting;
        auto opened = open_live_session(std::move(made), "6.1.0-test", machine.outside());
        REQUIRE(opened.ok());
        session = std::move(*opened);
    }
};

constexpr uint64_t kSecondNs = 1'000'000'000;

} // namespace

TEST_CASE("a module of another version has no session", "[live][session]") {
    Fixture f;
    auto device = std::make_unique<FakeDevice>(f.ring);
    device->facts().abi_version++;
    auto opened = open_live_session(std::move(device), "", f.machine.outside());
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code() == base::ErrorCode::unsupported);
}

TEST_CASE("a program's records come from the kernel's ring", "[live][session]") {
    Fixture f;
    CHECK_FALSE(f.session->is_simulated());
    CHECK(f.session->release() == "6.1.0-test");
    REQUIRE(f.session->enable({}).ok());
    REQUIRE(f.session->start().ok());
    f.ring.record(0, f.read, 1000, RingBuilder::words({42}));
    auto pieces = f.session->poll({.records = true});
    REQUIRE(pieces.ok());
    CHECK(pieces->segments.size() == 1);
    CHECK_FALSE(f.session->status().exited);
    REQUIRE(f.session->stop().ok());
    CHECK(f.device->stopped);
}

TEST_CASE("an anonymous enabling is claimed once", "[live][session]") {
    Fixture f;
    CHECK(f.session->claim().ok());
    CHECK(f.device->claimed);
    auto again = Fixture(0).session->claim();
    REQUIRE_FALSE(again.ok());
    CHECK(again.error().code() == base::ErrorCode::not_found);
    CHECK(again.error().message() == "No anonymous tracing state");
}

TEST_CASE("probes that are known are not listed again", "[live][session]") {
    Fixture f;
    auto ids = [&f] {
        const std::span<const SessionProbe> probes = f.session->probes().value();
        std::vector<uint32_t> listed;
        for (const SessionProbe& probe : probes)
            listed.push_back(probe.id);
        return listed;
    };
    CHECK(ids().empty());
    for (uint32_t id : {1, 2, 3, 4})
        f.device->probes.push_back({id, "fbt", "vmlinux", "f" + std::to_string(id), "entry"});
    CHECK(ids() == std::vector<uint32_t>{1, 2, 3, 4});
    CHECK(f.session->probes().value()[3].function == "f4");
    f.device->probes_asked = 0;
    f.device->probes.push_back({5, "fbt", "vmlinux", "f5", "entry"});
    CHECK(ids() == std::vector<uint32_t>{1, 2, 3, 4, 5});
    CHECK(f.device->probes_asked == 3); // the last known, the new one, the end
    f.device->probes.erase(f.device->probes.begin() + 1);
    CHECK(ids() == std::vector<uint32_t>{1, 3, 4, 5});
    f.device->probes.pop_back(); // one comes, one goes: as many as before
    f.device->probes.push_back({6, "fbt", "vmlinux", "f6", "entry"});
    CHECK(ids() == std::vector<uint32_t>{1, 3, 4, 6});
    f.device->probes.clear();
    CHECK(ids().empty());
}

TEST_CASE("the module counts what a description names", "[live][session]") {
    Fixture f;
    ProbeIndex index(*f.session);
    f.device->matched = 3;
    CHECK(index.exists({"fbt", "", "f*", "entry"}));
    CHECK(index.count({"fbt", "", "f*", "entry"}) == 3);
    CHECK(f.device->probes_asked == 0);
    f.device->matched =
        0; // of what is not there, and of an older module: it is looked for in the list
    f.device->probes.push_back({1, "fbt", "vmlinux", "f1", "entry"});
    CHECK(index.exists({"fbt", "", "f*", "entry"}));
    CHECK(index.count({"fbt", "", "f*", "entry"}) == 1);
    CHECK(index.count({"fbt", "", "g*", "entry"}) == 0);
    CHECK(f.device->probes_asked > 0);
}

TEST_CASE("a wait ends by the clock it was given, or by Ctrl-C", "[live][session]") {
    Fixture f;
    CHECK(f.session->wait(kSecondNs).value() == SessionEvent::elapsed);
    CHECK(f.machine.readings == 2);
    f.machine.interrupted = true;
    CHECK(f.session->wait(3600 * kSecondNs).value() == SessionEvent::interrupted);
}

TEST_CASE("the kernel's symbols are those of the source", "[live][session]") {
    Fixture f;
    const formats::SymbolTable* symbols = f.session->symbols();
    REQUIRE(symbols != nullptr);
    REQUIRE(symbols->symbols().size() == 2);
    CHECK(symbols->symbols()[1].name == "do_thing");
    CHECK(f.session->symbols() == symbols);
}
