// SPDX-License-Identifier: Apache-2.0
#include "live/session/probe_index.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::live;

namespace {

/// Has two probes of its own, tick-N for who names one, and a function for who names process 7.
class ListingSession : public Session {
public:
    bool is_simulated() const override { return true; }
    std::string release() const override { return ""; }
    const formats::SymbolTable* symbols() override { return nullptr; }
    base::Result<std::span<const SessionProbe>> probes() override {
        lists++;
        if (fails)
            return base::errorf(base::ErrorCode::io, "cannot list");
        listed_ = probes_;
        return std::span<const SessionProbe>(listed_);
    }
    base::Result<uint32_t> make_named(const formats::DofProbeName& description) override {
        if (fails)
            return base::errorf(base::ErrorCode::io, "cannot make");
        if (description.name.starts_with("tick-"))
            add("profile", "", description.name);
        if (description.provider != "pid7")
            return 0u;
        add("pid7", "main", "entry");
        return ++of_process;
    }
    base::Result<void> enable(const EnableRequest&) override { return {}; }
    base::Result<void> claim() override { return {}; }
    base::Result<void> start() override { return {}; }
    uint64_t now_ns() const override { return 0; }
    base::Result<SessionEvent> wait(uint64_t) override { return SessionEvent::idle; }
    SessionStatus status() override { return {}; }
    base::Result<formats::RingPieces> poll(const formats::Readings&) override {
        return formats::RingPieces{};
    }
    base::Result<void> stop() override { return {}; }

    void add(const char* provider, const char* function, const std::string& name) {
        probes_.push_back(
            {static_cast<uint32_t>(probes_.size() + 1), provider, "", function, name});
    }

    int lists = 0;
    uint32_t of_process = 0;
    bool fails = false;

private:
    std::vector<SessionProbe> probes_ = {{1, "syscall", "vmlinux", "read", "entry"},
                                         {2, "syscall", "vmlinux", "read", "return"}};
    std::vector<SessionProbe> listed_;
};

} // namespace

TEST_CASE("probes are found by patterns and by id", "[live][session]") {
    ListingSession session;
    ProbeIndex index(session);
    CHECK(index.exists({"sys*", "", "read", "entry"}));
    CHECK_FALSE(index.exists({"sys*", "", "write", "entry"}));
    CHECK(index.exists({.id = 2}));
    CHECK_FALSE(index.exists({.id = 3}));
    CHECK(index.matches({"syscall", "", "", ""}).size() == 2);
    CHECK(index.count({"syscall", "", "", ""}) == 2);
    CHECK(index.count({.id = 2}) == 1);
    CHECK(index.count({.id = 3}) == 0);
    auto by_id = index.matches({.id = 2});
    REQUIRE(by_id.size() == 1);
    CHECK(by_id[0]->name == "return");
    CHECK(index.error().empty());
}

TEST_CASE("the list is read once while nothing new matters", "[live][session]") {
    ListingSession session;
    ProbeIndex index(session);
    for (int again = 0; again < 3; again++)
        CHECK(index.exists({"syscall", "", "", "entry"}));
    CHECK(session.lists == 1);
    CHECK(index.all().size() == 2); // what was made meanwhile would be among them
    CHECK(session.lists == 2);
    CHECK(index.all().size() == 2);
    CHECK(session.lists == 2);
}

TEST_CASE("a probe that is named is made and found", "[live][session]") {
    ListingSession session;
    ProbeIndex index(session);
    CHECK(index.all().size() == 2);
    CHECK(index.exists({"profile", "", "", "tick-1s"}));
    CHECK(index.matches({"profile", "", "", "tick-7s"}).size() == 1);
    CHECK(index.matches({"profile", "", "", "tick-7s"}).size() == 1); // made once
    CHECK(index.all().size() == 4);
}

TEST_CASE("what the session knows that it made is not looked up in the list", "[live][session]") {
    ListingSession session;
    ProbeIndex index(session);
    for (int again = 0; again < 44; again++)
        CHECK(index.exists({"pid7", "", "main", "entry"}));
    CHECK(index.count({"pid7", "", "main", "entry"}) == 45);
    CHECK(session.lists == 0);
    CHECK(index.all().size() == 47);
    CHECK(session.lists == 1);
}

TEST_CASE("what goes wrong when the session is asked is kept", "[live][session]") {
    ListingSession session;
    session.fails = true;
    ProbeIndex index(session);
    CHECK_FALSE(index.exists({"syscall", "", "", ""}));
    CHECK(index.error() == "cannot make");
    CHECK(index.all().empty());
    CHECK(index.error() == "cannot list");
}
