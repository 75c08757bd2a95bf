// SPDX-License-Identifier: Apache-2.0
#include "formats/aggstate/cells.hpp"
#include "formats/aggstate/message.hpp"
#include "tests/support/raw_message.hpp"
#include "tests/unit/formats/aggstate/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

StatePart sample() {
    StatePart part = test::part_of({test::run(1, 4, 0, 40), test::run(7, 7, 90, 1)}, 5, 900);
    part.dof = Bytes(12, std::byte{7});
    part.source = "BEGIN\n";
    part.release = "6.1";
    part.keeps_thread_state = true;
    part.begin_ns = 1;
    part.end_ns = 2;
    part.begin_wall_ns = 3;
    part.firings = 4;
    part.begin_cpu = 1;
    part.end_cpu = 2;
    part.drops = 5;
    part.cpus[0].first_kept = 6;
    part.cpus[0].faults = 7;
    part.cpus[0].drops[DBK_DROP_NESTED] = 8;
    part.images.push_back({"vmlinux", 0xffffffff81000000, 0x1000, Bytes(20, std::byte{9})});
    part.images.push_back({"libc.so.6", 0, 0x20, Bytes(20, std::byte{8}), true});
    return part;
}

template <typename T>
T decoded(const Bytes& raw) {
    auto message = decode_state_message(raw);
    INFO((message.ok() ? "" : message.error().message()));
    REQUIRE(message.ok());
    REQUIRE(std::holds_alternative<T>(*message));
    return std::get<T>(*message);
}

StateBlock sample_block() {
    StateBlock block;
    block.aggregation = test::by_string(DTRACEAGG_AVG);
    uint64_t cells[] = {3, 0}, others[] = {0, UINT64_MAX};
    append_state(block, test::string_key("x"), cells);
    append_state(block, test::string_key(""), others);
    return block;
}

bool is_refused(const StateBlock& block) {
    return !decode_state_message(encode_states(block)).ok();
}

} // namespace

TEST_CASE("a part comes back", "[aggstate]") {
    StatePart part = sample(), back = decoded<StatePart>(encode_part(part));
    CHECK(back.identity == part.identity);
    CHECK(back.dof == part.dof);
    CHECK(back.source == part.source);
    CHECK(back.release == "6.1");
    CHECK(back.keeps_thread_state);
    CHECK(!back.keeps_global_state);
    CHECK(back.begin_ns == 1);
    CHECK(back.end_ns == 2);
    CHECK(back.begin_wall_ns == 3);
    CHECK(back.records == 41);
    CHECK(back.firings == 4);
    CHECK(back.begin_cpu == 1);
    CHECK(back.end_cpu == 2);
    CHECK(back.drops == 5);
    REQUIRE(back.cpus.size() == 1);
    CHECK(back.cpus[0].cpu == 3);
    CHECK(back.cpus[0].committed == 91);
    CHECK(back.cpus[0].first_kept == 6);
    CHECK(back.cpus[0].newest == 7);
    CHECK(back.cpus[0].faults == 7);
    CHECK(back.cpus[0].drops == part.cpus[0].drops);
    REQUIRE(back.cpus[0].runs.size() == 2);
    CHECK(back.cpus[0].runs[1].first_sequence == 7);
    CHECK(back.cpus[0].runs[1].records_before == 90);
    CHECK(back.cpus[0].runs[1].to_ns == 7999);
    REQUIRE(back.images.size() == 2);
    CHECK(back.images[1].is_file);
    CHECK(!back.images[0].is_file);
    CHECK(back.images[0].name == "vmlinux");
    CHECK(back.images[0].build_id == part.images[0].build_id);
}

