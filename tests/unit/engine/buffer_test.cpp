// SPDX-License-Identifier: Apache-2.0
//
// Records and segments: layout, overwriting, policies, time, drops.
#include "engine/api/crc32c.h"
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>
#include <cstring>

using namespace daybreak::engine_test;

namespace {

/// trace(arg0) on test:::go with small segments.
Dof of_policy(uint64_t policy, uint64_t bufsize = 8192) {
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});
    dof.option(DTRACEOPT_BUFPOLICY, policy);
    dof.option(DTRACEOPT_BUFSIZE, bufsize);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    return dof;
}

constexpr uint64_t kPerSegment = (4096 - DBK_SEGMENT_DATA_OFFSET) / 16;

} // namespace

TEST_CASE("fields lie where META_ECBS says", "[engine][record]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    host.kernel_memory[0x7000] = "0123456789abcdef";
    dof.ecb("test:::go",
            {dof.trace(arg(0, 1)), dof.trace(arg(1, 8)), dof.trace(text_variable(DIF_VAR_EXECNAME)),
             dof.trace(arg(2, 2)), dof.trace({{setx(0, 1), ret(1)}, bytes_type(12), {0x7000}}),
             dof.trace(text_variable(DIF_VAR_PROBENAME)), dof.trace(arg(3, 4))});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {0x1122, 0x3344556677889900, 0xaabbccdd, 0x1234567890});
    auto info = ecb_info(consumer, 1);
    REQUIRE(info);
    CHECK(info->ecb.probe_id == go.id);
    CHECK(info->ecb.flags == DBK_ECB_F_VARIABLE);
    REQUIRE(info->fields.size() == 7);
    // length at 8; then 1, 8, ref 4, 2, 12, ref 4, 4 bytes, each aligned to its size
    const uint32_t offsets[] = {12, 16, 24, 28, 32, 44, 48};
    for (size_t i = 0; i < 7; i++) {
        CHECK(info->fields[i].offset == offsets[i]);
        CHECK(info->fields[i].action == i);
        CHECK(info->fields[i].flags == 0);
    }
    CHECK(info->fields[2].shape == DBK_FIELD_STRING);
    CHECK(info->ecb.fixed_bytes == 56);
    auto all = records(consumer);
    REQUIRE(all.size() == 1);
    const Record& record = all[0];
    CHECK(record.u32(8) == record.bytes.size());
    CHECK(record.bytes.size() == 56 + 8 + 8);
    CHECK(record.bytes[12] == 0x22);
    CHECK(record.u64(16) == 0x3344556677889900);
    CHECK(record.tail(24) == "tester");
    CHECK((record.u32(28) & 0xffff) == 0xccdd);
    CHECK(std::string(record.bytes.begin() + 32, record.bytes.begin() + 44) == "0123456789ab");
    CHECK(record.tail(44) == "go");
    CHECK(record.u32(48) == 0x34567890);
    for (size_t padding : {13, 14, 15, 30, 31, 52, 53, 54, 55, 62, 63, 66, 71})
        CHECK(record.bytes[padding] == 0);
}

TEST_CASE("padding is zero in segments that were full of other records", "[engine][record]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto& odd = engine.probe("test", "m", "f", "odd");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});
    dof.ecb("test:::odd", {dof.trace(arg(1, 1)), dof.trace(arg(2, 4)), dof.trace(arg(3, 8)),
                           dof.trace(arg(4, 4))});
    dof.option(DTRACEOPT_BUFSIZE, 8192);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < 3 * kPerSegment; i++)
        engine.fire(go, {~uint64_t{0}});
    for (uint64_t i = 0; i < 3 * kPerSegment; i++)
        engine.fire(odd, {0, 0x1122, 0x33445566778899, i, 0xaabbccddee});
    auto all = records(consumer);
    REQUIRE(all.size() > kPerSegment / 2);
    for (const Record& record : all) {
        REQUIRE(record.bytes.size() == 32);
        CHECK(record.u32(8) == 0x22);
        CHECK(record.u32(12) == 0x66778899);
        CHECK(record.u64(24) == 0xbbccddee);
    }
}

