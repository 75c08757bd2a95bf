// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C: the SSE4.2 instruction where the CPU has it, else eight bytes a step by table.
#include "base/crc32c.hpp"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace daybreak::base {

namespace {

constexpr uint32_t kPolynomial = 0x82f63b78; // reflected 0x1edc6f41

constexpr std::array<std::array<uint32_t, 256>, 8> make_tables() {
    std::array<std::array<uint32_t, 256>, 8> tables{};
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) ? kPolynomial : 0);
        tables[0][i] = crc;
    }
    for (size_t t = 1; t < 8; t++)
        for (uint32_t i = 0; i < 256; i++)
            tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
    return tables;
}

constexpr auto kTables = make_tables();

uint32_t crc32c_table(ByteView bytes, uint32_t crc) {
    while (bytes.size() >= 8) {
        uint64_t word;
        std::memcpy(&word, bytes.data(), 8);
        word ^= crc;
        crc = 0;
        for (size_t i = 0; i < 8; i++)
            crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
        bytes = bytes.subspan(8);
    }
    for (std::byte b : bytes)
        crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint32_t>(b)) & 0xff];
    return crc;
}

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] uint32_t crc32c_sse42(ByteView bytes, uint32_t crc) {
    uint64_t state = crc;
    while (bytes.size() >= 8) {
        uint64_t word;
        std::memcpy(&word, bytes.data(), 8);
        state = _mm_crc32_u64(state, word);
        bytes = bytes.subspan(8);
    }
    uint32_t tail = static_cast<uint32_t>(state);
    for (std::byte b : bytes)
        tail = _mm_crc32_u8(tail, static_cast<uint8_t>(b));
    return tail;
}
#endif

} // namespace

uint32_t crc32c(ByteView bytes, uint32_t crc) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc32c_sse42(bytes, ~crc);
#endif
    return crc32c_portable(bytes, crc);
}

uint32_t crc32c_portable(ByteView bytes, uint32_t crc) {
    return ~crc32c_table(bytes, ~crc);
}

} // namespace daybreak::base
