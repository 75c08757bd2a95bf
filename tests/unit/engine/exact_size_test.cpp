// SPDX-License-Identifier: Apache-2.0
//
// Records, keys and speculations that fit exactly, or by one byte do not; and what pads them.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/lowered.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

constexpr uint32_t kFresh = 4096 - DBK_SEGMENT_DATA_OFFSET;

/// The string at arg0.
Difo text() {
    return {{ldgs(DIF_VAR_ARG0, 1), ret(1)}, string_type()};
}
Action stack(uint64_t frames) {
    return {DTRACEACT_STACK, DOF_SECIDX_NONE, frames};
}
Dof small() {
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 16 * 4096);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    return dof;
}

} // namespace

TEST_CASE("a record as large as a segment's room is recorded, a larger one is a drop",
          "[engine][size]") {
    // 16 bytes of header, length and reference before the frames.
    constexpr uint64_t kFrames = (kFresh - 16) / 8;
    for (uint64_t frames : {kFrames - 1, kFrames, kFrames + 1}) {
        for (bool first : {true, false}) {
            Engine engine;
            auto& go = engine.probe("test", "m", "f", "go");
            auto& other = engine.probe("test", "m", "f", "other");
            Dof dof = small();
            dof.ecb("test:::go", {stack(frames)});
            dof.ecb("test:::other", {dof.trace(arg(0))});
            auto* consumer = engine.start(dof.build());
            host.stack.assign(frames, 0x1234);
            if (!first)
                engine.fire(other, {1});
            engine.fire(go);
            engine.fire(other, {2});
            uint64_t fits = frames <= kFrames;
            CHECK(drops(consumer, DBK_DROP_TOOBIG) == 1 - fits);
            CHECK(records(consumer).size() == fits + 1 + !first);
        }
    }
}

TEST_CASE("no record is longer than its 16-bit offsets", "[engine][size]") {
    for (size_t stacks : {1u, 2u}) { // 4096 bytes each, after 57344 of strings
        Engine engine;
        auto& go = engine.probe("test", "m", "f", "go");
        Dof dof;
        dof.option(DTRACEOPT_STRSIZE, 8192);
        dof.option(DTRACEOPT_BUFSIZE, 4 << 20);
        dof.option(DBK_OPT_SEGMENTSIZE, 1 << 20);
        std::vector<Action> list(7, dof.trace(text()));
        list.resize(7 + stacks, stack(512));
        dof.ecb("test:::go", list);
        auto* consumer = engine.start(dof.build());
        host.stack.assign(512, 0x1234);
        host.kernel_memory[0x1000] = std::string(8191, 's') + '\0';
        engine.fire(go, {0x1000});
        CHECK(dbk_consumer_counters(consumer, 0)->errors == 0);
        CHECK(records(consumer).size() == (stacks == 1));
        CHECK(drops(consumer, DBK_DROP_TOOBIG) == (stacks != 1));
    }
}

TEST_CASE("bytes that pad a string are zero, in records and in keys", "[engine][size]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    auto& fails = engine.probe("test", "m", "f", "fails");
    Dof dof = small();
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_COUNT, {text()}));
    dof.ecb("test:::go", {dof.trace(text())});
    dof.ecb("test:::fails", {dof.trace(text()), dof.trace({{load(DIF_OP_LDX, 0, 1), ret(1)}})});
    auto* consumer = engine.start(dof.build());
    host.kernel_memory[0x1000] = std::string("ab\0", 3);
    host.kernel_memory[0x2000] = std::string(60, 'z') + '\0';
    for (int i = 0; i < 3; i++) {
        engine.fire(go, {0x1000});
        engine.fire(fails, {0x2000}); // leaves its string where the next record comes
        engine.fire(go, {0x2000});
    }
    CHECK(snapshot(consumer).size() == 2);
    for (const auto& record : records(consumer)) {
        auto ref = record.tail(12);
        size_t end = 16 + ref.size();
        for (size_t i = end; i < record.bytes.size(); i++)
            CHECK(record.bytes[i] == 0);
    }
}

TEST_CASE("bytes that pad an integer are zero in keys", "[engine][size]") {
    Engine engine;
    auto& go = engine.probe("test", "m", "f", "go");
    Dof dof = small();
    dof.option(DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE);
    // Keys are built in one place: of 8 bytes, then of 4.
    dof.ecb("test:::go", dof.aggregate(1, DTRACEAGG_COUNT, {{{ldgs(DIF_VAR_ARG0, 1), ret(1)}}}));
    dof.ecb("test:::go", dof.aggregate(2, DTRACEAGG_COUNT,
                                       {{{ldgs(DIF_VAR_ARG0 + 1, 1), ret(1)}, int_type(4)}}));
    auto* consumer = engine.start(dof.build());
    for (uint64_t i = 0; i < 3; i++)
        engine.fire(go, {~i << 32, 7});
    CHECK(snapshot(consumer).size() == 3 + 1);
}