TEST_CASE("states and symbols come back", "[aggstate]") {
    StateBlock block = sample_block(), back = decoded<StateBlock>(encode_states(block));
    CHECK(back.aggregation.name == "a");
    CHECK(back.aggregation.function == DTRACEAGG_AVG);
    REQUIRE(back.aggregation.key_types.size() == 1);
    CHECK(back.aggregation.key_types[0].bytes == 256);
    CHECK(back.keys == block.keys);
    CHECK(back.indexes == std::vector<uint32_t>{0, 1});
    CHECK(back.values == std::vector<uint64_t>{3, UINT64_MAX});
    StateSymbols symbols{
        {{{0, 16}, 'T', "start", "vmlinux", 7}, {{std::nullopt, 99}, 't', "x", "m"}}};
    StateSymbols symbols_back = decoded<StateSymbols>(encode_symbols(symbols));
    REQUIRE(symbols_back.symbols.size() == 2);
    CHECK(symbols_back.symbols[0].frame.image == 0u);
    CHECK(symbols_back.symbols[0].name == "start");
    CHECK(symbols_back.symbols[0].bytes == 7);
    CHECK(!symbols_back.symbols[1].frame.image);
    CHECK(symbols_back.symbols[1].frame.offset == 99);
}

TEST_CASE("parts that contradict themselves are refused", "[aggstate]") {
    auto is_refused = [](const StatePart& part) {
        return !decode_state_message(encode_part(part)).ok();
    };
    StatePart part = sample();
    CHECK(!is_refused(part));
    part.identity.until_ns = part.identity.since_ns;
    CHECK(is_refused(part));
    part = sample();
    part.cpus[0].runs[1].first_sequence = 4; // which the run before has
    CHECK(is_refused(part));
    part = sample();
    part.cpus[0].runs[1].last_sequence = 6;
    CHECK(is_refused(part));
    part = sample();
    part.cpus[0].runs[1].records = UINT64_MAX; // with those before it
    CHECK(is_refused(part));
    part = sample();
    part.cpus[0].runs[0].first_sequence = 0;
    CHECK(is_refused(part));
    part = sample();
    part.cpus.push_back(part.cpus[0]);
    CHECK(is_refused(part));
    part = sample();
    part.images[0].build_id.resize(kBuildIdBytesMax + 1);
    CHECK(is_refused(part));
    part = sample();
    part.images[0].name = "../etc/shadow"; // a reader may look for a file of that name
    CHECK(is_refused(part));
}

TEST_CASE("states whose lists do not fit are refused", "[aggstate]") {
    StateBlock block = sample_block();
    CHECK(!is_refused(block));
    block.cell_counts[0]++;
    CHECK(is_refused(block));
    block = sample_block();
    block.cell_counts.pop_back();
    CHECK(is_refused(block));
    block = sample_block();
    block.key_bytes[1] = UINT32_MAX;
    CHECK(is_refused(block));
    block = sample_block();
    block.keys.push_back(std::byte{0});
    CHECK(is_refused(block));
    block = sample_block();
    block.values.pop_back();
    CHECK(is_refused(block));
    block = sample_block();
    block.extremes = {1, 2}; // an average has none
    CHECK(is_refused(block));
    block = sample_block();
    block.indexes[0] = kStateCellsMax;
    CHECK(is_refused(block));
    block = sample_block();
    block.aggregation.function = DTRACEACT_PRINTF;
    CHECK(is_refused(block));
    block = sample_block();
    block.aggregation.key_types[0].tag = KeyTag::integer; // the key has a string
    CHECK(is_refused(block));
    block = sample_block();
    block.aggregation.key_types.resize(kKeyMembersMax + 1);
    CHECK(is_refused(block));
    block = sample_block();
    block.cell_counts = {2, 0};
    block.indexes = {1, 1}; // not ascending
    CHECK(is_refused(block));
}

TEST_CASE("lists that take no bytes, and lists that are one another, are refused", "[aggstate]") {
    constexpr size_t kBytes = 64u << 10;
    // Message: part is 0, states is 1, symbols is 2; which pointer of these has the list.
    for (test::ListPlace place :
         {test::ListPlace{0, 9, 7}, {0, 9, 8}, {1, 8, 1}, {1, 8, 3}, {2, 1, 0}}) {
        auto bomb = decode_state_message(test::empty_structs(place, (1u << 29) - 1, kBytes));
        CHECK(!bomb.ok());
    }
    CHECK(!decode_state_message(test::far_pointers({2, 1, 0}, 2000, 2, kBytes)).ok());
}

TEST_CASE("every beginning of a message is refused", "[aggstate]") {
    for (const Bytes& raw : {encode_part(sample()), encode_states(sample_block())})
        for (size_t length = 0; length < raw.size(); length += 8)
            (void)decode_state_message(ByteView(raw).first(length)).ok();
    CHECK(!decode_state_message({}).ok());
}
