// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::RingBuilder;

namespace {

dbk_meta_trigger trigger(uint16_t kind, const char* name, uint64_t mono_ns) {
    dbk_meta_trigger entry = {};
    entry.kind = kind;
    entry.mono_ns = mono_ns;
    std::strncpy(entry.name, name, sizeof(entry.name) - 1);
    return entry;
}

dbk_meta_crash crash(uint32_t state, const char* reason) {
    dbk_meta_crash entry = {};
    entry.state = state;
    entry.count = 1;
    entry.cpu = 3;
    std::strncpy(entry.reason, reason, sizeof(entry.reason) - 1);
    return entry;
}

Recording read(std::initializer_list<std::pair<enum dbk_meta_kind, Bytes>> blocks) {
    RingBuilder ring;
    Bytes memory = ring.metadata_memory();
    for (const auto& [kind, payload] : blocks)
        ring.machine_block(memory, kind, payload);
    RecordingBuilder builder;
    builder.add_owned(std::move(memory), {"metadata"});
    return builder.build();
}

} // namespace

TEST_CASE("the log's ring gives whole lines, oldest first", "[segment][machine]") {
    Recording part = read({{DBK_META_LOG, RingBuilder::log_payload("one\ntwo\n", 32)}});
    CHECK(part.machine.has_log);
    CHECK(part.machine.log == "one\ntwo\n");
    CHECK(part.machine.log_bytes_before == 0);
    Recording full = read({{DBK_META_LOG, RingBuilder::log_payload("0123456\n89abcde\n", 16)}});
    CHECK(full.machine.log == "0123456\n89abcde\n");
    Recording round =
        read({{DBK_META_LOG, RingBuilder::log_payload("one\ntwo\nthree\nfour\n", 16)}});
    CHECK(round.machine.log == "two\nthree\nfour\n");
    CHECK(round.machine.log_bytes_before == 3);
    CHECK(round.findings.count() == 0);
    Recording none = read({});
    CHECK_FALSE(none.machine.has_log);
}

TEST_CASE("what is not text in the log is shown as such or left out", "[segment][machine]") {
    Recording odd =
        read({{DBK_META_LOG, RingBuilder::log_payload(std::string("a\0b\x1b[2J\tc\n", 10), 64)}});
    CHECK(odd.machine.log == "ab?[2J\tc\n");
}

TEST_CASE("a log that lies about its room is read as far as it is there", "[segment][machine]") {
    Bytes payload = RingBuilder::log_payload("one\ntwo\n", 16);
    uint32_t room = 1u << 30;
    std::memcpy(payload.data() + 8, &room, sizeof(room));
    Recording large = read({{DBK_META_LOG, payload}});
    CHECK(large.machine.log == "one\ntwo\n");
    CHECK(large.findings.count() == 1);
    room = 0;
    std::memcpy(payload.data() + 8, &room, sizeof(room));
    Recording nothing = read({{DBK_META_LOG, payload}});
    CHECK_FALSE(nothing.machine.has_log);
    CHECK(nothing.findings.count() == 1);
    uint64_t written = UINT64_MAX;
    room = 16;
    std::memcpy(payload.data(), &written, sizeof(written));
    std::memcpy(payload.data() + 8, &room, sizeof(room));
    CHECK(read({{DBK_META_LOG, payload}}).machine.log_bytes_before == UINT64_MAX - 16);
}

TEST_CASE("a panic says more than a shutdown, and that more than an oops", "[segment][machine]") {
    Recording none = read({{DBK_META_CRASH, RingBuilder::crash_payload({})}});
    CHECK(none.machine.end() == nullptr);
    Recording oops =
        read({{DBK_META_CRASH, RingBuilder::crash_payload({crash(DBK_CRASH_OOPS, "Oops")})}});
    REQUIRE(oops.machine.end());
    CHECK(oops.machine.end()->state == DBK_CRASH_OOPS);
    Recording order =
        read({{DBK_META_CRASH, RingBuilder::crash_payload({crash(DBK_CRASH_OOPS, "Oops"),
                                                           crash(DBK_CRASH_RESTART, "halt")})}});
    CHECK(order.machine.end()->state == DBK_CRASH_RESTART);
    Recording all =
        read({{DBK_META_CRASH,
               RingBuilder::crash_payload({crash(DBK_CRASH_OOPS, "Oops"),
                                           crash(DBK_CRASH_PANIC, "sysrq triggered crash\n\x1b[0m"),
                                           crash(DBK_CRASH_RESTART, "halt")})}});
    REQUIRE(all.machine.end());
    CHECK(all.machine.end()->state == DBK_CRASH_PANIC);
    CHECK(all.machine.end()->reason == "sysrq triggered crash??[0m");
    CHECK(all.machine.end()->cpu == 3);
    CHECK(all.machine.ends.size() == 3);
    CHECK(all.findings.count() == 0);
}

