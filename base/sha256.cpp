// SPDX-License-Identifier: Apache-2.0
//
// SHA-256, as FIPS 180-4 section 6.2 defines it.
#include "base/sha256.hpp"

#include <bit>

namespace daybreak::base {

namespace {

constexpr size_t kBlockBytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

using State = std::array<uint32_t, 8>;

void add_block(State& state, const uint8_t* block) {
    uint32_t schedule[64];
    for (size_t i = 0; i < 16; i++)
        schedule[i] = uint32_t{block[i * 4]} << 24 | uint32_t{block[i * 4 + 1]} << 16 |
                      uint32_t{block[i * 4 + 2]} << 8 | block[i * 4 + 3];
    for (size_t i = 16; i < 64; i++) {
        uint32_t low = schedule[i - 15], high = schedule[i - 2];
        schedule[i] = schedule[i - 16] + schedule[i - 7] +
                      (std::rotr(low, 7) ^ std::rotr(low, 18) ^ (low >> 3)) +
                      (std::rotr(high, 17) ^ std::rotr(high, 19) ^ (high >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < 64; i++) {
        uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        uint32_t first = h + sum1 + ((e & f) ^ (~e & g)) + kRound[i] + schedule[i];
        uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        uint32_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const uint32_t words[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; i++)
        state[i] += words[i];
}

} // namespace

std::array<uint8_t, 32> sha256(ByteView bytes) {
    // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
    for (size_t at = 0; at < whole; at += kBlockBytes)
        add_block(state, data + at);
    // The rest, a one bit, zeros, and the length in bits: one block or two.
    uint8_t tail[2 * kBlockBytes] = {};
    size_t rest = bytes.size() - whole;
    if (rest)
        std::memcpy(tail, data + whole, rest);
    tail[rest] = 0x80;
    size_t tail_bytes = rest + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
    uint64_t bits = uint64_t{bytes.size()} * 8;
    for (size_t i = 0; i < 8; i++)
        tail[tail_bytes - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
    for (size_t at = 0; at < tail_bytes; at += kBlockBytes)
        add_block(state, tail + at);
    std::array<uint8_t, 32> digest;
    for (size_t i = 0; i < digest.size(); i++)
        digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

} // namespace daybreak::base
