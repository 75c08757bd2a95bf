// SPDX-License-Identifier: Apache-2.0
//
// Sections of a PE file, read and replaced.
#include "bootloader-hooks/install/unified_image.hpp"

#include "base/byte_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <sstream>

namespace daybreak::install {

using base::ByteReader;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

// Offsets as Microsoft's "PE Format" has them; of the optional header, those of PE32+.
constexpr size_t kPeOffset = 0x3c;
constexpr size_t kSectionCount = 6, kSymbolTable = 12, kOptionalBytes = 20, kOptional = 24;
constexpr size_t kSectionAlignment = kOptional + 32, kFileAlignment = kOptional + 36,
                 kImageBytes = kOptional + 56, kHeaderBytes = kOptional + 60,
                 kCheckSum = kOptional + 64, kDirectoryCount = kOptional + 108,
                 kCertificates = kOptional + 112 + 4 * 8;
struct SectionHeader {
    char name[8];
    uint32_t size, address, stored, offset;
    uint32_t of_objects[3], flags;
};
constexpr size_t kSize = 8, kAddress = 12, kStored = 16, kOffset = 20;
constexpr uint16_t kPe32Plus = 0x20b;
/// Real ones have about ten sections, aligned to 512 bytes and a page.
constexpr uint16_t kSectionsMax = 96;
constexpr uint32_t kAlignmentMax = 64 << 10;

// Of a bzImage, as Documentation/arch/x86/boot.rst has them.
constexpr size_t kSetupMagic = 0x202, kVersionPointer = 0x20e, kVersionBase = 0x200;

uint64_t aligned(uint64_t value, uint64_t to) {
    return (value + to - 1) / to * to;
}

void put32(std::string& bytes, size_t at, uint64_t value) {
    for (size_t i = 0; i < 4; i++)
        bytes[at + i] = static_cast<char>(value >> (8 * i));
}

Result<ImageSection> read_section(ByteReader& reader) {
    ImageSection section;
    section.header = reader.offset();
    DBK_TRY(auto header, reader.read<SectionHeader>());
    section.name.assign(header.name, ::strnlen(header.name, sizeof header.name));
    section.address = header.address;
    section.size = header.size;
    section.stored = header.stored;
    section.offset = header.offset;
    auto content = reader.bytes_at(section.offset, section.stored);
    if (!content.ok())
        return std::move(content).error();
    return section;
}

} // namespace

std::optional<std::string> UnifiedImage::section(const std::string& name) const {
    for (const ImageSection& one : sections)
        if (one.name == name)
            return bytes.substr(one.offset, std::min(one.size, one.stored));
    return std::nullopt;
}

std::string UnifiedImage::release() const {
    std::string text = section(".uname").value_or("");
    if (text.empty()) {
        std::string linux = section(".linux").value_or("");
        if (linux.size() > kVersionPointer + 2 && linux.compare(kSetupMagic, 4, "HdrS") == 0) {
            size_t at = kVersionBase + static_cast<uint8_t>(linux[kVersionPointer]) +
                        256u * static_cast<uint8_t>(linux[kVersionPointer + 1]);
            text = linux.substr(std::min(at, linux.size()), 256);
        }
    }
    return text.substr(0, text.find_first_of(std::string_view(" \n\0", 3)));
}

std::string UnifiedImage::os_value(const std::string& key) const {
    std::istringstream lines(section(".osrel").value_or(""));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(key + "="))
            continue;
        std::string value = line.substr(key.size() + 1);
        bool is_quoted =
            value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0];
        return is_quoted ? value.substr(1, value.size() - 2) : value;
    }
    return "";
}