TEST_CASE("an end that is none is left out and reported", "[segment][machine]") {
    Bytes payload = RingBuilder::crash_payload({crash(DBK_CRASH_OOPS, "Oops")});
    payload[320] = std::byte{9};
    Recording wrong = read({{DBK_META_CRASH, payload}});
    CHECK(wrong.machine.ends.size() == 1);
    CHECK(wrong.findings.count() == 1);
    payload.resize(400);
    CHECK(read({{DBK_META_CRASH, payload}}).findings.count() == 1);
}

TEST_CASE("triggers come in order, the overwritten ones counted", "[segment][machine]") {
    std::vector<dbk_meta_trigger> entered;
    for (uint64_t i = 0; i < 5; i++)
        entered.push_back(trigger(DBK_TRIGGER_ACTION, "slow", i * 100));
    entered.push_back(trigger(DBK_TRIGGER_OOM, "oom-kill", 600));
    Recording found = read({{DBK_META_TRIGGERS, RingBuilder::triggers_payload(4, entered)}});
    REQUIRE(found.machine.triggers.size() == 4);
    CHECK(found.machine.triggers_entered == 6);
    CHECK(found.machine.triggers[0].sequence == 3);
    CHECK(found.machine.triggers[0].name == "slow");
    CHECK(found.machine.triggers[3].kind == DBK_TRIGGER_OOM);
    CHECK(found.machine.triggers[3].mono_ns == 600);
    CHECK(trigger_kind_text(DBK_TRIGGER_OOM) == "oom-kill");
    CHECK(trigger_kind_text(77) == "kind 77");
    CHECK(found.findings.count() == 0);
}

TEST_CASE("a trigger that is being entered, or in a wrong place, is left out",
          "[segment][machine]") {
    Bytes payload = RingBuilder::triggers_payload(4, {trigger(DBK_TRIGGER_OOPS, "oops", 1),
                                                      trigger(DBK_TRIGGER_OOPS, "oops", 2),
                                                      trigger(DBK_TRIGGER_OOPS, "oops", 3)});
    uint64_t none = 0, other = 4;
    std::memcpy(payload.data() + 16, &none, sizeof(none));
    std::memcpy(payload.data() + 16 + 96, &other, sizeof(other));
    std::memcpy(payload.data() + 16 + 3 * 96, &other, sizeof(other)); // above `entered`
    Recording found = read({{DBK_META_TRIGGERS, payload}});
    REQUIRE(found.machine.triggers.size() == 1);
    CHECK(found.machine.triggers[0].sequence == 3);
    CHECK(found.findings.count() == 1);
    uint32_t slots = 0;
    std::memcpy(payload.data() + 8, &slots, sizeof(slots));
    CHECK(read({{DBK_META_TRIGGERS, payload}}).machine.triggers.empty());
    slots = UINT32_MAX;
    std::memcpy(payload.data() + 8, &slots, sizeof(slots));
    CHECK(read({{DBK_META_TRIGGERS, payload}}).findings.count() == 1);
}

TEST_CASE("of two copies of a block the one that knows more is read", "[segment][machine]") {
    Recording found =
        read({{DBK_META_LOG, RingBuilder::log_payload("one\ntwo\n", 64)},
              {DBK_META_LOG, RingBuilder::log_payload("one\n", 64)},
              {DBK_META_CRASH, RingBuilder::crash_payload({crash(DBK_CRASH_PANIC, "why")})},
              {DBK_META_CRASH, RingBuilder::crash_payload({})},
              {DBK_META_TRIGGERS,
               RingBuilder::triggers_payload(4, {trigger(DBK_TRIGGER_OOPS, "oops", 1)})},
              {DBK_META_TRIGGERS, RingBuilder::triggers_payload(4, {})}});
    CHECK(found.machine.log == "one\ntwo\n");
    REQUIRE(found.machine.end());
    CHECK(found.machine.triggers.size() == 1);
}
