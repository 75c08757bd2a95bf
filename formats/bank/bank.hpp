// SPDX-License-Identifier: Apache-2.0
//
// A bank of reserved memory: its header, its halves, and where their blocks lie.
//
// formats/abi/bank.md is the specification.  Nothing here looks at the blocks: they are pieces like
// all others, and RecordingBuilder finds them in BankHalf::blocks.
//
//     image of a bank ----parse_bank()------> halves, the later boot first
//     image of a half ----parse_bank_half()-> its facts and blocks
#pragma once

#include "formats/abi/bank.h"
#include "formats/segment/finding.hpp"

#include <array>

namespace daybreak::formats {

/// One half whose header holds.
struct BankHalf {
    uint32_t half = 0; ///< 0 or 1
    uint64_t generation = 0;
    uint64_t phys_addr = 0; ///< of the half
    uint64_t half_bytes = 0;
    uint64_t boot_id = 0;
    std::array<uint8_t, 16> boot_uuid{};
    uint64_t start_mono_ns = 0, start_wall_ns = 0;
    std::string release, module_version;
    uint32_t state = 0;      ///< enum dbk_bank_state; 0 when it was not known
    uint64_t used_bytes = 0; ///< of the blocks; all when it was not known
    bool from_copy = false;  ///< the first page was lost, the last one had it
    bool cut = false;        ///< the image ends before the half does

    ByteView blocks;               ///< all the room, as far as it is in the image
    uint64_t blocks_phys_addr = 0; ///< of their first byte
};

/// Reports what of the half was lost and could be done without, or could not.
void note_half(const BankHalf& half, Findings& findings);

/// Returns what became of the one who recorded, in words.
const char* bank_state_text(uint32_t state);

/// A half that could not be read, and why.
struct BankHalfRefusal {
    uint32_t half = 0;
    Error error;
};

/// An image of a bank, or of one half.
struct Bank {
    uint64_t bank_bytes = 0;             ///< 0: the image is of one half
    std::vector<BankHalf> halves;        ///< the later generation first
    std::vector<BankHalfRefusal> others; ///< those that hold nothing, or cannot be read
    Findings findings;                   ///< headers that were lost and could be done without
};

/// Reads the header of a half from its first page, or else from the last one of the image.
/// Errors: not_found, when no half was ever here; unsupported, when it is of another version;
/// corrupt, when its header contradicts itself or the image.
Result<BankHalf> parse_bank_half(ByteView untrusted_image);

/// Reads an image of a whole bank, or of one half alone.  An image without a header of the bank is
/// looked at where the halves of a bank of its size lie.
/// Errors: not_found, when the image holds no bank; unsupported, when it is of another version;
/// corrupt, when neither half can be read and at least one should be there.
Result<Bank> parse_bank(ByteView untrusted_image);

} // namespace daybreak::formats
