// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>
#include <functional>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::test::RingBuilder;

namespace {

Recording build(Bytes metadata) {
    RecordingBuilder builder;
    builder.add_owned(std::move(metadata), {"metadata"});
    return builder.build();
}

/// Calls change(block) for each metadata block of the kind.
void each_block(Bytes& memory, uint16_t kind, const std::function<void(std::byte*)>& change) {
    for (size_t at = 0; at < memory.size(); at += 4096) {
        dbk_meta_header header;
        std::memcpy(&header, memory.data() + at, sizeof(header));
        if (header.magic == DBK_META_MAGIC && header.kind == kind)
            change(memory.data() + at);
    }
}

} // namespace

TEST_CASE("host, ring, probes, ECBs and counters are read", "[segment][meta]") {
    RingBuilder ring({.ring_id = 3, .cpu_count = 2, .name = "boot"});
    uint32_t read = ring.add_probe("syscall", "vmlinux", "read", "entry");
    uint32_t tick = ring.add_probe("profile", "", "", "tick-1s");
    ring.add_ecb(read, {RingBuilder::integer_field(8, 4, 2), RingBuilder::integer_field(12, 4)}, 16,
                 0, 9);
    ring.add_ecb(tick, {}, 8);
    ring.record(1, 2, 700, {});
    Recording recording = build(ring.metadata_memory());
    REQUIRE(recording.host);
    CHECK(recording.host->release == "6.1.0-test");
    CHECK(recording.host->cpu_count == 2);
    CHECK(recording.host->kernel_text_start == 0xffffffff81000000);
    CHECK(recording.boot_id == 0x1122334455667788);
    const RingRecording* found = recording.find_ring(3);
    REQUIRE(found);
    CHECK(found->info.name == "boot");
    CHECK(found->info.facts.segments_per_cpu == 4);
    CHECK(found->find_probe(read)->function == "read");
    CHECK(found->find_probe(tick)->name == "tick-1s");
    CHECK(found->find_probe(tick)->module.empty());
    CHECK(found->find_probe(99) == nullptr);
    const EcbInfo* ecb = found->ecbs.find(1);
    REQUIRE(ecb);
    CHECK(ecb->probe_id == read);
    CHECK(ecb->ecbdesc == 9);
    CHECK(ecb->fields.at(0).action == 2);
    REQUIRE(found->cpus.size() == 2);
    CHECK(found->cpus[1].counters->records == 1);
    CHECK(found->clock.boot_ns(600) == 700);
}

TEST_CASE("a DOF image comes back whole from its parts", "[segment][meta]") {
    RingBuilder ring;
    Bytes small(17, std::byte{1}), large(20001);
    for (size_t i = 0; i < large.size(); i++)
        large[i] = static_cast<std::byte>(i * 7);
    ring.add_dof(small);
    ring.add_dof(large);
    Recording recording = build(ring.metadata_memory());
    const RingRecording& found = recording.rings.at(0);
    REQUIRE(found.dof.size() == 2);
    CHECK(found.find_dof(0)->bytes == small);
    CHECK(found.find_dof(1)->bytes == large);
    CHECK(found.find_dof(2) == nullptr);
    CHECK(recording.findings.count() == 0);
}

TEST_CASE("an image with a part missing is not half an image", "[segment][meta]") {
    RingBuilder ring;
    ring.add_dof(Bytes(20001, std::byte{7}));
    Bytes memory = ring.metadata_memory();
    int part = 0;
    each_block(memory, DBK_META_DOF, [&](std::byte* block) {
        if (part++ == 1)
            std::memset(block, 0, 4);
    });
    REQUIRE(part == 3);
    Recording recording = build(std::move(memory));
    CHECK(recording.rings.at(0).find_dof(0) == nullptr);
    REQUIRE(recording.findings.list().size() == 1);
    CHECK(recording.findings.list()[0].kind == FindingKind::missing_dof);
    CHECK(recording.findings.list()[0].text == "the image has 3 parts, 2 found");
    CHECK(recording.has_losses());
}

TEST_CASE("the fullest copy of a growing block is kept", "[segment][meta]") {
    RingBuilder ring;
    ring.add_probe("p", "m", "f", "one");
    Bytes early = ring.metadata_memory();
    ring.add_probe("p", "m", "f", "two");
    Bytes late = ring.metadata_memory();
    for (bool early_first : {true, false}) {
        RecordingBuilder builder;
        builder.add_owned(early_first ? early : late, {"a"});
        builder.add_owned(early_first ? late : early, {"b"});
        CHECK(builder.build().rings.at(0).probes.size() == 2);
    }
}

TEST_CASE("counters that counted further are the newer ones", "[segment][meta]") {
    RingBuilder ring;
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {}, 8);
    ring.record(0, epid, 1000, {});
    Bytes early = ring.metadata_memory();
    ring.record(0, epid, 1001, {});
    RecordingBuilder builder;
    builder.add_owned(ring.metadata_memory(), {"late"});
    builder.add_owned(early, {"early"});
    CHECK(builder.build().rings.at(0).cpus.at(0).counters->records == 2);
}

TEST_CASE("an entry that contradicts itself is reported; those before it stay", "[segment][meta]") {
    RingBuilder ring;
    ring.add_probe("prov", "m", "f", "one");
    ring.add_probe("prov", "m", "f", "two");
    Bytes memory = ring.metadata_memory();
    uint32_t bytes = 0;
    SECTION("no length") {
        bytes = 0;
    }
    SECTION("not aligned") {
        bytes = 30;
    }
    SECTION("past the block") {
        bytes = 4096 * 8;
    }
    each_block(memory, DBK_META_PROBES,
               [&](std::byte* block) { std::memcpy(block + 64 + 32, &bytes, 4); });
    Recording recording = build(std::move(memory));
    CHECK(recording.rings.at(0).probes.size() == 1);
    REQUIRE(recording.findings.list().size() == 1);
    CHECK(recording.findings.list()[0].kind == FindingKind::bad_metadata);
    CHECK(recording.findings.list()[0].where == "ring 1 metadata PROBES 0.0");
}

TEST_CASE("an ECB with more fields than its entry holds is refused alone", "[segment][meta]") {
    RingBuilder ring;
    uint32_t probe = ring.add_probe("p", "m", "f", "n");
    ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    Bytes memory = ring.metadata_memory();
    uint16_t count = 0;
    SECTION("two") {
        count = 2;
    }
    SECTION("very many") {
        count = 65535;
    }
    each_block(memory, DBK_META_ECBS,
               [&](std::byte* block) { std::memcpy(block + 64 + 14, &count, 2); });
    Recording recording = build(std::move(memory));
    CHECK(recording.rings.at(0).ecbs.find(1) == nullptr);
    CHECK(recording.rings.at(0).ecbs.find(2) != nullptr);
    CHECK(recording.findings.count() == 1);
}

TEST_CASE("a block of an unknown kind is left out and is not a loss", "[segment][meta]") {
    RingBuilder ring;
    Bytes memory = ring.metadata_memory();
    each_block(memory, DBK_META_PROBES, [&](std::byte* block) {
        uint16_t kind = 77;
        std::memcpy(block + 6, &kind, 2);
    });
    Recording recording = build(std::move(memory));
    REQUIRE(recording.findings.list().size() == 1);
    CHECK(recording.findings.list()[0].kind == FindingKind::unknown_kind);
    CHECK_FALSE(recording.findings.any_loss());
}
