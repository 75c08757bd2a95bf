// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kmod/access.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace {

std::string kept(std::string command_line) {
    command_line.push_back('\0');
    test_parameters_keep(command_line.data());
    return command_line.c_str();
}

} // namespace

TEST_CASE("early-init keeps the module's parameters of a command line", "[kmod][early-init]") {
    CHECK(kept("").empty());
    CHECK(kept("quiet root=/dev/sda1\n").empty());
    CHECK(kept("daybreak.bank=4M@0x10000000") == "bank=4M@0x10000000 ");
    CHECK(kept("ro daybreak.bank=a quiet daybreak.salvage\n") == "bank=a salvage ");
    CHECK(kept("  daybreak.a=1   daybreak.b=2\n") == "a=1 b=2 ");
    // A prefix within a word, or without its dot, is another's.
    CHECK(kept("xdaybreak.a=1 daybreak=2 daybreak_init=/x").empty());
    // Quotes hold words together.
    CHECK(kept("daybreak.a=\"one two\" x daybreak.b=3") == "a=\"one two\" b=3 ");
    CHECK(kept("other=\"x daybreak.a=1\" daybreak.b=2") == "b=2 ");
    CHECK(kept("daybreak.a=\"never closed daybreak.b=2") == "a=\"never closed daybreak.b=2 ");
    // Behind "--" words are init's.
    CHECK(kept("daybreak.a=1 -- daybreak.b=2") == "a=1 ");
    CHECK(kept("--x daybreak.a=1") == "a=1 ");
    CHECK(kept("daybreak.a=1 --\n") == "a=1 ");
}

TEST_CASE("early-init takes daybreak_init= with a path only", "[kmod][early-init]") {
    auto found = [](std::vector<std::string> words) {
        std::vector<char*> pointers;
        for (std::string& word : words)
            pointers.push_back(word.data());
        pointers.push_back(nullptr);
        const char* path = test_option_find(pointers.data());
        return std::string(path ? path : "none");
    };
    CHECK(found({}) == "none");
    CHECK(found({"HOME=/", "daybreak_init=/sbin/my"}) == "/sbin/my");
    CHECK(found({"daybreak_init=sbin", "daybreak_init=", "daybreak_init=/b"}) == "/b");
    CHECK(found({"xdaybreak_init=/a"}) == "none");
}
