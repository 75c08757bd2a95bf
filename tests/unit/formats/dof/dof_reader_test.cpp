// SPDX-License-Identifier: Apache-2.0
#include "formats/dof/dof_printer.hpp"
#include "formats/dof/dof_reader.hpp"
#include "formats/dof/dof_writer.hpp"
#include "tests/unit/formats/dof/sample.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak::formats;
using daybreak::base::Bytes;
using daybreak::base::ByteView;
using daybreak::base::Error;
using daybreak::base::ErrorCode;

namespace {

Bytes sample_bytes() {
    DofProgram program = sample_program();
    auto bytes = write_dof(program);
    REQUIRE(bytes.ok());
    return std::move(bytes).value();
}

template <typename T>
void put(Bytes& bytes, size_t offset, T value) {
    std::memcpy(&bytes[offset], &value, sizeof(value));
}

/// The error that reading gives after one field was changed.
template <typename T>
Error error_after(size_t offset, T value) {
    Bytes bytes = sample_bytes();
    put(bytes, offset, value);
    auto image = parse_dof(bytes);
    INFO("offset " << offset);
    REQUIRE_FALSE(image.ok());
    return std::move(image).error();
}

size_t section_header(const DofImage& image, uint32_t type) {
    for (size_t i = 0; i < image.sections.size(); i++)
        if (image.sections[i].header.type == type)
            return 64 + i * 32;
    FAIL("no such section");
    return 0;
}

size_t section_offset(uint32_t type) {
    Bytes bytes = sample_bytes();
    auto image = parse_dof(bytes);
    REQUIRE(image.ok());
    return image->sections[(section_header(*image, type) - 64) / 32].header.offset;
}

} // namespace

TEST_CASE("every truncation is an error or a shorter good image", "[formats][dof]") {
    Bytes bytes = sample_bytes();
    auto whole = parse_dof(bytes);
    REQUIRE(whole.ok());
    for (size_t length = 0; length < bytes.size(); length++) {
        auto image = parse_dof(ByteView(bytes).first(length));
        CHECK(image.ok() == (length >= whole->header.load_bytes));
        if (!image.ok())
            CHECK_FALSE(image.error().message().empty());
    }
}

TEST_CASE("mutated images are refused or read, and printed", "[formats][dof]") {
    Bytes good = sample_bytes();
    std::mt19937_64 random(7);
    for (int i = 0; i < 20000; i++) {
        Bytes bytes = good;
        for (int n = 1 + static_cast<int>(random() % 4); n > 0; n--)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        auto image = parse_dof(bytes);
        if (image.ok())
            CHECK_FALSE(print_dof(*image).empty());
    }
}

TEST_CASE("headers of other kinds of DOF are named in the error", "[formats][dof]") {
    CHECK(error_after<uint8_t>(0, 0).code() == ErrorCode::invalid);
    CHECK(error_after<uint8_t>(DOF_ID_MODEL, 1).code() == ErrorCode::unsupported);
    CHECK(error_after<uint8_t>(DOF_ID_ENCODING, 2).message() ==
          "DOF header: encoding 2, expected 1 (little-endian)");
    CHECK(error_after<uint8_t>(DOF_ID_VERSION, 3).message() ==
          "DOF header: version 3, expected 1 or 2");
    CHECK(error_after<uint8_t>(DOF_ID_DIFVERS, 3).code() == ErrorCode::unsupported);
    CHECK(error_after<uint8_t>(12, 1).code() == ErrorCode::corrupt);
    CHECK(error_after<uint32_t>(16, 1).code() == ErrorCode::unsupported);
    CHECK(error_after<uint32_t>(20, 60).code() == ErrorCode::corrupt);
    CHECK(error_after<uint32_t>(24, 40).code() == ErrorCode::corrupt);
    CHECK(error_after<uint32_t>(28, 0x10000000).code() == ErrorCode::limit);
    CHECK(error_after<uint64_t>(32, ~0ull).code() == ErrorCode::corrupt);
    CHECK(error_after<uint64_t>(40, ~0ull).code() == ErrorCode::limit);
    CHECK(error_after<uint64_t>(40, kDofBytesMax).code() == ErrorCode::truncated);
}

