// SPDX-License-Identifier: Apache-2.0
#include "live/process/process_names.hpp"

#include "live/process/target.hpp"

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::live;

extern "C" int process_names_test_function(int x);
int process_names_test_function(int x) {
    return x + 1;
}

namespace {

uint64_t self() {
    return static_cast<uint64_t>(::getpid());
}

uint64_t address() {
    return reinterpret_cast<uint64_t>(&process_names_test_function);
}

} // namespace

TEST_CASE("an address in a program has the function's name", "[live][names]") {
    ProcessNames names;
    auto place = names.find(self(), address() + 1, std::nullopt);
    REQUIRE(place);
    CHECK(place->object == "test_live_process");
    CHECK(place->symbol == "process_names_test_function");
    CHECK(place->symbol_offset == 1);
    CHECK(place->object_start < address());
    CHECK_FALSE(names.find(self(), 1, std::nullopt)); // nothing is mapped there
}

TEST_CASE("the functions of a process are where they lie", "[live][names]") {
    ProcessNames names;
    auto found = names.functions(self(), [](const ProcessNames::Function& function) {
        return function.name == "process_names_test_function";
    });
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].object == "test_live_process");
    CHECK(found[0].address == address());
}

TEST_CASE("a process that was remembered has names after its end", "[live][names]") {
    auto target = Target::start("sleep 1000");
    REQUIRE(target.ok());
    const auto pid = static_cast<uint64_t>(target->pid());
    ProcessNames names, forgetful;
    auto code = names.functions(pid, [](const ProcessNames::Function&) { return true; });
    REQUIRE_FALSE(code.empty());
    names.remember(pid);
    target->end();
    auto place = names.find(pid, code[0].address, std::nullopt);
    REQUIRE(place);
    CHECK(place->object == code[0].object);
    CHECK_FALSE(place->symbol.empty());
    CHECK_FALSE(forgetful.find(pid, code[0].address, std::nullopt));
}
