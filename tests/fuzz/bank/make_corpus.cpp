// SPDX-License-Identifier: Apache-2.0
//
// Writes the seed of the bank fuzzer: the headers of a bank with two halves, as bank_fuzz.cpp lays
// them out.
#include "tests/support/bank_builder.hpp"

#include <fstream>
#include <string>

using namespace daybreak;

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    test::BankImage image;
    image.put(0, {.generation = 1, .boot_id = 7});
    image.put(1, {.generation = 2, .boot_id = 8, .state = DBK_BANK_PANIC});
    std::ofstream file(std::string(argv[1]) + "/headers.bank", std::ios::binary);
    file.write(reinterpret_cast<const char*>(image.bytes().data()), sizeof(dbk_bank_header));
    for (uint32_t half : {0u, 1u})
        for (int copy = 0; copy < 2; copy++)
            file.write(reinterpret_cast<const char*>(image.half_image(half).data()),
                       sizeof(dbk_bank_half));
    return file.good() ? 0 : 1;
}