TEST_CASE("execname is stored to its end, whatever lies after it", "[engine][record]") {
    for (uint64_t strsize : {2, 8, 15, 16, 256}) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.ecb("test:::go", {dof.trace(text_variable(DIF_VAR_EXECNAME)), dof.trace(arg(0, 4)),
                              dof.trace(text_variable(DIF_VAR_PROBENAME))});
        dof.option(DTRACEOPT_STRSIZE, strsize);
        auto* consumer = engine.start(dof.build());
        std::vector<std::string> names;
        for (size_t length = 0; length < 16; length++)
            // 0x80 and 1: what finds a NUL in a word must not take them for one
            for (const char* letters : {"abc", "\x80", "\x01", "\x01\x80\xff"})
                for (char rest : {'x', '\1'}) {
                    std::string text;
                    while (text.size() < length)
                        text += letters;
                    text.resize(length);
                    std::memset(host.execname, rest, sizeof(host.execname));
                    std::memcpy(host.execname, text.c_str(), length + 1);
                    engine.fire(go, {length});
                    names.push_back(text.substr(0, strsize));
                }
        auto all = records(consumer);
        REQUIRE(all.size() == names.size());
        for (size_t i = 0; i < all.size(); i++) {
            INFO("option strsize " << strsize << ", name " << i << " of " << names[i].size());
            CHECK(all[i].tail(12) == names[i]);
            CHECK(all[i].u32(16) == i / 8);
            CHECK(all[i].tail(20) == std::string("go").substr(0, strsize));
            CHECK(all[i].u32(8) == all[i].bytes.size());
            for (size_t at = 24 + names[i].size(); at % 8 != 0; at++)
                CHECK(all[i].bytes[at] == 0);
        }
    }
}

TEST_CASE("a clause without actions records that it fired; one without data nothing", "[engine]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {});
    dof.ecb("test:::go", {dof.trace({{ret(0)}, no_type()})});
    auto* consumer = engine.start(dof.build());
    engine.fire(go);
    auto all = records(consumer);
    REQUIRE(all.size() == 1);
    CHECK(all[0].epid == 1);
    CHECK(all[0].bytes.size() == 8);
    CHECK(ecb_info(consumer, 2)->ecb.flags == DBK_ECB_F_NO_RECORD);
    CHECK(dbk_consumer_counters(consumer, 0)->firings == 2);
    CHECK(dbk_consumer_counters(consumer, 0)->records == 1);
    CHECK(dbk_consumer_counters(consumer, 0)->bytes == 8);
}

TEST_CASE("a ring overwrites the oldest segment and says how much", "[engine][buffer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(of_policy(DBK_POLICY_RING).build());
    const uint64_t count = kPerSegment * 5 + 7;
    for (uint64_t i = 0; i < count; i++)
        engine.fire(go, {i});
    auto kept = records(consumer);
    auto open = segments(consumer, 0);
    REQUIRE(open.size() == 2);
    uint64_t before = losses(open.begin()->second).records_before;
    CHECK(before == kPerSegment * 4);
    CHECK(open.begin()->first == 5);
    REQUIRE(kept.size() + before == count);
    for (uint64_t i = 0; i < kept.size(); i++)
        CHECK(kept[i].u64(8) == before + i);
    CHECK(dbk_consumer_counters(consumer, 0)->records == count);
    CHECK(dbk_consumer_counters(consumer, 0)->segments == 6);
    CHECK(dbk_consumer_counters(consumer, 0)->oldest_sequence == 5);
    CHECK(dbk_consumer_counters(consumer, 1)->oldest_sequence == 0);
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL) == 0);
}

TEST_CASE("a fill buffer stops, and END has room", "[engine][buffer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof = of_policy(DBK_POLICY_FILL);
    dof.ecb("dtrace:::END", {dof.trace({{setx(0, 1), ret(1)}, int_type(), {777}})});
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < kPerSegment * 2 + 5; i++)
        engine.fire(go, {i});
    CHECK(records(consumer).size() == kPerSegment * 2);
    CHECK(drops(consumer, DBK_DROP_FILLED) == 5);
    CHECK(losses(segments(consumer, 0).rbegin()->second).drops[DBK_DROP_FILLED] == 5);
    CHECK(dbk_consumer_stop(consumer) == 0);
    auto all = records(consumer);
    REQUIRE(all.size() == kPerSegment * 2 + 1);
    CHECK(all.front().u64(8) == 0);
    CHECK(all.back().u64(8) == 777);
}

