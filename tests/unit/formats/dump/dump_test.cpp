// SPDX-License-Identifier: Apache-2.0
#include "formats/dump/dump.hpp"

#include "base/crc32c.hpp"
#include "formats/abi/bank.h"
#include "formats/dump/piece_finder.hpp"
#include "formats/dump/unpack.hpp"
#include "tests/support/dump_writer.hpp"

#include <catch2/catch.hpp>
#include <thread>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::formats;
using namespace daybreak::test;

namespace {

RingBuilder make_ring(uint64_t records = 60) {
    RingBuilder ring({.segments_per_cpu = 8});
    uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
    uint32_t epid = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < records; i++)
        ring.record(0, epid, 1000 + i, RingBuilder::words({i}));
    return ring;
}

Machine make_machine() {
    Machine machine(2 << 20);
    RingBuilder ring = make_ring(600);
    machine.place(0x40000, ring.segment_memory(0));
    machine.place(0x80000, ring.metadata_memory());
    return machine;
}

/// Everything that was found, built.
struct Found {
    DumpFacts facts;
    FinderCounts counts;
    std::vector<DumpPiece> pieces;
    Recording recording;
};

Found look_through(DumpInput& input, ScanOptions options = {}) {
    Found found;
    PieceFinder finder;
    auto facts = scan_dump(input, finder, options);
    INFO((facts.ok() ? "" : facts.error().message()));
    REQUIRE(facts.ok());
    found.facts = *facts;
    found.pieces = finder.finish();
    found.counts = finder.counts();
    RecordingBuilder builder;
    for (const DumpPiece& piece : found.pieces)
        if (!piece.unusable)
            builder.add_bytes(piece.bytes, {"dump", Packing::packed, std::nullopt});
    found.recording = builder.build();
    return found;
}

Found look_through(const Bytes& dump, ScanOptions options = {}) {
    return look_through(*memory_input(dump), std::move(options));
}

uint64_t records_of_ring(const Recording& recording) {
    const RingRecording* ring = recording.find_ring(1);
    return ring ? ring->completeness().present : 0;
}

ErrorCode error_of(const Bytes& dump) {
    PieceFinder finder;
    auto facts = scan_dump(*memory_input(dump), finder, {});
    REQUIRE(!facts.ok());
    return facts.error().code();
}

void check_whole(const Found& found) {
    CHECK(records_of_ring(found.recording) == 600);
    CHECK(!found.recording.has_losses());
    CHECK(found.facts.bytes_present == 2 << 20);
    CHECK(found.facts.bytes_excluded == 0);
    CHECK(!found.facts.cut);
}

} // namespace

TEST_CASE("a raw image gives its rings", "[dump]") {
    Machine machine = make_machine();
    check_whole(look_through(machine.memory()));
}

TEST_CASE("a part of a physical image needs its address", "[dump]") {
    Machine machine = make_machine();
    Bytes part(machine.memory().begin() + 0x40000, machine.memory().end());
    CHECK(look_through(part).pieces.empty());
    CHECK(look_through(part).counts.stale_copies > 5);
    CHECK(records_of_ring(
              look_through(part, {.raw_phys_addr = 0x40000, .progress = {}}).recording) == 600);
}

TEST_CASE("the image of a bank says where it lay", "[dump]") {
    Machine machine = make_machine();
    dbk_bank_header header = {};
    header.magic = DBK_BANK_MAGIC;
    header.phys_addr = 0x3f000;
    header.crc32c = base::crc32c(ByteView(reinterpret_cast<const std::byte*>(&header), 60));
    machine.put(0x3f000, ByteView(reinterpret_cast<const std::byte*>(&header), sizeof(header)));
    Bytes image(machine.memory().begin() + 0x3f000, machine.memory().end());
    CHECK(records_of_ring(look_through(image).recording) == 600);
    image[17] ^= std::byte{1}; // the checksum does not hold: it is not believed
    CHECK(look_through(image).pieces.empty());
}

