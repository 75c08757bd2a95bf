// SPDX-License-Identifier: Apache-2.0
#include "recorder/recover.hpp"

#include "formats/segment/piece.hpp"
#include "formats/trace/block_store.hpp"
#include "formats/trace/file_reader.hpp"
#include "tests/support/bank_builder.hpp"
#include "tests/support/piece_order.hpp"
#include "tests/support/secret_file.hpp"
#include "tests/support/segment_builder.hpp"
#include "tests/unit/recorder/fake_device.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::recorder;
using formats::FindingKind;
using test::BankImage;
using test::RingBuilder;

namespace {

constexpr uint64_t kBoot = 0x1122334455667788;
constexpr size_t kSegmentBytes = 4096;

/// Gives a metadata block the checksum that meta.md describes.
void seal_block(base::Bytes& memory, size_t at, const dbk_meta_header& meta) {
    if (meta.kind == DBK_META_RING || meta.kind == DBK_META_CPUS)
        return;
    base::ByteView block = base::ByteView(memory).subspan(at, meta.committed_bytes);
    uint32_t crc = base::crc32c(block.subspan(64), base::crc32c(block.subspan(16, 24)));
    uint64_t word = uint64_t{crc} << 32 | meta.committed_bytes;
    std::memcpy(memory.data() + at + offsetof(dbk_meta_header, checksum), &word, sizeof(word));
}

/// Makes pieces in `memory` say that they lie at an address, and seals the segments.
void place(base::Bytes& memory, uint64_t phys_addr) {
    for (size_t at = 0; at + 4096 <= memory.size(); at += 4096) {
        auto piece = formats::parse_piece(base::ByteView(memory).subspan(at));
        if (!piece.ok())
            continue;
        uint64_t here = phys_addr + at;
        bool segment = piece->kind == formats::PieceKind::segment;
        std::memcpy(memory.data() + at +
                        (segment ? offsetof(dbk_segment_header, phys_addr)
                                 : offsetof(dbk_meta_header, phys_addr)),
                    &here, sizeof(here));
        if (!segment) {
            seal_block(memory, at, piece->meta);
            continue;
        }
        uint16_t flags = piece->segment.flags | DBK_SEGMENT_F_SEALED;
        std::memcpy(memory.data() + at + offsetof(dbk_segment_header, flags), &flags, 2);
        uint32_t crc =
            formats::segment_checksum(base::ByteView(memory).subspan(at, piece->committed_bytes));
        std::memcpy(memory.data() + at + offsetof(dbk_segment_header, crc32c), &crc, 4);
    }
}

/// Blocks of a ring as a boot leaves them in a half: its metadata, then eight segments of CPU 0.
base::Bytes blocks_of(BankImage& image, uint32_t half, uint64_t boot_id, uint64_t first,
                      uint32_t drops = 0, bool metadata_last = false) {
    RingBuilder ring({.segment_bytes = kSegmentBytes,
                      .segments_per_cpu = 8,
                      .activity = DBK_ACTIVITY_ACTIVE,
                      .boot_id = boot_id,
                      .name = "counter"});
    uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
    uint32_t epid = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 1200; i++)
        ring.record(0, epid, 1000 + i, RingBuilder::words({first + i}));
    if (drops != 0)
        ring.drop(0, DBK_DROP_MISSED, drops);
    base::Bytes bytes = ring.metadata_memory();
    const base::Bytes& segments = ring.segment_memory(0);
    bytes.insert(metadata_last ? bytes.begin() : bytes.end(), segments.begin(), segments.end());
    place(bytes, BankImage::kAddress + image.header().half_offset[half] + 4096);
    return bytes;
}

BankImage two_boots() {
    BankImage image;
    image.put(0, {.generation = 4, .boot_id = 77, .blocks = blocks_of(image, 0, 77, 0)});
    image.put(1, {.generation = 5, .boot_id = kBoot, .blocks = blocks_of(image, 1, kBoot, 5000)});
    return image;
}

