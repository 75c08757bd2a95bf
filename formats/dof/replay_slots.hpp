// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a replayed firing: what the compiler of its program reads, the replay fills.
//
//     args[]:  kFirstSlot..                       slot..
//              words of bits: what is here        integers, addresses of strings
#pragma once

#include <cstdint>

namespace daybreak::formats {

/// Arguments before are not asked of the host by probes that the engine fires itself.
constexpr uint32_t kFirstSlot = 10;
constexpr uint32_t presence_word(uint32_t slot) {
    return kFirstSlot + (slot - kFirstSlot) / 64;
}
constexpr uint64_t presence_bit(uint32_t slot) {
    return uint64_t{1} << (slot - kFirstSlot) % 64;
}

} // namespace daybreak::formats
