// SPDX-License-Identifier: Apache-2.0
#include "formats/dof/dialect.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::formats;

namespace {

/// A program of one clause with a predicate and one action, each with a DIF object of its own.
DofProgram clause(const std::string& name) {
    DofProgram program;
    program.difos.resize(2);
    program.difos[0].strings = name + " predicate";
    program.difos[1].strings = name + " action";
    program.action_lists.push_back({{DofAction{.difo = 1}}});
    program.ecbs.push_back({.probe = {.name = name}, .predicate = 0, .actions = 0});
    program.lines.push_back({.difo = 1, .instruction = 0, .file = name, .line = 3, .column = 1});
    program.captures.push_back({.action_list = 0, .action = 0, .expression = name, .type = "int"});
    program.options.push_back({.option = 1, .value = 2});
    program.aggregation_names.push_back(name);
    program.target = DofTarget{.release = name};
    program.source = name;
    return program;
}

} // namespace

TEST_CASE("joined programs refer to their own parts", "[formats][dof]") {
    std::vector<DofProgram> parts = {clause("first"), clause("second"), clause("third")};
    parts[1].integer_registers = 64;
    parts[1].tuple_registers = 32;
    const DofProgram whole = join_programs(parts);
    CHECK(whole.integer_registers == 64);
    CHECK(whole.tuple_registers == 32);
    CHECK(whole.options.size() == 3);
    CHECK(whole.aggregation_names == std::vector<std::string>{"first", "second", "third"});
    CHECK(whole.target->release == "first");
    CHECK(*whole.source == "first");
    for (size_t i = 0; i < parts.size(); i++) {
        const DofEcb& ecb = whole.ecbs.at(i);
        const std::string& name = ecb.probe.name;
        CHECK(name == parts[i].ecbs[0].probe.name);
        CHECK(whole.difos.at(*ecb.predicate).strings == name + " predicate");
        const DofAction& action = whole.action_lists.at(*ecb.actions).actions.at(0);
        CHECK(whole.difos.at(*action.difo).strings == name + " action");
        CHECK(whole.difos.at(whole.lines.at(i).difo).strings == whole.lines[i].file + " action");
        CHECK(whole.captures.at(i).action_list == *ecb.actions);
    }
}
