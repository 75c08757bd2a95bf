// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/reader.hpp"
#include "tests/unit/formats/aggstate/sample.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;

TEST_CASE("a file's parts come in order, with what is of them", "[aggstate]") {
    Bytes file = test::file_of(
        {test::part_of({test::run(1, 4, 0, 40)}), test::part_of({test::run(5, 6, 40, 3)})});
    CHECK(test::read(file).value() == "part symbols 1 states 1 end part symbols 1 states 1 end ");
    CHECK(test::read(file, false).value() == "part end part end ");
    CHECK(test::read(test::file_of({})).value() == "");
}

TEST_CASE("many states are in several blocks", "[aggstate]") {
    Bytes file;
    StateWriter writer([&file](ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return Result<void>();
    });
    REQUIRE(writer.begin_part(test::part_of({})).ok());
    constexpr uint64_t kStates = 100000;
    for (uint64_t i = 1; i <= kStates; i++)
        REQUIRE(writer
                    .add(test::by_string(DTRACEAGG_COUNT), test::string_key(std::to_string(i)),
                         std::span(&i, 1))
                    .ok());
    REQUIRE(writer.finish().ok());
    uint64_t states = 0, blocks = 0, sum = 0;
    StateVisitor visitor;
    visitor.part = [](const StatePart&) -> Result<bool> { return true; };
    visitor.states = [&](const StateBlock& block) {
        blocks++;
        states += block.size();
        for (uint64_t value : block.values)
            sum += value;
        return Result<void>();
    };
    visitor.part_end = [](const Digest&) { return Result<void>(); };
    REQUIRE(read_states(base::view_source(file), "many", visitor).ok());
    CHECK(states == kStates);
    CHECK(blocks > 1);
    CHECK(sum == kStates * (kStates + 1) / 2);
}

TEST_CASE("of a file that was cut or changed nothing counts", "[aggstate]") {
    Bytes file = test::file_of({test::part_of({test::run(1, 4, 0, 40)})});
    for (size_t length = 0; length + 8 <= file.size(); length++) // zeros may end it
        CHECK(!test::read(ByteView(file).first(length)).ok());
    for (size_t at = 0; at < file.size(); at += 3) {
        Bytes changed = file;
        changed[at] ^= std::byte{0x10};
        auto read = test::read(changed);
        REQUIRE(!read.ok());
        CHECK(read.error().message().find("come before") == std::string::npos);
    }
    Bytes longer = file;
    longer.insert(longer.end(), file.begin(), file.end());
    CHECK(test::read(longer).error().code() == ErrorCode::corrupt);
}

TEST_CASE("a recording is not read as a file of states, nor the other way round", "[aggstate]") {
    Bytes states = test::file_of({test::part_of({test::run(1, 4, 0, 40)})});
    auto trace = parse_trace(states, "x.states");
    REQUIRE(!trace.ok());
    CHECK(trace.error().message() == "x.states has partial states: daybreak merge reads it");
    test::RingBuilder ring;
    auto read = test::read(test::sample_file(ring));
    REQUIRE(!read.ok());
    CHECK(read.error().message().find("replay --partial") != std::string::npos);
    CHECK(test::read(Bytes(100)).error().code() == ErrorCode::invalid);
}

TEST_CASE("the digest of a part's states is of all of them", "[aggstate]") {
    auto digest = [](uint64_t count) {
        Bytes file = test::file_of({test::part_of({test::run(1, 4, 0, 40)})}, count);
        Digest found{};
        StateVisitor visitor;
        visitor.part = [](const StatePart&) -> Result<bool> { return false; };
        visitor.part_end = [&](const Digest& one) {
            found = one;
            return Result<void>();
        };
        REQUIRE(read_states(base::view_source(file), "x", visitor).ok());
        return found;
    };
    CHECK(digest(1) == digest(1));
    CHECK(digest(1) != digest(2));
}
