// SPDX-License-Identifier: Apache-2.0
//
// A driver for fuzz targets that needs no fuzzing engine, so that every build can run them:
//
//   fuzz_X [-n MUTATIONS] [-s SEED] FILE...
//
// For each seed file it feeds the target every truncation of the file, then MUTATIONS random
// mutations in all, spread over the files; DAYBREAK_ROUNDS says another number.  The last line is
// what the harness reads: "fuzz: T truncations, M mutations, seed S".  A target is a
// LLVMFuzzerTestOneInput(), so the same source also links with clang's -fsanitize=fuzzer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Input = std::vector<uint8_t>;

Input read_input(const char* path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        std::fprintf(stderr, "fuzz: cannot open %s\n", path);
        std::exit(1);
    }
    return Input(std::istreambuf_iterator<char>(in), {});
}

uint64_t interesting(std::mt19937_64& random) {
    static const uint64_t values[] = {0,          1,          7,          8,         0x7f,
                                      0x80,       0xff,       0x7fff,     0xffff,    0x10000,
                                      0x7fffffff, 0x80000000, 0xffffffff, ~0ull,     1ull << 63,
                                      64,         4096,       16384,      0x1000000, 0xfffffff8};
    return values[random() % std::size(values)];
}

/// Changes one to eight places: a bit, a byte, an aligned word, a copied or cut stretch.
void mutate(Input& input, std::mt19937_64& random) {
    int changes = 1 + static_cast<int>(random() % 8);
    while (changes-- > 0 && !input.empty()) {
        size_t at = random() % input.size();
        switch (random() % 6) {
        case 0:
            input[at] ^= static_cast<uint8_t>(1u << (random() % 8));
            break;
        case 1:
            input[at] = static_cast<uint8_t>(random());
            break;
        case 2:
        case 3: {
            size_t width = size_t{1} << (random() % 4);
            uint64_t value = random() % 2 ? interesting(random) : random();
            at &= ~(width - 1);
            if (at + width <= input.size())
                std::memcpy(&input[at], &value, width);
            break;
        }
        case 4: {
            size_t length = 1 + random() % 64, from = random() % input.size();
            if (at + length <= input.size() && from + length <= input.size())
                std::memmove(&input[at], &input[from], length);
            break;
        }
        case 5:
            if (random() % 16 == 0)
                input.resize(at);
            break;
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    uint64_t mutations = 1000, seed = 1;
    std::vector<Input> inputs;
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "-n") && i + 1 < argc)
            mutations = std::strtoull(argv[++i], nullptr, 0);
        else if (!std::strcmp(argv[i], "-s") && i + 1 < argc)
            seed = std::strtoull(argv[++i], nullptr, 0);
        else
            inputs.push_back(read_input(argv[i]));
    }
    if (const char* rounds = std::getenv("DAYBREAK_ROUNDS"))
        mutations = std::strtoull(rounds, nullptr, 0);
    if (inputs.empty()) {
        std::fprintf(stderr, "usage: %s [-n MUTATIONS] [-s SEED] FILE...\n", argv[0]);
        return 2;
    }
    uint64_t truncations = 0;
    for (const Input& input : inputs)
        for (size_t length = 0; length <= input.size(); length++, truncations++) {
            Input cut(input.begin(), input.begin() + static_cast<ptrdiff_t>(length));
            LLVMFuzzerTestOneInput(cut.data(), cut.size());
        }
    std::mt19937_64 random(seed);
    for (uint64_t i = 0; i < mutations; i++) {
        Input input = inputs[i % inputs.size()];
        mutate(input, random);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("fuzz: %llu truncations, %llu mutations, seed %llu\n",
                static_cast<unsigned long long>(truncations),
                static_cast<unsigned long long>(mutations), static_cast<unsigned long long>(seed));
    return 0;
}