TEST_CASE("version 1 programs of other compilers are read", "[formats][dof]") {
    Bytes bytes = sample_bytes();
    put<uint8_t>(bytes, DOF_ID_VERSION, 1);
    auto image = parse_dof(bytes);
    REQUIRE(image.ok());
    CHECK(image->program.dof_version == 1);
}

TEST_CASE("a section that lies is an error with its name and offset", "[formats][dof]") {
    Bytes bytes = sample_bytes();
    auto image = parse_dof(bytes);
    REQUIRE(image.ok());
    size_t probe = section_header(*image, DOF_SECT_PROBEDESC);
    CHECK(error_after<uint32_t>(probe + 4, 3).message() ==
          "DOF section 1 (probedesc): alignment 3 is not a power of two");
    CHECK(error_after<uint64_t>(probe + 16, 1).message() ==
          "DOF section 1 (probedesc): offset 1 is not a multiple of 4");
    CHECK(error_after<uint64_t>(probe + 24, 1ull << 62).code() == ErrorCode::truncated);
    CHECK(error_after<uint64_t>(probe + 24, 23).code() == ErrorCode::corrupt);
    size_t ecb = section_offset(DOF_SECT_ECBDESC);
    CHECK(error_after<uint32_t>(ecb, 9999).message() ==
          "DOF section 15 (ecbdesc): its probe names section 9999 of 32");
    CHECK(error_after<uint32_t>(ecb, 0).message() ==
          "DOF section 15 (ecbdesc): its probe names DOF section 0 (strtab), expected type "
          "probedesc");
    size_t names = section_offset(DOF_SECT_PROBEDESC);
    CHECK(error_after<uint32_t>(names + 4, 0xffffffff).code() == ErrorCode::corrupt);
    size_t difo = section_offset(DOF_SECT_DIFOHDR);
    CHECK(error_after<uint32_t>(difo + 8, 9999).code() == ErrorCode::corrupt);
}

TEST_CASE("a small image cannot describe a huge program", "[formats][dof]") {
    DofProgram program = sample_program();
    program.source.reset();
    program.difos[3].text.assign(60000, 0x24000000);
    for (int i = 0; i < 400; i++) {
        program.difos.push_back(sample_difo(8, {0x23000000}));
        program.action_lists[1].actions.push_back(
            {program.difos.size() - 1, DTRACEACT_DIFEXPR, 0, 0, std::nullopt, 2});
    }
    auto bytes = write_dof(program);
    REQUIRE(bytes.ok());
    auto image = parse_dof(*bytes);
    REQUIRE(image.ok());
    // Let every small object name the big one's instructions.
    uint32_t big = 0;
    for (uint32_t i = 0; i < image->sections.size(); i++)
        if (image->sections[i].header.type == DOF_SECT_DIF &&
            image->sections[i].header.bytes > 200000)
            big = i;
    REQUIRE(big != 0);
    for (const DofSection& section : image->sections)
        if (section.header.type == DOF_SECT_DIFOHDR && section.header.bytes == 12)
            put<uint32_t>(*bytes, section.header.offset + 8, big);
    auto refused = parse_dof(*bytes);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code() == ErrorCode::limit);
}

TEST_CASE("strings of an object that do not end are refused", "[formats][dof]") {
    Bytes bytes = sample_bytes();
    auto image = parse_dof(bytes);
    REQUIRE(image.ok());
    size_t refused = 0;
    for (size_t i = 1; i < image->sections.size(); i++) {
        const dof_section& header = image->sections[i].header;
        if (header.type != DOF_SECT_STRTAB || header.bytes == 0)
            continue;
        Bytes changed = bytes;
        put<uint8_t>(changed, header.offset + header.bytes - 1, 'x');
        auto read = parse_dof(changed);
        REQUIRE_FALSE(read.ok());
        CHECK(read.error().message().find("does not end in a NUL") != std::string::npos);
        refused++;
    }
    CHECK(refused > 0);
}
