// SPDX-License-Identifier: Apache-2.0
//
// Writes the seed of the symbols fuzzer: the vDSO of this kernel, a small whole ELF library.
#include <cstddef>
#include <elf.h>
#include <fstream>
#include <sys/auxv.h>

int main(int argc, char** argv) {
    const auto* start = reinterpret_cast<const char*>(::getauxval(AT_SYSINFO_EHDR));
    if (argc != 2 || start == nullptr)
        return 2;
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(start);
    size_t bytes = header->e_shoff + size_t{header->e_shnum} * header->e_shentsize;
    std::ofstream(argv[1], std::ios::binary).write(start, static_cast<std::streamsize>(bytes));
    return 0;
}
