// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/install/loader_entry.hpp"
#include "bootloader-hooks/install/unified_image.hpp"
#include "tests/support/pe_image.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak;
using namespace daybreak::install;
using test::pe_image;
using test::unified_image;

namespace {

UnifiedImage parsed(std::string bytes) {
    auto image = parse_unified_image(std::move(bytes));
    INFO((image.ok() ? "" : image.error().message()));
    REQUIRE(image.ok());
    return *std::move(image);
}

/// What the firmware needs: no two sections share a byte, in the file or in memory.
void check_sound(const UnifiedImage& image) {
    uint64_t last = 0;
    for (const ImageSection& a : image.sections) {
        INFO(a.name);
        CHECK(a.address > last);
        last = a.address;
        CHECK(a.offset % 512 == 0);
        CHECK(a.stored % 512 == 0);
        CHECK(a.size <= a.stored);
        CHECK(a.address % 4096 == 0);
        for (const ImageSection& b : image.sections) {
            INFO(b.name);
            CHECK((&a == &b || a.offset + a.stored <= b.offset || b.offset + b.stored <= a.offset));
            CHECK((&a == &b || a.address + a.size <= b.address || b.address + b.size <= a.address));
        }
    }
}

} // namespace

TEST_CASE("our image is the distribution's, with the archive first", "[install][uki]") {
    UnifiedImage image = parsed(unified_image("6.1.0-5-amd64"));
    LoaderEntry entry = unified_entry("debian.efi", image);
    CHECK(entry.release == "6.1.0-5-amd64");
    CHECK(entry.value("sort-key") == "debian");
    CHECK(entry.value("version") == "12");
    CHECK(entry.value("options") == "root=UUID=1111-22 ro quiet");
    std::string cpio(5001, 'c');
    auto made = traced_image(entry, image, cpio, "rdinit=/x memmap=1M$0x1");
    REQUIRE(made.ok());
    UnifiedImage ours = parsed(*made);
    check_sound(ours);
    CHECK(ours.section(".text") == "stub");
    CHECK(ours.section(".linux") == "kernel 6.1.0-5-amd64");
    CHECK(ours.section(".cmdline") == "root=UUID=1111-22 ro quiet rdinit=/x memmap=1M$0x1 panic=30 "
                                      "trace_event=initcall trace_clock=x86-tsc");
    CHECK(ours.section(".initrd") == cpio + std::string(3, '\0') + "initramfs of 6.1.0-5-amd64");
    CHECK(ours.section(".osrel") ==
          "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm), with Daybreak\"\n"
          "ID=debian\nVERSION_ID=\"12\"\nIMAGE_ID=zz-daybreak\n");
    LoaderEntry traced = unified_entry("daybreak-6.1.0-5-amd64.efi", ours);
    CHECK(comes_before(entry, traced));
    CHECK(!comes_before(traced, entry));
    // No signature, no checksum, no symbols; and as much memory as the sections take.
    for (size_t at : {12, 24 + 64, 24 + 112 + 4 * 8})
        CHECK(made->compare(image.pe_header + at, 4, std::string(4, '\0')) == 0);
    uint64_t end = 0, bytes = 0;
    for (const ImageSection& section : ours.sections)
        end = std::max(end, section.address + section.size);
    for (size_t i = 0; i < 4; i++)
        bytes |= uint64_t(static_cast<uint8_t>((*made)[image.pe_header + 24 + 56 + i])) << (8 * i);
    CHECK(bytes == (end + 4095) / 4096 * 4096);
}

TEST_CASE("sections of any size have a place", "[install][uki][property]") {
    std::mt19937 random(52);
    const std::vector<std::string> names = {".text", ".osrel", ".cmdline", ".initrd", ".linux"};
    for (int round = 0; round < 200; round++) {
        std::vector<std::pair<std::string, std::string>> sections;
        for (const std::string& name : names)
            sections.emplace_back(name, std::string(1 + random() % 9000, 'a' + random() % 26));
        std::map<std::string, std::string> contents;
        for (const std::string& name : names)
            if (random() % 2)
                contents[name] = std::string(random() % 20000, 'A' + random() % 26);
        auto made = with_sections(parsed(pe_image(sections)), contents);
        REQUIRE(made.ok());
        UnifiedImage image = parsed(*made);
        check_sound(image);
        for (const auto& [name, content] : sections)
            CHECK(image.section(name) == (contents.count(name) ? contents[name] : content));
    }
}

TEST_CASE("images of which no copy is made", "[install][uki]") {
    LoaderEntry entry = parse_loader_entry("x.efi", "");
    auto refusal = [&](const std::string& bytes) {
        auto made = traced_image(entry, parsed(bytes), "cpio", "rdinit=/x");
        return made.ok() ? "" : made.error().message();
    };
    CHECK(refusal(pe_image({{".linux", ""}})) ==
          "the image x.efi has no section .osrel, so no copy of it can be made");
    // Profiles: each has a command line of its own.
    CHECK(refusal(pe_image({{".osrel", ""}, {".cmdline", ""}, {".cmdline", ""}})) ==
          "the image x.efi has more than one section .cmdline, so no copy of it can be made");
    entry = parse_loader_entry("x.efi", "options rdinit=/mine");
    CHECK(refusal(unified_image("6.1")).find("x.efi has rdinit= already") != std::string::npos);
}

TEST_CASE("how many sections an image has, and how far apart", "[install][uki]") {
    std::vector<std::pair<std::string, std::string>> sections(96, {".s", "x"});
    CHECK(parsed(pe_image(sections)).sections.size() == 96);
    sections.push_back(sections[0]);
    CHECK(parse_unified_image(pe_image(sections)).error().message() == "its PE header is damaged");
    for (size_t at : {test::kPeHeader + 24 + 32, test::kPeHeader + 24 + 36}) {
        std::string bytes = unified_image("6.1");
        test::put_number(bytes, at, 64 << 10);
        CHECK(parse_unified_image(bytes).ok());
        test::put_number(bytes, at, 128 << 10);
        CHECK(!parse_unified_image(bytes).ok());
    }
}

TEST_CASE("whose kernel an image has", "[install][uki]") {
    std::string bzimage(0x300, '\0');
    bzimage.replace(0x202, 4, "HdrS");
    bzimage[0x20e] = 0x10; // from 0x200
    bzimage.replace(0x210, 30, "6.1.0-5-amd64 (build@debian) #");
    CHECK(parsed(pe_image({{".linux", bzimage}})).release() == "6.1.0-5-amd64");
    bzimage[0x20f] = '\xff';
    CHECK(parsed(pe_image({{".linux", bzimage}})).release().empty());
    CHECK(parsed(pe_image({{".linux", "HdrS"}})).release().empty());
    CHECK(parsed(pe_image({{".uname", "6.12\n"}})).release() == "6.12");
    CHECK(parsed(pe_image({{".text", ""}})).release().empty());
}

TEST_CASE("a damaged image is an error, or an image", "[install][uki]") {
    std::string whole = unified_image("6.1");
    for (size_t size = 0; size < whole.size(); size += 1 + size / 64)
        CHECK(!parse_unified_image(whole.substr(0, size)).ok());
    std::mt19937 random(520);
    for (int round = 0; round < 2000; round++) {
        std::string bytes = whole;
        for (int i = 0; i < 3; i++)
            bytes[random() % 0x300] = static_cast<char>(random());
        auto image = parse_unified_image(bytes);
        if (!image.ok())
            continue;
        (void)unified_entry("x.efi", *image);
        (void)with_sections(*image, {{".initrd", "more"}});
    }
}
