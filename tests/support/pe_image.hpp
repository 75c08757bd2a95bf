// SPDX-License-Identifier: Apache-2.0
//
// A unified kernel image as small as one can be: no code, only the sections that are named.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::test {

inline void put_number(std::string& bytes, size_t at, uint64_t value, size_t size = 4) {
    for (size_t i = 0; i < size; i++)
        bytes.at(at + i) = static_cast<char>(value >> (8 * i));
}

constexpr size_t kPeHeader = 0x80;
/// Where an image says how many bytes of signatures it has.
constexpr size_t kPeSignatureBytesAt = kPeHeader + 24 + 112 + 4 * 8 + 4;

/// Sections of 4096 bytes in memory, or of as many as they need, in order; 512 in the file.
inline std::string pe_image(const std::vector<std::pair<std::string, std::string>>& sections) {
    constexpr size_t kPe = kPeHeader, kTable = kPe + 24 + 240;
    std::string bytes(std::max<size_t>(1024, (kTable + sections.size() * 40 + 511) / 512 * 512),
                      '\0');
    bytes.replace(0, 2, "MZ");
    bytes.replace(kPe, 2, "PE");
    put_number(bytes, 0x3c, kPe);
    put_number(bytes, kPe + 6, sections.size(), 2);
    put_number(bytes, kPe + 12, 0x111); // a table of symbols
    put_number(bytes, kPe + 20, 240, 2);
    put_number(bytes, kPe + 24, 0x20b, 2);
    put_number(bytes, kPe + 24 + 32, 4096);
    put_number(bytes, kPe + 24 + 36, 512);
    put_number(bytes, kPe + 24 + 60, bytes.size());
    put_number(bytes, kPe + 24 + 64, 0x222); // a checksum
    put_number(bytes, kPe + 24 + 108, 16);
    put_number(bytes, kPeSignatureBytesAt - 4, 0x333); // where a signature would be
    uint64_t address = 4096;
    for (size_t i = 0; i < sections.size(); i++) {
        const auto& [name, content] = sections[i];
        size_t header = kTable + i * 40;
        bytes.replace(header, name.size(), name);
        put_number(bytes, header + 8, content.size());
        put_number(bytes, header + 12, address);
        put_number(bytes, header + 20, bytes.size());
        address += (content.size() + 4095) / 4096 * 4096;
        size_t offset = bytes.size();
        bytes += content;
        bytes.resize((bytes.size() + 511) / 512 * 512);
        put_number(bytes, header + 16, bytes.size() - offset);
    }
    put_number(bytes, kPe + 24 + 56, address);
    return bytes;
}

/// One of Debian 12 with that kernel.
inline std::string
unified_image(const std::string& release,
              const std::string& os_release = "PRETTY_NAME=\"Debian GNU/Linux 12 "
                                              "(bookworm)\"\nID=debian\n"
                                              "VERSION_ID=\"12\"\n") {
    return pe_image({{".text", "stub"},
                     {".osrel", os_release},
                     {".uname", release},
                     {".cmdline", std::string("root=UUID=1111-22 ro quiet\n\0", 28)},
                     {".initrd", "initramfs of " + release},
                     {".linux", "kernel " + release}});
}

} // namespace daybreak::test