TEST_CASE("a switch buffer waits for its reader", "[engine][buffer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(of_policy(DBK_POLICY_SWITCH).build());
    for (uint64_t i = 0; i < kPerSegment * 2 + 3; i++)
        engine.fire(go, {i});
    CHECK(records(consumer).size() == kPerSegment * 2);
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL) == 3);
    dbk_consumer_release(consumer, 0, 1);
    engine.fire(go, {4242});
    auto kept = records(consumer);
    REQUIRE(kept.size() == kPerSegment + 1);
    CHECK(kept.back().u64(8) == 4242);
    CHECK(losses(segments(consumer, 0).rbegin()->second).records_before == kPerSegment * 2);
    for (uint64_t i = 0; i < kPerSegment; i++)
        engine.fire(go, {i});
    CHECK(drops(consumer, DBK_DROP_PRINCIPAL) == 4);
}

TEST_CASE("time that outgrows 32 bits gets a new base", "[engine][buffer]") {
    Engine engine(1, DBK_CLOCK_TSC);
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(of_policy(DBK_POLICY_RING).build());
    // The ticks of the segment's base are read once more.
    std::vector<uint64_t> steps{10, 0xffffffff - 10, 0x100000000, 5, 0x500000000, 1};
    uint64_t now = host.ticks;
    std::vector<uint64_t> expected;
    for (uint64_t step : steps) {
        host.tick_step = step;
        engine.fire(go, {step});
        now = host.ticks;
        expected.push_back(now);
    }
    auto all = records(consumer);
    REQUIRE(all.size() == steps.size());
    for (size_t i = 1; i < all.size(); i++)
        CHECK(all[i].ticks == expected[i]);
    auto* header = segments(consumer, 0).begin()->second;
    CHECK((header->flags & 0x3) == DBK_SEGMENT_F_TSC);
    CHECK(header->flags >> DBK_SEGMENT_F_SEQUENCE_SHIFT == header->sequence);
    // Two control records of 16 bytes.
    CHECK(header->committed_bytes == DBK_SEGMENT_DATA_OFFSET + 6 * 16 + 2 * 16);
}

TEST_CASE("ticks that fall begin a segment", "[engine][buffer]") {
    Engine engine(1, DBK_CLOCK_TSC);
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(of_policy(DBK_POLICY_RING).build());
    host.ticks = 0x900000000;
    engine.fire(go, {1});
    host.ticks = 1000; // the machine slept
    engine.fire(go, {2});
    auto written = segments(consumer, 0);
    REQUIRE(written.size() == 2);
    CHECK(written.at(1)->base_ticks > 0x900000000);
    CHECK(written.at(2)->base_ticks < 2000);
    CHECK(records(consumer).size() == 2);
}