/// Where the n-th of the eight slots of segments of half 1 lies in the image.
uint64_t slot_offset(BankImage& image, size_t slot) {
    base::Bytes blocks = blocks_of(image, 1, kBoot, 5000);
    return image.header().half_offset[1] + 4096 + blocks.size() - (8 - slot) * kSegmentBytes;
}

struct Output {
    std::string path = (std::filesystem::temp_directory_path() /
                        ("daybreak-recover-" + std::to_string(::getpid()) + ".dbrk"))
                           .string();
    ~Output() { std::filesystem::remove(path); }
    bool exists() const { return std::filesystem::exists(path); }
};

/// The numbers that the trace holds, in order.
std::vector<uint64_t> numbers(const formats::Trace& trace) {
    std::vector<uint64_t> found;
    for (const formats::RingRecording& ring : trace.recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            for (const formats::SegmentInfo& segment : cpu.segments) {
                formats::RecordCursor cursor = formats::records_of(segment, ring);
                formats::RecordView record;
                while (cursor.next(record))
                    found.push_back(record.integer(0).value());
            }
    return found;
}

bool has(const std::vector<formats::Finding>& findings, FindingKind kind) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const formats::Finding& finding) { return finding.kind == kind; });
}

/// A device that shows one half.
class BankDevice : public DeviceApi {
public:
    explicit BankDevice(ByteView half) : half_(half) { bank_.use = DBK_BANK_USE_RECORDS; }

    Result<dbk_ioc_bank> bank(uint16_t) override { return bank_; }
    Result<std::optional<dbk_ioc_region>> region(uint32_t index) override {
        if (index > 1)
            return std::optional<dbk_ioc_region>();
        dbk_ioc_region region = {};
        region.kind = index == 0 ? DBK_REGION_META : DBK_REGION_BANK;
        region.cpu = index;
        region.bytes = half_.size();
        return std::optional(region);
    }
    Result<Mapping> map(const dbk_ioc_region&) override {
        return Mapping(half_, [] {});
    }
    Result<dbk_ioc_status> status() override { return dbk_ioc_status{}; }
    Result<std::optional<uint16_t>> claim(uint16_t) override { return no(); }
    Result<void> detach(uint16_t) override { return no(); }
    Result<void> stop(uint16_t) override { return no(); }
    Result<std::optional<Bytes>> take_aggregations(uint16_t, uint32_t, uint32_t) override {
        return no();
    }
    Result<std::optional<Probe>> probe(uint32_t, bool) override { return no(); }
    Result<uint32_t> count(const dbk_ioc_provide&) override { return no(); }
    Result<uint16_t> enable(ByteView, const std::string&) override { return no(); }
    Result<void> release(uint16_t, uint32_t, uint64_t) override { return no(); }

    dbk_ioc_bank bank_ = {};

private:
    static Error no() { return Error(ErrorCode::invalid, "not asked for"); }
    ByteView half_;
};

} // namespace

TEST_CASE("what was dropped before the crash is said, for it makes the exit status", "[recover]") {
    BankImage image;
    image.put(0, {.boot_id = kBoot, .blocks = blocks_of(image, 0, kBoot, 0, 71)});
    Output output;
    auto summary = recover_image(image.bytes(), "bank", {output.path, {}, "test", false});
    REQUIRE(summary.ok());
    CHECK(summary->has_losses);
    CHECK(summary->findings.empty());
    REQUIRE(summary->rings.size() == 1);
    CHECK(summary->rings[0].name == "counter");
    CHECK(summary->rings[0].sum.present == summary->halves[0].records);
    CHECK(summary->rings[0].sum.drops_total() == 71);
}