TEST_CASE("a speculative record that is kept can be committed", "[engine][size]") {
    for (uint64_t frames = kFresh / 8 - 20; frames <= kFresh / 8; frames++) {
        Engine engine;
        auto& ask = engine.probe("test", "m", "f", "ask");
        auto& speculate = engine.probe("test", "m", "f", "speculate");
        auto& commit = engine.probe("test", "m", "f", "commit");
        Dof dof = small();
        dof.option(DTRACEOPT_SPECSIZE, 1 << 16);
        dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
        dof.ecb("test:::speculate", {{DTRACEACT_SPECULATE, dof.difo(constant(1))}, stack(frames)});
        dof.ecb("test:::commit", {{DTRACEACT_COMMIT, dof.difo(constant(1))}});
        auto* consumer = engine.start(dof.build());
        host.stack.assign(frames, 0x1234);
        engine.fire(ask);
        engine.fire(speculate);
        engine.fire(commit);
        INFO(frames);
        CHECK(records(consumer).size() + drops(consumer, DBK_DROP_SPEC) == 2);
        CHECK(drops(consumer, DBK_DROP_PRINCIPAL) == 0);
        for (const auto& [sequence, header] : segments(consumer, 0))
            CHECK(header->committed_bytes <= 4096);
    }
}

TEST_CASE("small buffers count DTrace's bytes, alignment included", "[engine][size]") {
    // A record without data has 4 bytes; one of 8 bytes begins at a multiple of 8 and has 16.
    for (uint64_t bufsize : {uint64_t{24}, uint64_t{32}}) {
        Engine engine;
        auto& four = engine.probe("test", "m", "f", "four");
        auto& sixteen = engine.probe("test", "m", "f", "sixteen");
        Dof dof;
        dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_SWITCH);
        dof.option(DTRACEOPT_BUFSIZE, bufsize);
        dof.ecb("test:::four", {});
        dof.ecb("test:::sixteen", {dof.trace(arg(0))});
        auto* consumer = engine.start(dof.build());
        engine.fire(four);
        engine.fire(sixteen); // up to 24
        engine.fire(four);
        CHECK(drops(consumer, DBK_DROP_PRINCIPAL) == (bufsize == 24 ? 1 : 0));
    }
}

TEST_CASE("policy fill takes nothing after the first record that did not fit", "[engine][size]") {
    Engine engine;
    auto& four = engine.probe("test", "m", "f", "four");
    auto& sixteen = engine.probe("test", "m", "f", "sixteen");
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 24);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL);
    dof.ecb("test:::four", {});
    dof.ecb("test:::sixteen", {dof.trace(arg(0))});
    auto* consumer = engine.start(dof.build());
    engine.fire(sixteen);
    engine.fire(sixteen);
    engine.fire(four); // would fit
    CHECK(records(consumer).size() == 1);
    CHECK(drops(consumer, DBK_DROP_FILLED) == 2);
}

TEST_CASE("policy fill takes nothing after the first commit that did not fit", "[engine][size]") {
    Engine engine;
    auto& ask = engine.probe("test", "m", "f", "ask");
    auto& speculate = engine.probe("test", "m", "f", "speculate");
    auto& commit = engine.probe("test", "m", "f", "commit");
    auto& four = engine.probe("test", "m", "f", "four");
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 64);
    dof.option(DTRACEOPT_SPECSIZE, 4096);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_FILL);
    dof.ecb("test:::ask", {dof.trace({{call(DIF_SUBR_SPECULATION, 1), ret(1)}})});
    dof.ecb("test:::speculate",
            {{DTRACEACT_SPECULATE, dof.difo(constant(1))}, dof.trace(arg(0))});
    dof.ecb("test:::commit", {{DTRACEACT_COMMIT, dof.difo(constant(1))}});
    dof.ecb("test:::four", {});
    auto* consumer = engine.start(dof.build());
    engine.fire(ask);
    for (uint64_t i = 0; i < 10; i++)
        engine.fire(speculate, {i});
    engine.fire(commit);
    CHECK(drops(consumer, DBK_DROP_FILLED) == 10);
    engine.fire(four); // would fit
    CHECK(records(consumer).size() == 1);
    CHECK(drops(consumer, DBK_DROP_FILLED) == 11);
}

TEST_CASE("of two checksums of a block one is for what was there before", "[engine][size]") {
    Engine engine;
    alignas(4096) static uint8_t memory[4096];
    std::memset(memory, 0, sizeof(memory));
    dbk_pages pages{memory, 0, sizeof(memory), 0, nullptr};
    dbk_meta_block_init(&pages, DBK_META_HOST, 0xb007, 1);
    const auto* header = reinterpret_cast<const dbk_meta_header*>(memory);
    uint64_t entry[3] = {1, 2, 3}, last = 0, last_crc = 0;
    for (uint32_t round = 1; round < 10; round++) {
        REQUIRE(dbk_meta_block_append(&pages, entry, sizeof(entry)));
        uint32_t now =
            static_cast<uint32_t>(header->checksum[0]) == header->committed_bytes ? 0 : 1;
        CHECK(static_cast<uint32_t>(header->checksum[now]) == header->committed_bytes);
        CHECK(header->checksum[now ^ 1] == (last_crc << 32 | last));
        last = header->committed_bytes;
        last_crc = header->checksum[now] >> 32;
    }
}
