// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: a bank of 1 MiB whose five headers are the input, with their checksums made good
// when the last byte is odd, so that what lies after them is reached.  Holds: blocks lie inside
// the image, and a half that was accepted is the one that was asked for.
#include "base/crc32c.hpp"
#include "formats/bank/bank.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

constexpr uint64_t kHalfBytes = (DBK_BANK_BYTES_MIN - 4096) / 2 & ~uint64_t{4095};

/// Where each header of the input goes, and over how many bytes its checksum is.
constexpr struct {
    uint64_t offset;
    size_t bytes, checksum_offset;
} kPlaces[] = {
    {0, sizeof(dbk_bank_header), 60},
    {4096, sizeof(dbk_bank_half), 188},
    {kHalfBytes, sizeof(dbk_bank_half), 188},
    {4096 + kHalfBytes, sizeof(dbk_bank_half), 188},
    {2 * kHalfBytes, sizeof(dbk_bank_half), 188},
};

void check(ByteView image, const BankHalf& half) {
    DBK_ASSERT(half.half < DBK_BANK_HALVES && half.generation != 0);
    if (half.blocks.empty())
        return;
    DBK_ASSERT(half.blocks.data() >= image.data() &&
               half.blocks.data() + half.blocks.size() <= image.data() + image.size());
    DBK_ASSERT(half.blocks.size() <= half.half_bytes);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0)
        return 0;
    static base::Bytes image(DBK_BANK_BYTES_MIN);
    ByteView input = std::as_bytes(std::span(data, size));
    bool seal = data[size - 1] % 2 != 0;
    for (const auto& place : kPlaces) {
        std::memset(image.data() + place.offset, 0, place.bytes);
        size_t bytes = std::min(place.bytes, input.size());
        std::memcpy(image.data() + place.offset, input.data(), bytes);
        input = input.subspan(bytes);
        uint32_t crc = base::crc32c(ByteView(image).subspan(place.offset, place.checksum_offset));
        if (seal)
            std::memcpy(image.data() + place.offset + place.checksum_offset, &crc, sizeof(crc));
    }
    if (Result<Bank> bank = parse_bank(image); bank.ok()) {
        DBK_ASSERT(!bank->halves.empty());
        for (const BankHalf& half : bank->halves)
            check(image, half);
    }
    ByteView whole(image);
    for (uint64_t offset : {uint64_t{4096}, 4096 + kHalfBytes})
        if (Result<BankHalf> half = parse_bank_half(whole.subspan(offset, kHalfBytes)); half.ok())
            check(whole.subspan(offset, kHalfBytes), *half);
    return 0;
}