TEST_CASE("the later boot of a bank becomes a trace", "[recover]") {
    BankImage image = two_boots();
    Output output;
    auto summary = recover_image(image.bytes(), "bank", {output.path, {}, "test", false});
    REQUIRE(summary.ok());
    CHECK(summary->written == 1);
    CHECK_FALSE(summary->has_losses);
    CHECK(test::is_secret(output.path));
    REQUIRE(summary->halves.size() == 2);
    CHECK(summary->halves[0].rings == std::vector<std::string>{"counter"});
    CHECK(summary->halves[0].end == "it records, or died without a word");
    auto trace = formats::read_trace(output.path);
    REQUIRE(trace.ok());
    CHECK(trace->header.origin == formats::TraceOrigin::bank);
    std::vector<uint64_t> found = numbers(*trace);
    REQUIRE(!found.empty());
    CHECK(found.back() == 5000 + 1199);
    CHECK(found.front() == found.back() - (found.size() - 1));
    CHECK_FALSE(trace->has_losses());
}

TEST_CASE("a recovered file that is cut explains its segments", "[recover]") {
    BankImage image;
    image.put(0, {.boot_id = kBoot, .blocks = blocks_of(image, 0, kBoot, 0, 0, true)});
    Output output;
    REQUIRE(recover_image(image.bytes(), "bank", {output.path, {}, "test", false}).ok());
    std::string order = test::piece_order(output.path);
    CHECK(order.find_last_of("my") < order.find('s'));
}

TEST_CASE("the running kernel names a boot of the same build, and of no other", "[recover]") {
    BankImage image = two_boots(); // _stext at 0xffffffff81000000
    Output output;
    test::FakeSymbols kallsyms;
    kallsyms.kallsyms_text = "ffffffff91000000 T _stext\n"
                             "ffffffff91000100 T do_it\n"
                             "ffffffffc0000000 t gone\t[module]\n";
    RunningKernel running = {{.boot_uuid = {9}, .release = "6.1.0-test", .version = ""},
                             kallsyms};
    RecoverOptions options{output.path, {}, "test"};
    options.running = &running;
    auto symbols = [&] {
        REQUIRE(recover_image(image.bytes(), "bank", options).ok());
        return formats::read_trace(output.path)->symbols;
    };
    SECTION("moved to where it lay; modules are left out") {
        auto table = symbols();
        REQUIRE(table.find(0xffffffff81000104));
        CHECK(table.find(0xffffffff81000104)->name == "do_it");
        CHECK(!table.find(0xffffffffc0000000));
        options.replace = true;
        kallsyms.build_ids = {{"vmlinux", "abcd"}, {"ext4", "ef"}};
        CHECK(symbols().find(0xffffffff81000104));
        auto modules = formats::read_trace(output.path)->header.modules;
        REQUIRE(modules.size() == 1);
        CHECK(modules[0].name == "vmlinux");
        CHECK(modules[0].build_id.size() == 4);
    }
    SECTION("that it began at the same place does not place the modules") {
        kallsyms.kallsyms_text = "ffffffff81000000 T _stext\nffffffffc0000000 t gone\t[module]\n";
        CHECK(symbols().symbols().size() == 1);
    }
    SECTION("another build, or hidden addresses: numbers, and why") {
        bool hidden = GENERATE(false, true);
        if (hidden)
            kallsyms.kallsyms_text = "0000000000000000 T _stext\n";
        else
            running.facts.version = "#2 test";
        auto summary = recover_image(image.bytes(), "bank", options);
        REQUIRE(summary.ok());
        REQUIRE(has(summary->findings, FindingKind::no_symbols));
        CHECK(summary->findings.back().text ==
              std::string("/proc/kallsyms ") +
                  (hidden ? "hides all addresses: read it as root"
                          : "is of another kernel: 6.1.0-test #2 test") +
                  ": kernel stacks stay numbers; --symbols takes another trace of that kernel");
        CHECK_FALSE(summary->has_losses);
        CHECK(formats::read_trace(output.path)->symbols.empty());
    }
    SECTION("a file that is named is used, or is an error") {
        running.facts.version = "#2 test";
        options.symbols_path = output.path + ".kallsyms";
        CHECK(recover_image(image.bytes(), "bank", options).error().code() == ErrorCode::not_found);
        std::ofstream(options.symbols_path) << kallsyms.kallsyms_text;
        CHECK(symbols().find(0xffffffff81000100));
        std::filesystem::remove(options.symbols_path);
    }
}