TEST_CASE("a segment's clocks are read again when the CPU was taken away between them",
          "[engine][buffer]") {
    Engine engine(1, DBK_CLOCK_TSC);
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(of_policy(DBK_POLICY_RING).build());
    std::vector<uint64_t> away_ns = GENERATE(
        std::vector<uint64_t>{300'000}, std::vector<uint64_t>{300'000, 200'000, 50'000, 100'000});
    uint64_t apart = host.mono_ns - host.ticks;
    size_t at = 0;
    host.in_mono_ns = [&] {
        uint64_t away = at < away_ns.size() ? away_ns[at] : 0;
        host.ticks += away;
        host.mono_ns += away;
        at++;
    };
    engine.fire(go, {1});
    host.in_mono_ns = nullptr;
    CHECK(at == (away_ns.size() == 1 ? 2 : 4)); // a pair that is near, or the last try
    auto* header = segments(consumer, 0).begin()->second;
    CHECK(records(consumer).front().ticks >= header->base_ticks);
    uint64_t nearest = away_ns.size() == 1 ? 0 : 50'000;
    CHECK(header->base_mono_ns - header->base_ticks <= apart + nearest);
    CHECK(header->base_mono_ns - header->base_ticks >= apart - 1000);
}

TEST_CASE("a rebase that no longer fits opens a segment", "[engine][buffer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto* consumer = engine.start(of_policy(DBK_POLICY_RING).build());
    for (uint64_t i = 0; i + 1 < kPerSegment; i++)
        engine.fire(go, {i});
    host.tick_step = 0x100000000; // 16 bytes are left: the record alone would fit
    engine.fire(go, {99});
    auto open = segments(consumer, 0);
    REQUIRE(open.size() == 2);
    CHECK(open.rbegin()->second->committed_bytes == DBK_SEGMENT_DATA_OFFSET + 16);
    CHECK(records(consumer).back().u64(8) == 99);
}

TEST_CASE("user stacks that no segment has room for are refused, with what fits",
          "[engine][buffer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto program = [&](uint64_t segment_bytes, uint64_t stack_bytes) {
        Dof dof;
        dof.option(DBK_OPT_SEGMENTSIZE, segment_bytes);
        dof.option(DBK_OPT_USTACKBYTES, stack_bytes);
        const Action stack{DTRACEACT_USTACK, DOF_SECIDX_NONE, 5};
        dof.ecb("test:::go", {stack, stack, stack});
        return dof.build();
    };
    auto refusal = [&](uint64_t segment_bytes, uint64_t stack_bytes) {
        Loaded loaded = load(program(segment_bytes, stack_bytes));
        REQUIRE(loaded.error == 0);
        dbk_reason reason{};
        dbk_consumer* consumer = nullptr;
        dbk_consumer_config config{"test", 1, false, false, 0};
        CHECK(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) ==
              -E2BIG);
        dbk_program_destroy(loaded.program);
        std::string text(reason.text);
        return text.substr(std::min(text.find("with its"), text.size()));
    };
    CHECK(refusal(4096, 2048) ==
          "with its 3 user stacks a record takes up to 6768 bytes, a segment has room for "
          "3968: ustackbytes=1112 at most, or segmentsize=8192");
    CHECK(refusal(4096, 1120).ends_with("ustackbytes=1112 at most, or segmentsize=8192"));
    CHECK(refusal(1 << 17, 32768) ==
          "with its 3 user stacks a record takes up to 98928 bytes, and has room for 65528: "
          "ustackbytes=21632 at most");
    auto* consumer = engine.start(program(4096, 1112));
    host.user_registers.assign(DBK_USER_REGISTERS, 0x7ffe00001000);
    host.user_memory[0x7ffe00001000] = std::string(4096, 'a');
    for (int i = 0; i < 3; i++)
        engine.fire(go);
    CHECK(dbk_consumer_counters(consumer, 0)->records == 3);
    CHECK(records(consumer)[2].bytes.size() > 3 * 1112);
}

TEST_CASE("records larger than a segment are refused or dropped", "[engine][buffer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    SECTION("fixed: at creation") {
        Dof dof;
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        dof.ecb("test:::go", {dof.trace({{ret(0)}, bytes_type(3961)})});
        Loaded loaded = load(dof.build());
        REQUIRE(loaded.error == 0);
        dbk_reason reason{};
        dbk_consumer* consumer = nullptr;
        dbk_consumer_config config{"test", 1, false, false, 0};
        CHECK(dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer) ==
              -E2BIG);
        CHECK(std::string(reason.text)
                  .find("its records take 3976 bytes, a segment has room "
                        "for 3968") != std::string::npos);
        dbk_program_destroy(loaded.program);
    }
    SECTION("fixed: the largest") {
        Dof dof;
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        host.kernel_memory[0x7000] = std::string(3960, 'x');
        dof.ecb("test:::go", {dof.trace({{setx(0, 1), ret(1)}, bytes_type(3960), {0x7000}})});
        auto* consumer = engine.start(dof.build());
        for (int i = 0; i < 3; i++)
            engine.fire(go);
        CHECK(dbk_consumer_counters(consumer, 0)->records == 3);
    }
    SECTION("by strings: a TOOBIG drop, and the next one fits") {
        Dof dof;
        dof.option(DTRACEOPT_STRSIZE, 8192);
        dof.option(DBK_OPT_SEGMENTSIZE, 4096);
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
        host.kernel_memory[0x10000] = std::string(8000, 'x') + '\0';
        dof.ecb("test:::go", {dof.trace({{ldgs(DIF_VAR_ARG0, 1), ret(1)}, string_type()})});
        auto* consumer = engine.start(dof.build());
        engine.fire(go, {0x10000});
        CHECK(drops(consumer, DBK_DROP_TOOBIG) == 1);
        // Header, length and reference take 16 of 3968; a string that fills the rest to the last
        // byte cannot be distinguished from a longer one.
        engine.fire(go, {0x10000 + 8000 - 3950});
        engine.fire(go, {0x10000 + 8000 - 3951});
        CHECK(drops(consumer, DBK_DROP_TOOBIG) == 2);
        auto all = records(consumer);
        REQUIRE(all.size() == 1);
        CHECK(all[0].tail(12) == std::string(3950, 'x'));
    }
}

