// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C: the SSE4.2 instruction where the CPU has it, else eight bytes a step by table.
//
// The instruction takes three cycles, and a new one may begin in each of them: long pieces are read
// in three lanes.  Over GF(2) the state after bytes is a sum, so lanes are put together:
//
//     state(A B, s) = zeros(state(A, s)) ^ state(B, 0)    zeros(): the state after as many zeros as
//                                                         B has bytes; linear, so by table
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
constexpr size_t kLaneBytes = 1024;

/// What kLaneBytes zeros make of a state, by its four bytes.
constexpr std::array<std::array<uint32_t, 256>, 4> make_zeros() {
    std::array<std::array<uint32_t, 256>, 4> zeros{};
    for (size_t at = 0; at < 4; at++)
        for (uint32_t bit = 1; bit < 256; bit *= 2) {
            uint32_t state = bit << (8 * at);
            for (size_t i = 0; i < kLaneBytes; i++)
                state = (state >> 8) ^ kTables[0][state & 0xff];
            for (uint32_t lower = 0; lower < bit; lower++)
                zeros[at][bit + lower] = zeros[at][lower] ^ state;
        }
    return zeros;
}

constexpr auto kZeros = make_zeros();

uint64_t after_lane_of_zeros(uint64_t state) {
    return kZeros[0][state & 0xff] ^ kZeros[1][(state >> 8) & 0xff] ^
           kZeros[2][(state >> 16) & 0xff] ^ kZeros[3][(state >> 24) & 0xff];
}

[[gnu::target("sse4.2")]] uint64_t step(uint64_t state, const std::byte* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    return _mm_crc32_u64(state, word);
}

[[gnu::target("sse4.2")]] uint32_t crc32c_sse42(ByteView bytes, uint32_t crc) {
    uint64_t state = crc;
    for (; bytes.size() >= 3 * kLaneBytes; bytes = bytes.subspan(3 * kLaneBytes)) {
        uint64_t second = 0, third = 0;
        for (size_t i = 0; i < kLaneBytes; i += sizeof(uint64_t)) {
            state = step(state, &bytes[i]);
            second = step(second, &bytes[kLaneBytes + i]);
            third = step(third, &bytes[2 * kLaneBytes + i]);
        }
        state = after_lane_of_zeros(after_lane_of_zeros(state) ^ second) ^ third;
    }
    for (; bytes.size() >= sizeof(uint64_t); bytes = bytes.subspan(sizeof(uint64_t)))
        state = step(state, bytes.data());
    auto tail = static_cast<uint32_t>(state);
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