TEST_CASE("an ELF dump gives its rings, its kernel and its time", "[dump]") {
    Found found = look_through(elf_dump(make_machine()));
    check_whole(found);
    CHECK(found.facts.format == DumpFormat::elf);
    CHECK(found.facts.release == "6.1.0-test");
    CHECK(found.facts.crash_time_s == 1700000000);
}

TEST_CASE("ELF and raw dumps are read from a pipe", "[dump]") {
    Machine machine = make_machine();
    for (const Bytes& dump : {elf_dump(machine), machine.memory()}) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        std::thread writer([&] {
            for (size_t at = 0; at < dump.size();) {
                ssize_t wrote =
                    ::write(ends[1], dump.data() + at, std::min<size_t>(dump.size() - at, 5000));
                if (wrote <= 0)
                    break;
                at += static_cast<size_t>(wrote);
            }
            ::close(ends[1]);
        });
        check_whole(look_through(*pipe_input(ends[0], "pipe")));
        writer.join();
        ::close(ends[0]);
    }
}

TEST_CASE("a kdump-compressed dump gives its rings, however packed", "[dump]") {
    Machine machine = make_machine();
    for (const Bytes& dump :
         {kdump_dump(machine, 1, zlib_packed), kdump_dump(machine, 0x20, zstd_packed),
          kdump_dump(machine, 0, nullptr)}) {
        Found found = look_through(dump);
        check_whole(found);
        CHECK(found.facts.format == DumpFormat::kdump);
        CHECK(found.facts.release == "6.1.0-test");
        CHECK(found.facts.hostname == "deadhost");
    }
}

TEST_CASE("a flattened dump gives its rings, its pieces in any order", "[dump]") {
    Found found = look_through(flattened(kdump_dump(make_machine(), 1, zlib_packed)));
    check_whole(found);
    CHECK(found.facts.format == DumpFormat::flattened);
}

TEST_CASE("what needs a file says so on a pipe", "[dump]") {
    Machine machine = make_machine();
    Bytes kdump = kdump_dump(machine, 1, zlib_packed);
    for (const Bytes& dump : {kdump, flattened(kdump)}) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        REQUIRE(::write(ends[1], dump.data(), 60000) == 60000);
        ::close(ends[1]);
        PieceFinder finder;
        auto facts = scan_dump(*pipe_input(ends[0], "pipe"), finder, {});
        ::close(ends[0]);
        REQUIRE(!facts.ok());
        CHECK(facts.error().code() == ErrorCode::unsupported);
    }
}

TEST_CASE("a piece with a hole is cut there, and the bytes are counted", "[dump]") {
    RingBuilder ring({.segment_bytes = 16384, .segments_per_cpu = 2});
    uint32_t probe = ring.add_probe("p", "m", "f", "n");
    uint32_t epid = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 1000; i++)
        ring.record(0, epid, 1000 + i, RingBuilder::words({i}));
    Machine machine(1 << 20);
    machine.place(0x40000, ring.segment_memory(0));
    machine.place(0x80000, ring.metadata_memory());
    machine.exclude(0x42000);
    for (const Bytes& dump : {elf_dump(machine), kdump_dump(machine, 1, zlib_packed)}) {
        Found found = look_through(dump);
        REQUIRE(found.pieces.size() >= 2);
        CHECK(found.pieces[0].missing_bytes == 128 + 1000 * 16 - 8192);
        CHECK(found.facts.bytes_excluded == 4096);
        // 8192 bytes less the header of 128, 16 each: 504; all in order, none made up.
        const RingRecording* read = found.recording.find_ring(1);
        REQUIRE(read);
        REQUIRE(read->cpus[0].segments.size() == 1);
        CHECK(read->cpus[0].segments[0].record_count == 504);
        RecordCursor cursor = records_of(read->cpus[0].segments[0], *read);
        RecordView record;
        for (uint64_t i = 0; cursor.next(record); i++)
            REQUIRE(record.integer(0) == i);
        CHECK(found.recording.has_losses());
    }
}

