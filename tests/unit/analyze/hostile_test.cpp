// SPDX-License-Identifier: Apache-2.0
//
// Small hostile files, and the memory that reading, describing and printing them takes.  All of
// this program's operator new is counted, so the verdict depends on nothing but the file.
#include "analyze/info.hpp"
#include "analyze/report.hpp"
#include "formats/trace/message.hpp"
#include "tests/support/raw_message.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

std::atomic<size_t> live_bytes, peak_bytes;

void* counted(size_t bytes) {
    void* memory = std::malloc(bytes ? bytes : 1);
    if (!memory)
        std::abort();
    size_t live = live_bytes += malloc_usable_size(memory);
    peak_bytes = std::max<size_t>(peak_bytes, live);
    return memory;
}

void give_back(void* memory) {
    if (memory)
        live_bytes -= malloc_usable_size(memory);
    std::free(memory);
}

} // namespace

void* operator new(size_t bytes) {
    return counted(bytes);
}
void* operator new[](size_t bytes) {
    return counted(bytes);
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    return counted(bytes);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    give_back(memory);
}
void operator delete(void* memory) noexcept {
    give_back(memory);
}
void operator delete[](void* memory) noexcept {
    give_back(memory);
}
void operator delete(void* memory, size_t) noexcept {
    give_back(memory);
}
void operator delete[](void* memory, size_t) noexcept {
    give_back(memory);
}

using namespace daybreak;
using namespace daybreak::formats;

namespace {

constexpr size_t kMiB = 1u << 20;

struct HostileFile {
    void add(enum dbk_trace_type type, ByteView raw, unsigned times = 1) {
        for (; times > 0; times--) {
            Bytes block = make_block(type, blocks++, raw, 1);
            bytes.insert(bytes.end(), block.begin(), block.end());
        }
    }
    Bytes bytes;
    uint32_t blocks = 0;
};

/// Returns the most memory that was in use at once, beyond the file, while it is read and printed.
size_t peak_of(const HostileFile& file) {
    size_t before = live_bytes;
    peak_bytes = before;
    Trace trace = parse_trace(file.bytes, "hostile.dbrk").value();
    analyze::StringSink sink;
    analyze::ReportOptions options;
    options.symbols = &trace.symbols;
    (void)analyze::render_report(trace.recording, options, sink);
    (void)analyze::print_info(trace, sink);
    INFO("peak " << (peak_bytes - before) / kMiB << " MiB");
    return peak_bytes - before;
}

/// A metadata block; `body` follows its header.
Bytes metadata(uint16_t kind, uint16_t ring, uint16_t index, ByteView body) {
    dbk_meta_header head = {};
    head.magic = DBK_META_MAGIC;
    head.version = DBK_META_VERSION;
    head.kind = kind;
    head.block_bytes = 4096;
    head.committed_bytes = static_cast<uint32_t>(sizeof(head) + body.size());
    head.boot_id = 1;
    head.ring_id = ring;
    head.index = index;
    head.part_count = 1;
    Bytes block = Bytes(sizeof(head) + (body.size() + 7) / 8 * 8);
    std::memcpy(block.data(), &head, sizeof(head));
    std::memcpy(block.data() + sizeof(head), body.data(), body.size());
    return block;
}

} // namespace

TEST_CASE("large EPIDs and image numbers cost what the file says, no more", "[hostile]") {
    HostileFile file;
    for (uint16_t ring = 1; ring <= 2000; ring++) {
        dbk_meta_ecb ecb = {};
        ecb.entry_bytes = sizeof(ecb);
        ecb.epid = kEpidMax;
        ecb.fixed_bytes = 16;
        file.add(DBK_TRACE_DATA,
                 metadata(DBK_META_ECBS, ring, 0, std::as_bytes(std::span(&ecb, 1))));
        file.add(DBK_TRACE_DATA, metadata(DBK_META_DOF, ring, UINT16_MAX, base::as_bytes("DOF?")));
    }
    CHECK(peak_of(file) < 64 * kMiB);
}

