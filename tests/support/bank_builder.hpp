// SPDX-License-Identifier: Apache-2.0
//
// Images of banks as the module writes them, for tests.
#pragma once

#include "base/crc32c.hpp"
#include "formats/abi/bank.h"

#include <cstring>
#include <optional>

namespace daybreak::test {

/// What a test says of one half; the rest follows.
struct BankHalfSpec {
    uint64_t generation = 1;
    uint64_t boot_id = 0x1122334455667788;
    uint32_t state = DBK_BANK_RECORDING;
    base::Bytes blocks; ///< from the first block's page on
};

/// A bank in memory at `kBankAddress`.
class BankImage {
public:
    static constexpr uint64_t kAddress = 0x10000000;

    explicit BankImage(uint64_t bank_bytes = DBK_BANK_BYTES_MIN) : bytes_(bank_bytes) {
        bank_.magic = DBK_BANK_MAGIC;
        bank_.version = DBK_BANK_VERSION;
        bank_.bank_bytes = bank_bytes;
        bank_.phys_addr = kAddress;
        bank_.half_bytes = (bank_bytes - DBK_BANK_PAGE_BYTES) / 2 & ~uint64_t{4095};
        bank_.half_offset[0] = DBK_BANK_PAGE_BYTES;
        bank_.half_offset[1] = DBK_BANK_PAGE_BYTES + bank_.half_bytes;
    }

    /// Writes a half: both headers, the blocks, then the bank's header.
    void put(uint32_t index, const BankHalfSpec& spec) {
        dbk_bank_half half = {};
        half.magic = DBK_BANK_HALF_MAGIC;
        half.version = DBK_BANK_VERSION;
        half.half = static_cast<uint16_t>(index);
        half.generation = spec.generation;
        half.phys_addr = kAddress + bank_.half_offset[index];
        half.half_bytes = bank_.half_bytes;
        half.data_offset = DBK_BANK_PAGE_BYTES;
        half.data_bytes = bank_.half_bytes - 2 * DBK_BANK_PAGE_BYTES;
        half.boot_id = spec.boot_id;
        std::memcpy(half.boot_uuid, &spec.boot_id, sizeof(spec.boot_id));
        std::strcpy(half.release, "6.1.0-test");
        std::strcpy(half.module_version, "0.1.0");
        half.state = spec.state;
        half.state_check = ~spec.state;
        half.used_bytes = (spec.blocks.size() + 4095) & ~size_t{4095};
        put_half(index, half);
        if (!spec.blocks.empty())
            std::memcpy(at(bank_.half_offset[index] + half.data_offset), spec.blocks.data(),
                        spec.blocks.size());
        bank_.half = static_cast<uint16_t>(index);
        bank_.generation = spec.generation;
        put_bank(bank_);
    }

    /// Writes a header of a half, sealed, and its copy.
    void put_half(uint32_t index, dbk_bank_half half) {
        half.crc32c = base::crc32c(std::as_bytes(std::span(&half, 1)).first(188));
        std::memcpy(at(bank_.half_offset[index]), &half, sizeof(half));
        std::memcpy(at(bank_.half_offset[index] + bank_.half_bytes - DBK_BANK_PAGE_BYTES), &half,
                    sizeof(half));
    }

    /// Writes the bank's header, sealed.
    void put_bank(dbk_bank_header bank) {
        bank.crc32c = base::crc32c(std::as_bytes(std::span(&bank, 1)).first(60));
        std::memcpy(bytes_.data(), &bank, sizeof(bank));
    }

    dbk_bank_half half_header(uint32_t index) {
        dbk_bank_half half;
        std::memcpy(&half, at(bank_.half_offset[index]), sizeof(half));
        return half;
    }
    const dbk_bank_header& header() const { return bank_; }

    /// Overwrites a page, as firmware does.
    void scribble(uint64_t offset) { std::memset(at(offset), 0xa5, DBK_BANK_PAGE_BYTES); }

    std::byte* at(uint64_t offset) { return bytes_.data() + offset; }
    base::Bytes& bytes() { return bytes_; }
    base::ByteView half_image(uint32_t index) const {
        return base::ByteView(bytes_).subspan(bank_.half_offset[index], bank_.half_bytes);
    }

private:
    base::Bytes bytes_;
    dbk_bank_header bank_ = {};
};

} // namespace daybreak::test
