// SPDX-License-Identifier: Apache-2.0
//
// The header is read before libelf reads it.
#include "analyze/symbols/elf_file.hpp"

#include <algorithm>
#include <cstring>
#include <gelf.h>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace daybreak::analyze {

namespace {

/// Some file systems pack what they store: 8 times better than any does, and a little.
constexpr uint64_t kPackedBest = 8, kAlways = 1 << 20;

/// Numbers that do not fit into it would be in the first section: of those no linker has so many.
template <class Header>
bool is_counted(const Header& header) {
    return (header.e_shnum != 0 || header.e_shoff == 0) &&
           header.e_shnum <= ElfFile::kSectionsMax && header.e_phnum != PN_XNUM &&
           header.e_shstrndx != SHN_XINDEX;
}

bool is_program(base::ByteView head) {
    if (head.size() < sizeof(Elf32_Ehdr))
        return false;
    Elf64_Ehdr wide = {};
    Elf32_Ehdr narrow = {};
    std::memcpy(&wide, head.data(), std::min(head.size(), sizeof(wide)));
    std::memcpy(&narrow, head.data(), std::min(head.size(), sizeof(narrow)));
    if (std::memcmp(wide.e_ident, ELFMAG, SELFMAG) != 0 || wide.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    return wide.e_ident[EI_CLASS] == ELFCLASS64   ? is_counted(wide)
           : wide.e_ident[EI_CLASS] == ELFCLASS32 ? is_counted(narrow)
                                                  : false;
}

} // namespace

ElfFile::ElfFile(int fd) {
    Elf64_Ehdr head = {};
    struct stat status = {};
    if (::fstat(fd, &status) != 0 || ::pread(fd, &head, sizeof(head), 0) <= 0 ||
        !is_program(std::as_bytes(std::span(&head, 1))))
        return;
    bytes_ = std::min(static_cast<uint64_t>(status.st_size),
                      kPackedBest * 512 * static_cast<uint64_t>(status.st_blocks) + kAlways);
    ::elf_version(EV_CURRENT);
    open(::elf_begin(fd, ELF_C_READ, nullptr));
}

ElfFile::ElfFile(base::ByteView untrusted_image) {
    if (!is_program(untrusted_image))
        return;
    bytes_ = untrusted_image.size();
    ::elf_version(EV_CURRENT);
    // Read only, though its type does not say so.
    auto* image = reinterpret_cast<char*>(const_cast<std::byte*>(untrusted_image.data()));
    open(::elf_memory(image, untrusted_image.size()));
}

/// Names of sections are read with the first that is asked for.
void ElfFile::open(Elf* elf) {
    elf_ = elf;
    bytes_left_ = bytes_;
    size_t names = 0;
    GElf_Shdr header = {};
    if (elf_ == nullptr || ::elf_getshdrstrndx(elf_, &names) != 0 || names == SHN_UNDEF)
        return;
    Elf_Scn* section = ::elf_getscn(elf_, names);
    if (::gelf_getshdr(section, &header) != nullptr && header.sh_size <= kSectionNamesBytesMax &&
        take(section))
        return;
    ::elf_end(elf_);
    elf_ = nullptr;
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : elf_(std::exchange(other.elf_, nullptr)), bytes_(other.bytes_),
      bytes_left_(other.bytes_left_) {}

ElfFile::~ElfFile() {
    ::elf_end(elf_);
}

bool ElfFile::take(Elf_Scn* section) {
    GElf_Shdr header = {};
    if (::gelf_getshdr(section, &header) == nullptr)
        return false;
    const uint64_t bytes = header.sh_type == SHT_NOBITS ? 0 : header.sh_size;
    if (bytes > bytes_left_)
        return false;
    bytes_left_ -= bytes;
    return true;
}

} // namespace daybreak::analyze