TEST_CASE("an excluded page of zeros is not a hole when the checksum holds", "[dump]") {
    RingBuilder ring({.segment_bytes = 16384, .segments_per_cpu = 1});
    uint32_t probe = ring.add_probe("p", "m", "f", "n");
    ring.add_ecb(probe, {RingBuilder::tail_field(12, DBK_FIELD_STRING)}, 16, DBK_ECB_F_VARIABLE);
    Bytes text(14000);
    ring.record(0, 1, 1000, RingBuilder::tail_body(text));
    Bytes segment = ring.segment_memory(0);
    Machine machine(1 << 20);
    auto place = [&](bool right) {
        dbk_segment_header header;
        std::memcpy(&header, segment.data(), sizeof(header));
        header.phys_addr = 0x40000;
        header.flags |= DBK_SEGMENT_F_SEALED;
        header.crc32c = 0;
        std::memcpy(segment.data(), &header, sizeof(header));
        header.crc32c = segment_checksum(ByteView(segment).first(header.committed_bytes)) + !right;
        std::memcpy(segment.data(), &header, sizeof(header));
        machine.put(0x40000, segment);
    };
    machine.exclude(0x41000);
    place(true);
    Found found = look_through(elf_dump(machine));
    REQUIRE(found.pieces.size() == 1);
    CHECK(found.pieces[0].missing_bytes == 0);
    place(false);
    found = look_through(elf_dump(machine));
    REQUIRE(found.pieces.size() == 1);
    CHECK(found.pieces[0].missing_bytes > 0);
}

TEST_CASE("a copy elsewhere than it says is left out", "[dump]") {
    Machine machine = make_machine();
    Bytes copy(machine.memory().begin() + 0x40000, machine.memory().begin() + 0x44000);
    machine.put(0x100000, copy);
    machine.put(0x120000, make_ring().segment_memory(0)); // a program's: says address 0
    Found found = look_through(elf_dump(machine));
    CHECK(records_of_ring(found.recording) == 600);
    CHECK(found.counts.stale_copies >= 4);
}

TEST_CASE("of two copies of one piece the fuller counts", "[dump]") {
    RingBuilder ring({.segment_bytes = 16384, .segments_per_cpu = 1});
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 900; i++)
        ring.record(0, epid, 1000 + i, RingBuilder::words({i}));
    Machine machine(1 << 20);
    machine.place(0x40000, ring.segment_memory(0));
    ByteView memory = machine.memory();
    PieceFinder finder;
    bool fuller_first = GENERATE(false, true);
    for (bool whole : {fuller_first, !fuller_first}) { // as a kernel's image is in a dump
        REQUIRE(finder.pages(0x40000, memory.subspan(0x40000, whole ? 4 * kPage : 2 * kPage)).ok());
        REQUIRE(finder.pages(0, memory.first(kPage)).ok());
    }
    std::vector<DumpPiece> pieces = finder.finish();
    REQUIRE(pieces.size() == 1);
    CHECK(pieces[0].missing_bytes == 0);
}

TEST_CASE("of two that overlap the outer one counts only when its checksum holds", "[dump]") {
    RingBuilder old({.ring_id = 7, .segment_bytes = 65536, .segments_per_cpu = 1});
    uint32_t probe = old.add_probe("p", "m", "f", "n");
    uint32_t epid = old.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 4000; i++)
        old.record(0, epid, 1000 + i, RingBuilder::words({i}));
    Machine machine(1 << 20);
    machine.place(0x40000, old.segment_memory(0));
    RingBuilder ring = make_ring(200);
    machine.place(0x44000, ring.segment_memory(0)); // the memory was given to a new ring
    Found found = look_through(elf_dump(machine));
    CHECK(found.counts.overlapped == 1);
    for (const DumpPiece& piece : found.pieces)
        CHECK(piece.piece.segment.ring_id == 1);
    CHECK(found.pieces.size() == 1);
}

