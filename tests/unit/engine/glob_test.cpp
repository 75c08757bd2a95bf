// SPDX-License-Identifier: Apache-2.0
//
// Probe descriptions against long names: what a match costs, and how often an enabling pauses.
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <ctime>

using namespace daybreak::engine_test;

namespace {

bool matches(const std::string& pattern, const std::string& name) {
    return dbk_glob_match(pattern.c_str(), name.c_str());
}

/// `*[[[...x`, as long as a part of a description may be.
std::string unclosed() {
    return "*" + std::string(DBK_PROBE_NAME_BYTES_MAX - 2, '[') + "x";
}

} // namespace

TEST_CASE("a class that does not close is found once in a match", "[engine][match]") {
    // 4093 classes, tried at 4095 places, of 4094 bytes: in seconds of the CPU, which has no other measure.
    // It is less than one; with a scan at each '[' it is half a minute and more.
    const std::string name(DBK_PROBE_NAME_BYTES_MAX, '[');
    const std::clock_t began = std::clock();
    CHECK_FALSE(matches(unclosed(), name));
    CHECK(matches(unclosed(), name.substr(1) + "x"));
    CHECK(double(std::clock() - began) / CLOCKS_PER_SEC < 10);
}

TEST_CASE("a class closes, or the rest of the pattern has none", "[engine][match]") {
    CHECK(matches("[a][b", "a[b"));
    CHECK(matches("*[ab]*[[", "xxa[b[["));
    CHECK_FALSE(matches("*[ab]*[[", "xxc[b["));
    CHECK(matches("[[]x", "[x"));
    CHECK(matches("[][", "[]["));  // ']' is a member, and then there is none
    CHECK(matches("[!][", "[!][")); // the same after '!'
    CHECK(matches("[[]", "["));
    CHECK(matches("[a-]", "-"));
    CHECK(matches("[a\\]", "[a]")); // an escaped one closes nothing
    CHECK(matches("*[\\]]*[", "x]y["));
}

TEST_CASE("an enabling pauses between probes that it does not match", "[engine][match]") {
    constexpr uint32_t kProbes = 100;
    Engine engine(1);
    const std::string name(DBK_PROBE_NAME_BYTES_MAX, 'n');
    for (uint32_t i = 0; i < kProbes; i++)
        engine.probe("test", "m", name.c_str(), "go");
    Dof dof;
    dof.ecb("test::" + unclosed() + ":", {});
    dbk_reason reason{};
    dbk_consumer* consumer = engine.created(dof.build());
    uint32_t matched = 0, before = host.pauses;
    SECTION("it is wanted") {
        CHECK(dbk_consumer_enable(consumer, &reason, &matched) == 0);
        CHECK(matched == 0);
        CHECK(host.pauses - before >= kProbes);
    }
    SECTION("its process is being killed") {
        host.pauses_left = 50;
        CHECK(dbk_consumer_enable(consumer, &reason, &matched) == -EINTR);
        CHECK(host.pauses - before == 51);
    }
    host.pauses_left = -1;
    dbk_consumer_destroy(consumer);
}

TEST_CASE("an enabling with a short description pauses seldom", "[engine][match]") {
    constexpr uint32_t kProbes = 5000;
    Engine engine(1);
    for (uint32_t i = 0; i < kProbes; i++)
        engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("other::f*:entry", {});
    auto before = host.pauses;
    engine.consumer(dof.build());
    CHECK(host.pauses - before > 10);
    CHECK(host.pauses - before < kProbes / 50);
}
