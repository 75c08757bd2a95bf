// SPDX-License-Identifier: Apache-2.0
//
// The header of an ELF file of 64 bits for this machine, for files that are made by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>

namespace daybreak::base {

/// `type` is ET_REL or ET_DYN.  Sections and segments, and where their tables are, are the caller's.
inline Elf64_Ehdr elf_header(uint16_t type) {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = type;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    return header;
}

} // namespace daybreak::base