TEST_CASE("pieces begun inside of one another do not pile up", "[dump]") {
    Machine machine(4 << 20);
    dbk_meta_header header = {};
    header.magic = DBK_META_MAGIC;
    header.version = DBK_META_VERSION;
    header.kind = DBK_META_PROBES;
    header.block_bytes = header.committed_bytes = DBK_META_BLOCK_BYTES_MAX;
    header.part_count = 1;
    for (size_t at = 0; at < machine.memory().size(); at += kPage) {
        header.phys_addr = at;
        std::memcpy(machine.memory().data() + at, &header, sizeof(header));
    }
    Found found = look_through(machine.memory());
    size_t bytes = 0;
    for (const DumpPiece& piece : found.pieces)
        bytes += piece.bytes.size();
    CHECK(bytes <= 2 * machine.memory().size());
}

TEST_CASE("every cut of a dump is an error or a shorter dump", "[dump]") {
    Machine machine(256 << 10);
    RingBuilder ring = make_ring();
    machine.place(0x10000, ring.segment_memory(0));
    machine.place(0x20000, ring.metadata_memory());
    Bytes kdump = kdump_dump(machine, 1, zlib_packed);
    for (const Bytes& dump : {elf_dump(machine), kdump, flattened(kdump)})
        for (size_t cut = 0; cut < dump.size(); cut += cut < 600 ? 1 : 997) {
            Bytes shorter(dump.begin(), dump.begin() + static_cast<ptrdiff_t>(cut));
            PieceFinder finder;
            auto facts = scan_dump(*memory_input(shorter), finder, {});
            if (facts.ok())
                CHECK((facts->format == DumpFormat::raw || facts->cut ||
                       facts->bytes_present < machine.memory().size() || cut + 997 > dump.size()));
        }
}

TEST_CASE("ELF files that are no dumps are refused", "[dump]") {
    Bytes dump = elf_dump(make_machine());
    auto with = [&](size_t offset, std::initializer_list<int> bytes) {
        Bytes changed = dump;
        for (int byte : bytes)
            changed[offset++] = std::byte(byte);
        return changed;
    };
    CHECK(error_of({}) == ErrorCode::invalid);
    CHECK(error_of(with(EI_CLASS, {ELFCLASS32})) == ErrorCode::unsupported);
    CHECK(error_of(with(EI_DATA, {ELFDATA2MSB})) == ErrorCode::unsupported);
    CHECK(error_of(with(offsetof(Elf64_Ehdr, e_type), {ET_EXEC, 0})) == ErrorCode::invalid);
    CHECK(error_of(with(offsetof(Elf64_Ehdr, e_phentsize), {32, 0})) == ErrorCode::corrupt);
    CHECK(error_of(with(offsetof(Elf64_Ehdr, e_phnum), {0, 0})) == ErrorCode::invalid);
    CHECK(error_of(with(0, {0x28, 0xb5, 0x2f, 0xfd})) == ErrorCode::invalid);
    CHECK(error_of(with(0, {0x1f, 0x8b})) == ErrorCode::invalid);
    CHECK(error_of(with(0, {'D', 'B', 'K', 'T'})) == ErrorCode::invalid);
}

TEST_CASE("a note that many headers have is not read for each of them", "[dump]") {
    struct Counter : PieceFinder {
        size_t bytes = 0;
        void vmcoreinfo(std::string_view text) override { bytes += text.size(); }
    };
    Bytes dump = elf_dump(make_machine(), std::string(1 << 20, 'x'));
    Elf64_Ehdr header;
    std::memcpy(&header, dump.data(), sizeof(header));
    Bytes table(dump.begin() + sizeof(header),
                dump.begin() + sizeof(header) + header.e_phnum * sizeof(Elf64_Phdr));
    Bytes note(table.begin(), table.begin() + sizeof(Elf64_Phdr));
    header.e_phoff = dump.size();
    header.e_phnum = static_cast<uint16_t>(header.e_phnum + 1000);
    std::memcpy(dump.data(), &header, sizeof(header));
    dump.insert(dump.end(), table.begin(), table.end());
    for (int i = 0; i < 1000; i++)
        dump.insert(dump.end(), note.begin(), note.end());
    Counter counter;
    REQUIRE(scan_dump(*memory_input(dump), counter, {}).ok());
    CHECK(counter.bytes > 1 << 20);
    CHECK(counter.bytes <= 4 << 20);
}