TEST_CASE("--half and --list", "[recover]") {
    BankImage image = two_boots();
    Output output;
    auto listed = recover_image(image.bytes(), "bank", {"", {}, "test", false});
    REQUIRE(listed.ok());
    CHECK(listed->halves.size() == 2);
    CHECK_FALSE(listed->written.has_value());
    auto earlier = recover_image(image.bytes(), "bank", {output.path, 0, "test", false});
    REQUIRE(earlier.ok());
    CHECK(numbers(*formats::read_trace(output.path)).back() == 1199);
}

TEST_CASE("a page that firmware overwrote costs its segment, and is reported", "[recover]") {
    BankImage image = two_boots();
    Output output;
    size_t slot = 2;
    FindingKind kind = FindingKind::missing_segment;
    SECTION("all of it") {
        image.scribble(slot_offset(image, slot));
    }
    SECTION("a byte of it") {
        image.at(slot_offset(image, slot))[2000] ^= std::byte{4};
        kind = FindingKind::bad_checksum;
    }
    auto before = recover_image(two_boots().bytes(), "bank", {"", {}, "test", false});
    auto summary = recover_image(image.bytes(), "bank", {output.path, {}, "test", false});
    REQUIRE(summary.ok());
    CHECK(summary->has_losses);
    CHECK(has(summary->findings, kind));
    CHECK(summary->halves[0].segments + 1 == before->halves[0].segments);
    auto trace = formats::read_trace(output.path);
    REQUIRE(trace.ok());
    CHECK(trace->has_losses());
    std::vector<uint64_t> found = numbers(*trace);
    CHECK(found.back() == 5000 + 1199);
    CHECK(std::is_sorted(found.begin(), found.end()));
    CHECK(found.back() - found.front() + 1 > found.size());
}

TEST_CASE("metadata that was overwritten explains nothing wrongly", "[recover]") {
    BankImage image = two_boots();
    Output output;
    base::ByteView half = image.half_image(1);
    uint64_t ecbs = 0;
    for (uint64_t at = 4096; at + 4096 < half.size(); at += 4096)
        if (auto piece = formats::parse_piece(half.subspan(at));
            piece.ok() && piece->kind == formats::PieceKind::metadata &&
            piece->meta.kind == DBK_META_ECBS)
            ecbs = at;
    REQUIRE(ecbs != 0);
    // The field's offset: without the checksum another number would be read.
    image.at(image.header().half_offset[1] + ecbs + 64 + sizeof(dbk_meta_ecb))[0] ^= std::byte{4};
    auto summary = recover_image(image.bytes(), "bank", {output.path, {}, "test", false});
    REQUIRE(summary.ok());
    CHECK(summary->has_losses);
    CHECK(has(summary->findings, FindingKind::bad_checksum));
    CHECK(numbers(*formats::read_trace(output.path)).empty());
}

TEST_CASE("headers that were overwritten cost nothing", "[recover]") {
    BankImage image = two_boots();
    image.scribble(0);
    image.scribble(image.header().half_offset[1]);
    Output output;
    auto summary = recover_image(image.bytes(), "bank", {output.path, {}, "test", false});
    REQUIRE(summary.ok());
    CHECK_FALSE(summary->has_losses);
    CHECK(has(summary->findings, FindingKind::header_copy));
    CHECK(numbers(*formats::read_trace(output.path)).back() == 5000 + 1199);
}