TEST_CASE("a record that grows beyond its segment moves to the next", "[engine][buffer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_BUFSIZE, 1 << 20);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    std::string text(200, 'y');
    host.kernel_memory[0x10000] = text + '\0';
    Difo string{{ldgs(DIF_VAR_ARG0, 1), ret(1)}, string_type()};
    dof.ecb("test:::go", {dof.trace(arg(1)), dof.trace(string), dof.trace(string),
                          Action{DTRACEACT_STACK, DOF_SECIDX_NONE, 30},
                          dof.trace(text_variable(DIF_VAR_EXECNAME))});
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < 500; i++)
        engine.fire(go, {0x10000 + i % 200, i});
    auto all = records(consumer);
    REQUIRE(all.size() == 500);
    uint64_t last = 0;
    for (uint64_t i = 0; i < 500; i++) {
        CHECK(all[i].u64(16) == i);
        CHECK(all[i].tail(24) == text.substr(i % 200));
        CHECK(all[i].tail(28) == text.substr(i % 200));
        CHECK(all[i].tail(32).size() == 16);
        CHECK(all[i].tail(36) == "tester");
        CHECK(all[i].ticks > last);
        last = all[i].ticks;
    }
}

TEST_CASE("stacks are words after the fixed part", "[engine][record]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {Action{DTRACEACT_STACK, DOF_SECIDX_NONE, 0},
                          Action{DTRACEACT_STACK, DOF_SECIDX_NONE, 1},
                          Action{DTRACEACT_USTACK, DOF_SECIDX_NONE, 5},
                          Action{DTRACEACT_USYM, dof.difo(arg(0))}});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {0x401234});
    auto all = records(consumer);
    REQUIRE(all.size() == 1);
    auto words = [&](size_t offset) {
        std::string bytes = all[0].tail(offset);
        std::vector<uint64_t> list(bytes.size() / 8);
        std::memcpy(list.data(), bytes.data(), bytes.size());
        return list;
    };
    CHECK(words(12) == host.stack);
    CHECK(words(16) == std::vector<uint64_t>{host.stack[0]});
    CHECK(words(20) == std::vector<uint64_t>{host.pid, host.ustack[0]});
    CHECK(all[0].u64(24) == host.pid);
    CHECK(all[0].u64(32) == 0x401234);
}