TEST_CASE("what a small file unpacks to is bounded, over all its blocks", "[hostile]") {
    HostileFile file;
    file.add(DBK_TRACE_DATA, Bytes(32 * kMiB), 20);
    CHECK(peak_of(file) < 450 * kMiB);
    Trace trace = parse_trace(file.bytes, "hostile.dbrk").value();
    CHECK(trace.file.raw_data_bytes <= 256 * kMiB + 256 * file.bytes.size());
    CHECK(trace.file.blocks_lost > 10);
    CHECK(trace.has_losses());
}

TEST_CASE("symbols are bounded, and so are the lists of messages", "[hostile]") {
    SymbolTable many;
    for (uint64_t i = 0; i < 500'000; i++)
        many.add(i, 'T', "", "m");
    Bytes stretch = encode_symbols(many, many.symbols());
    HostileFile file;
    file.add(DBK_TRACE_SYMBOLS, stretch, 20);
    size_t peak = peak_of(file);
    CHECK(peak < 450 * kMiB);
    for (test::ListPlace place : {test::ListPlace{3, 3, 1}, {3, 3, 2}, {2, 8, 1}}) {
        HostileFile lists;
        lists.add(DBK_TRACE_DATA, metadata(DBK_META_DOF, 1, 0, base::as_bytes("DOF?")));
        auto type = place.which == 3 ? DBK_TRACE_SUMMARY : DBK_TRACE_INDEX;
        lists.add(type, test::empty_structs(place, 12u << 20, 32 * kMiB));
        CHECK(peak_of(lists) < 100 * kMiB);
        CHECK(parse_trace(lists.bytes, "x").value().file.blocks_lost == 1);
    }
}

TEST_CASE("a text that a message points to again and again is not kept as often", "[hostile]") {
    HostileFile file;
    file.add(DBK_TRACE_DATA, metadata(DBK_META_DOF, 1, 0, base::as_bytes("DOF?")));
    file.add(DBK_TRACE_SUMMARY, test::far_pointers({3, 3, 2}, 100'000, 3, kMiB), 20);
    file.add(DBK_TRACE_HEADER, test::far_pointers({0, 11, 8}, 300'000, 0, kMiB), 20);
    CHECK(peak_of(file) < 64 * kMiB);
    CHECK(parse_trace(file.bytes, "x").value().file.blocks_lost == 40);
}

TEST_CASE("a long recording is read and printed in little memory", "[hostile]") {
    test::RingBuilder ring({.cpu_count = 2, .segment_bytes = 1u << 18, .segments_per_cpu = 200});
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                 {test::RingBuilder::integer_field(8, 8)}, 808);
    for (uint64_t i = 0; i < 120000; i++)
        ring.record(i & 1, epid, 1000 + i, Bytes(800, static_cast<std::byte>(i)));
    HostileFile file;
    file.bytes = test::sample_file(ring, 256u << 10);
    ring = test::RingBuilder();
    CHECK(peak_of(file) < 48 * kMiB); // unpacked it has 93
}

TEST_CASE("what a recording knows of a segment is little", "[hostile]") {
    size_t cost[2] = {};
    constexpr uint32_t kSegments = 8192;
    for (uint32_t times : {1, 2}) {
        test::RingBuilder ring({.cpu_count = 2, .segments_per_cpu = times * kSegments / 2});
        uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                     {test::RingBuilder::integer_field(8, 8)}, 1984);
        for (uint64_t i = 0; i < 2 * times * kSegments; i++) // two in a segment
            ring.record(i & 1, epid, 1000 + i, Bytes(1976));
        std::shared_ptr<base::ByteSource> file =
            base::memory_source(test::sample_file(ring, 256u << 10));
        ring = test::RingBuilder();
        size_t before = peak_bytes = live_bytes.load();
        Trace trace = parse_trace(file, "x").value();
        REQUIRE(trace.recording.rings.at(0).completeness().segments_present == times * kSegments);
        cost[times - 1] = peak_bytes - before;
    }
    INFO(cost[0] << " and " << cost[1] << " bytes");
    CHECK(cost[1] - cost[0] < 160 * kSegments);
}