TEST_CASE("segments without a checksum are reported, and left out when asked for", "[recover]") {
    BankImage image = two_boots();
    uint64_t last = 0;
    for (size_t slot = 0; slot < 8; slot++) {
        dbk_segment_header header;
        std::byte* at = image.at(slot_offset(image, slot));
        std::memcpy(&header, at, sizeof(header));
        last = std::max(last, header.sequence);
    }
    for (size_t slot = 0; slot < 8; slot++) { // the newest was open
        dbk_segment_header header;
        std::byte* at = image.at(slot_offset(image, slot));
        std::memcpy(&header, at, sizeof(header));
        if (header.sequence != last)
            continue;
        header.flags &= static_cast<uint16_t>(~DBK_SEGMENT_F_SEALED);
        std::memcpy(at, &header, sizeof(header));
    }
    Output output;
    auto all = recover_image(image.bytes(), "bank", {output.path, {}, "test", false});
    REQUIRE(all.ok());
    CHECK(has(all->findings, FindingKind::unsealed));
    CHECK(std::ranges::any_of(all->findings, [](const formats::Finding& finding) {
        return finding.text.starts_with("1 segment without a checksum: ");
    }));
    CHECK_FALSE(all->has_losses);
    CHECK(numbers(*formats::read_trace(output.path)).back() == 5000 + 1199);
    auto sealed =
        recover_image(image.bytes(), "bank", {output.path, {}, "test", true, {}, nullptr, true});
    REQUIRE(sealed.ok());
    CHECK(has(sealed->findings, FindingKind::unsealed));
    CHECK(sealed->halves[0].segments + 1 == all->halves[0].segments);
    CHECK(numbers(*formats::read_trace(output.path)).back() < 5000 + 1199);
}

TEST_CASE("a half that the device shows", "[recover]") {
    BankImage image = two_boots();
    Output output;
    BankDevice device(image.half_image(1));
    auto summary = recover_device(device, {output.path, {}, "test", false});
    REQUIRE(summary.ok());
    CHECK(numbers(*formats::read_trace(output.path)).back() == 5000 + 1199);
}

TEST_CASE("what cannot be recovered is said, and no file is made", "[recover]") {
    BankImage image = two_boots();
    Output output;
    RecoverOptions options{output.path, {}, "test", false};
    SECTION("no bank in the file") {
        auto result = recover_image(base::Bytes(2u << 20), "bank", options);
        REQUIRE(!result.ok());
        CHECK(result.error().message() == "bank: it holds no bank");
    }
    SECTION("nothing in the half") {
        base::Bytes zeros(image.half_image(0).size());
        BankDevice device(zeros);
        auto result = recover_device(device, options);
        REQUIRE(!result.ok());
        CHECK(result.error().code() == ErrorCode::not_found);
        CHECK(result.error().message() ==
              "nothing is there: no earlier boot recorded into the bank");
    }
    SECTION("another version") {
        dbk_bank_half half = image.half_header(1);
        half.version = 9;
        image.put_half(1, half);
        BankDevice device(image.half_image(1));
        auto result = recover_device(device, options);
        REQUIRE(!result.ok());
        CHECK(result.error().message() == "half 1 of the bank cannot be read: it is of version 9, "
                                          "this program reads 1");
    }
    SECTION("the module refused it") {
        BankDevice device(image.half_image(1));
        device.bank_.use = DBK_BANK_USE_REFUSED;
        std::strcpy(device.bank_.reason, "too small");
        auto result = recover_device(device, options);
        REQUIRE(!result.ok());
        CHECK(result.error().message() == "the module refused the bank: too small");
    }
    CHECK_FALSE(output.exists());
}

TEST_CASE("what an older boot left in the half is not in the recovered file", "[recover]") {
    BankImage image = two_boots();
    uint64_t at = slot_offset(image, 2);
    // A whole segment of boot 77, where it says that it lies.
    base::Bytes old = blocks_of(image, 1, 77, 0);
    std::memcpy(image.at(at), old.data() + old.size() - 6 * kSegmentBytes, kSegmentBytes);
    Output output;
    REQUIRE(recover_image(image.bytes(), "bank", {output.path, {}, "test", false}).ok());
    formats::RecordingBuilder builder;
    formats::RawBudget budget;
    REQUIRE(formats::read_blocks(base::open_source(output.path).value(), "x", "", builder, budget,
                                 std::make_shared<formats::BlockStore>(), /*skim=*/false)
                .ok());
    REQUIRE(builder.boots().size() == 1);
    CHECK(builder.boots().begin()->first == kBoot);
}