TEST_CASE("with ustackbytes a user stack has registers, and the stack as far as it can be read",
          "[engine][record]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.option(DBK_OPT_USTACKBYTES, 44); // 40
    dof.ecb("test:::go", {Action{DTRACEACT_USTACK, DOF_SECIDX_NONE, 5}, dof.trace(arg(0))});
    auto* consumer = engine.start(dof.build());
    engine.fire(go, {1});
    constexpr uint64_t kPage = 0x7ffe00001000, kSp = kPage - 16;
    for (uint64_t i = 0; i < DBK_USER_REGISTERS; i++)
        host.user_registers.push_back(i == DBK_USER_REGISTER_SP ? kSp : 100 + i);
    engine.fire(go, {2}); // there is not even its first page
    host.user_memory[kSp] = std::string(16, 'a');
    engine.fire(go, {3}); // the stack ends, or what comes is not in memory
    host.user_memory[kPage] = std::string(64, 'b');
    engine.fire(go, {4});
    auto all = records(consumer);
    REQUIRE(all.size() == 4);
    const std::string frames = all[0].tail(12).substr(0, 16);
    CHECK(all[0].tail(12) == frames + std::string(8, '\0'));
    std::string head = frames + std::string(8, '\0');
    head.append(reinterpret_cast<const char*>(host.user_registers.data()),
                host.user_registers.size() * 8);
    const std::string stacks[] = {"", std::string(16, 'a'),
                                  std::string(16, 'a') + std::string(24, 'b')};
    for (size_t i = 0; i < 3; i++) {
        dbk_user_memory end = {DBK_USER_REGISTERS, 5, static_cast<uint32_t>(stacks[i].size())};
        CHECK(all[i + 1].tail(12) ==
              head + stacks[i] + std::string(reinterpret_cast<const char*>(&end), sizeof(end)));
        CHECK(all[i + 1].u64(16) == i + 2);
    }
}

TEST_CASE("with ustackbytes a key has what its record can carry, and the engine's cells not",
          "[engine][record]") {
    for (uint64_t aggregate : {DBK_AGGREGATE_RECORD, DBK_AGGREGATE_ENGINE}) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.option(DBK_OPT_USTACKBYTES, 40);
        dof.option(DBK_OPT_AGGREGATE, aggregate);
        std::vector<Action> counted = dof.aggregate(1, DTRACEAGG_COUNT, {arg(0)});
        counted[1] = {DTRACEACT_USTACK, DOF_SECIDX_NONE, 5};
        dof.ecb("test:::go", counted);
        auto* consumer = engine.start(dof.build());
        auto info = ecb_info(consumer, 1);
        REQUIRE(info);
        REQUIRE(info->fields.size() == 1);
        const bool is_recorded = aggregate == DBK_AGGREGATE_RECORD;
        CHECK(info->fields[0].flags ==
              (is_recorded ? DBK_FIELD_F_KEY | DBK_FIELD_F_MEMORY : DBK_FIELD_F_KEY));
        host.user_registers.assign(DBK_USER_REGISTERS, 0x7ffe00001000);
        host.user_memory[0x7ffe00001000] = std::string(64, 'a');
        engine.fire(go);
        if (is_recorded)
            CHECK(records(consumer)[0].tail(12).find(std::string(40, 'a')) != std::string::npos);
        else
            CHECK(snapshot(consumer)[0].key.size() == 8 + 2 * 8); // where it lies; two words
    }
}

TEST_CASE("a record of one stack, of any kind, says how long it is", "[engine][record]") {
    for (uint32_t kind : {DTRACEACT_STACK, DTRACEACT_USTACK, DTRACEACT_JSTACK}) {
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.ecb("test:::go", {Action{kind, DOF_SECIDX_NONE, 5}});
        auto* consumer = engine.start(dof.build());
        engine.fire(go);
        auto all = records(consumer);
        REQUIRE(all.size() == 1);
        CHECK(all[0].tail(12).size() == 16); // two frames, or a process and a frame
    }
}

TEST_CASE("a faulting ECB leaves the buffer unchanged", "[engine][buffer]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0)),
                          dof.trace({{ldgs(DIF_VAR_ARG1, 1), load(DIF_OP_LDX, 1, 2), ret(2)}}),
                          dof.trace(text_variable(DIF_VAR_EXECNAME))});
    auto* consumer = engine.start(dof.build());
    host.kernel_memory[0x5000] = std::string(8, '\1');
    engine.fire(go, {1, 0x5000});
    auto* header = segments(consumer, 0).begin()->second;
    uint32_t committed = header->committed_bytes;
    auto counters = *dbk_consumer_counters(consumer, 0);
    host.tick_step = 0x200000000; // not even a rebase
    engine.fire(go, {2, 0x6000});
    CHECK(header->committed_bytes == committed);
    CHECK(dbk_consumer_counters(consumer, 0)->records == counters.records);
    CHECK(dbk_consumer_counters(consumer, 0)->errors == 1);
    host.tick_step = 1;
    engine.fire(go, {3, 0x5000});
    auto all = records(consumer);
    REQUIRE(all.size() == 2);
    CHECK(all[1].u64(16) == 3);
}