TEST_CASE("headers that claim too much are refused without allocating", "[dump]") {
    Bytes dump = kdump_dump(make_machine(), 1, zlib_packed);
    auto with = [&](size_t offset, uint64_t value, size_t width) {
        Bytes changed = dump;
        std::memcpy(changed.data() + offset, &value, width);
        return changed;
    };
    CHECK(error_of(with(offsetof(KdumpHeader, block_bytes), 1u << 31, 4)) == ErrorCode::corrupt);
    CHECK(error_of(with(offsetof(KdumpHeader, block_bytes), 0, 4)) == ErrorCode::corrupt);
    CHECK(error_of(with(kPage + offsetof(KdumpSubHeader, max_pfn_64), ~uint64_t{0}, 8)) ==
          ErrorCode::corrupt);
    Found cut = look_through(with(offsetof(KdumpHeader, bitmap_blocks), 0xfffffffe, 4));
    CHECK(cut.facts.cut);
}

TEST_CASE("a page that claims more than a page, or nothing, costs itself only", "[dump]") {
    Bytes dump = kdump_dump(make_machine(), 1, zlib_packed);
    uint32_t claimed = GENERATE(0u, static_cast<uint32_t>(kPage) + 1, 0xffffffffu);
    size_t victim = 4 * kPage + 0x40 * sizeof(KdumpPage) +
                    offsetof(KdumpPage, bytes); // the first segment's page
    std::memcpy(dump.data() + victim, &claimed, sizeof(claimed));
    Found found = look_through(dump);
    CHECK_FALSE(found.facts.cut);
    CHECK(found.facts.bytes_damaged == kPage);
    REQUIRE(found.facts.damage.size() == 1);
    CHECK(found.facts.damage[0].find("claims " + std::to_string(claimed) + " bytes") !=
          std::string::npos);
    CHECK(records_of_ring(found.recording) > 300);
}

TEST_CASE("a page that does not unpack costs itself only", "[dump]") {
    Machine machine = make_machine();
    Bytes dump = kdump_dump(machine, 1, zlib_packed);
    size_t map_bytes = kPage;
    size_t descriptors = 2 * kPage + 2 * map_bytes;
    KdumpPage page;
    size_t victim = 0x40; // the first segment's page
    std::memcpy(&page, dump.data() + descriptors + victim * sizeof(page), sizeof(page));
    dump[page.offset + page.bytes / 2] ^= std::byte{0xff};
    dump[page.offset] ^= std::byte{0xff};
    Found found = look_through(dump);
    CHECK(found.facts.bytes_damaged == kPage);
    REQUIRE(found.facts.damage.size() == 1);
    CHECK(records_of_ring(found.recording) < 600);
    CHECK(records_of_ring(found.recording) > 300);
}

TEST_CASE("a scan ends when it is asked to", "[dump]") {
    Machine machine = make_machine();
    PieceFinder finder;
    ScanOptions options;
    options.progress = [](uint64_t, uint64_t) { return false; };
    for (const Bytes& dump :
         {elf_dump(machine), machine.memory(), kdump_dump(machine, 1, zlib_packed)}) {
        auto facts = scan_dump(*memory_input(dump), finder, options);
        REQUIRE(!facts.ok());
        CHECK(facts.error().code() == ErrorCode::interrupted);
    }
}