Result<UnifiedImage> parse_unified_image(std::string untrusted_bytes) {
    UnifiedImage image;
    image.bytes = std::move(untrusted_bytes);
    ByteReader reader(base::as_bytes(image.bytes), "PE file");
    DBK_TRY(uint32_t pe_header, reader.read_at<uint32_t>(kPeOffset));
    image.pe_header = pe_header;
    DBK_TRY(auto magic, reader.read_at<uint32_t>(pe_header));
    DBK_TRY(auto kind, reader.read_at<uint16_t>(image.pe_header + kOptional));
    if (image.bytes.compare(0, 2, "MZ") != 0 || magic != 0x4550 || kind != kPe32Plus)
        return errorf(ErrorCode::corrupt, "not a PE file of 64 bits");
    DBK_TRY(auto count, reader.read_at<uint16_t>(image.pe_header + kSectionCount));
    DBK_TRY(auto optional_bytes, reader.read_at<uint16_t>(image.pe_header + kOptionalBytes));
    DBK_TRY(image.section_alignment, reader.read_at<uint32_t>(image.pe_header + kSectionAlignment));
    DBK_TRY(image.file_alignment, reader.read_at<uint32_t>(image.pe_header + kFileAlignment));
    DBK_TRY(image.header_bytes, reader.read_at<uint32_t>(image.pe_header + kHeaderBytes));
    DBK_TRY(auto directories, reader.read_at<uint32_t>(image.pe_header + kDirectoryCount));
    DBK_TRY(auto signature_bytes, reader.read_at<uint32_t>(image.pe_header + kCertificates + 4));
    image.is_signed = signature_bytes != 0;
    auto is_alignment = [](uint32_t bytes) {
        return std::has_single_bit(bytes) && bytes <= kAlignmentMax;
    };
    if (!is_alignment(image.section_alignment) || !is_alignment(image.file_alignment) ||
        count > kSectionsMax || directories <= 4 || optional_bytes < kCertificates + 8 - kOptional)
        return errorf(ErrorCode::corrupt, "its PE header is damaged");
    DBK_TRY_VOID(reader.seek(image.pe_header + kOptional + optional_bytes));
    for (uint16_t i = 0; i < count; i++) {
        DBK_TRY(ImageSection section, read_section(reader));
        image.sections.push_back(std::move(section));
    }
    if (reader.offset() > image.header_bytes || image.header_bytes > image.bytes.size())
        return errorf(ErrorCode::corrupt, "its PE header is damaged");
    return image;
}

Result<std::string> with_sections(const UnifiedImage& image,
                                  const std::map<std::string, std::string>& contents) {
    std::string made = image.bytes.substr(0, image.header_bytes);
    std::vector<std::pair<uint64_t, std::string>> headers; // by address
    uint64_t image_end = image.header_bytes;
    for (const ImageSection& section : image.sections)
        image_end = std::max(image_end, section.address + section.size);
    for (const ImageSection& section : image.sections) {
        auto changed = contents.find(section.name);
        std::string content = image.bytes.substr(section.offset, section.stored);
        uint64_t size = section.size, address = section.address;
        if (changed != contents.end()) {
            content = changed->second;
            size = content.size();
            if (size > aligned(section.size, image.section_alignment)) {
                address = aligned(image_end, image.section_alignment);
                image_end = address + size;
            }
        }
        made.resize(aligned(made.size(), image.file_alignment));
        bool is_stored = !content.empty();
        size_t offset = made.size();
        made += content;
        made.resize(aligned(made.size(), image.file_alignment));
        if (made.size() > UINT32_MAX || image_end > UINT32_MAX)
            return errorf(ErrorCode::invalid, "a PE file has at most 4 GiB");
        put32(made, section.header + kSize, size);
        put32(made, section.header + kAddress, address);
        put32(made, section.header + kStored, made.size() - offset);
        put32(made, section.header + kOffset, is_stored ? offset : 0);
        headers.emplace_back(address, made.substr(section.header, sizeof(SectionHeader)));
    }
    // "PE Format", "Section Table": sections are in the order of their addresses.
    std::sort(headers.begin(), headers.end());
    for (size_t i = 0; i < headers.size(); i++)
        made.replace(image.sections[i].header, sizeof(SectionHeader), headers[i].second);
    put32(made, image.pe_header + kImageBytes, aligned(image_end, image.section_alignment));
    for (size_t at : {kSymbolTable, kSymbolTable + 4, kCheckSum, kCertificates, kCertificates + 4})
        put32(made, image.pe_header + at, 0);
    return made;
}

bool is_signed_copy(const std::string& bytes, const std::string& plain) {
    auto copy = parse_unified_image(bytes), image = parse_unified_image(plain);
    if (!copy.ok() || !image.ok() || !copy->is_signed)
        return false;
    auto unsigned_copy = with_sections(*copy, {}), unsigned_image = with_sections(*image, {});
    return unsigned_copy.ok() && unsigned_image.ok() && *unsigned_copy == *unsigned_image;
}

std::string traced_os_release(const std::string& os_release) {
    std::string text;
    std::istringstream lines(os_release.c_str()); // it may end in zeros
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("IMAGE_ID="))
            continue;
        if (line.starts_with("PRETTY_NAME=")) {
            bool is_quoted = line.ends_with('"') || line.ends_with('\'');
            line.insert(line.size() - is_quoted, is_quoted ? ", with Daybreak" : "-with-Daybreak");
        }
        text += line + "\n";
    }
    return text + "IMAGE_ID=zz-daybreak\n";
}

} // namespace daybreak::install