TEST_CASE("metadata describes the ring", "[engine][meta]") {
    Engine engine(3);
    auto& go = engine.probe("test", "mod", "func", "go");
    auto image = of_policy(DBK_POLICY_RING).build();
    auto* consumer =
        engine.start(image, {"a name of more than thirty-one bytes", 9, true, false, 0});
    CHECK(std::string(dbk_consumer_ring(consumer)->name) == "a name of more than thirty-one ");
    std::map<uint32_t, const dbk_meta_header*> kinds;
    dbk_region region;
    uint32_t segment_regions = 0;
    for (uint32_t i = 0; dbk_consumer_region(consumer, i, &region); i++) {
        if (region.kind == 1) {
            segment_regions++;
            continue;
        }
        auto* header = static_cast<const dbk_meta_header*>(region.pages->address);
        CHECK(header->magic == DBK_META_MAGIC);
        CHECK(header->version == DBK_META_VERSION);
        CHECK(header->block_bytes == region.pages->bytes);
        CHECK(header->phys_addr == region.pages->phys_addr);
        CHECK(header->ring_id == 9);
        CHECK(header->boot_id == 0xb007);
        kinds[header->kind] = header;
    }
    CHECK(segment_regions == 3);
    REQUIRE(kinds.size() == 5);
    auto data = [&](uint32_t kind) {
        return reinterpret_cast<const uint8_t*>(kinds[kind]) + DBK_META_DATA_OFFSET;
    };
    CHECK(kinds[DBK_META_DOF]->committed_bytes == DBK_META_DATA_OFFSET + image.size());
    CHECK(std::memcmp(data(DBK_META_DOF), image.data(), image.size()) == 0);
    CHECK(kinds[DBK_META_CPUS]->committed_bytes == DBK_META_DATA_OFFSET + 3 * sizeof(dbk_meta_cpu));
    auto* ring = reinterpret_cast<const dbk_meta_ring*>(data(DBK_META_RING));
    CHECK(ring == dbk_consumer_ring(consumer));
    CHECK(ring->activity == DBK_ACTIVITY_ACTIVE);
    CHECK(ring->segments_per_cpu == 2);
    CHECK(ring->anonymous == 1);
    CHECK(ring->ticks_per_second == 1'000'000'000);
    CHECK(ring->start_boot_ns == ring->start_mono_ns + 1);
    auto* probe = reinterpret_cast<const dbk_meta_probe*>(data(DBK_META_PROBES));
    CHECK(probe->probe_id == go.id);
    CHECK(std::string(reinterpret_cast<const char*>(probe + 1), 13) == "testmodfuncgo");
    CHECK(probe->entry_bytes == 32);
}

TEST_CASE("metadata that only grows has the checksum of what is committed", "[engine][meta]") {
    Engine engine;
    Dof dof;
    dof.ecb("test:::go", {dof.trace(arg(0))});
    auto image = dof.build();
    for (const char* function : {"a", "b", "c"})
        engine.probe("test", "m", function, "go");
    auto* consumer = engine.start(image);
    uint32_t checked = 0;
    dbk_region region;
    for (uint32_t i = 0; dbk_consumer_region(consumer, i, &region); i++) {
        const auto* header = static_cast<const dbk_meta_header*>(region.pages->address);
        if (header->magic != DBK_META_MAGIC)
            continue;
        const auto* bytes = reinterpret_cast<const uint8_t*>(header);
        bool grows = header->kind == DBK_META_DOF || header->kind == DBK_META_PROBES ||
                     header->kind == DBK_META_ECBS;
        uint32_t crc =
            dbk_crc32c(dbk_crc32c(0, bytes + 16, 24), bytes + 64, header->committed_bytes - 64);
        bool found = false;
        for (uint64_t word : header->checksum)
            found |= word == (uint64_t{crc} << 32 | header->committed_bytes);
        CHECK(found == grows);
        checked += grows;
    }
    CHECK(checked == 3);
}
