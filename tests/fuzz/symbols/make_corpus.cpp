// SPDX-License-Identifier: Apache-2.0
//
// Writes seeds of the symbols fuzzer: the vDSO of this kernel, a small whole ELF library; and what
// .gnu_debugdata has of a library, so that changes of it are changes of that library.
#include "tests/support/stored_xz.hpp"

#include <cstddef>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <sys/auxv.h>

int main(int argc, char** argv) {
    if (argc == 3) {
        std::ifstream library(argv[1], std::ios::binary);
        std::ofstream(argv[2], std::ios::binary)
            << daybreak::test::stored_xz(std::string(std::istreambuf_iterator<char>(library), {}));
        return 0;
    }
    const auto* start = reinterpret_cast<const char*>(::getauxval(AT_SYSINFO_EHDR));
    if (argc != 2 || start == nullptr)
        return 2;
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(start);
    size_t bytes = header->e_shoff + size_t{header->e_shnum} * header->e_shentsize;
    std::ofstream(argv[1], std::ios::binary).write(start, static_cast<std::streamsize>(bytes));
    return 0;
}
