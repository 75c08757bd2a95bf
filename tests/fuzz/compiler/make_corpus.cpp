// SPDX-License-Identifier: Apache-2.0
//
// Writes the seed of the kernel file fuzzer: BTF with one of every kind of type.
#include "tests/unit/compiler/btf_builder.hpp"

#include <fstream>

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    auto bytes = daybreak::compiler::test::small_kernel().bytes();
    std::ofstream out(argv[1], std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    return out.good() ? 0 : 1;
}
