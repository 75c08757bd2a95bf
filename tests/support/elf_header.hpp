// SPDX-License-Identifier: Apache-2.0
//
// The header of a shared object for this machine, for files that tests make by hand.
#pragma once

#include <cstring>
#include <elf.h>

namespace daybreak::test {

inline Elf64_Ehdr shared_object_header() {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    return header;
}

} // namespace daybreak::test
