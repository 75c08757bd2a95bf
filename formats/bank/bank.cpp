// SPDX-License-Identifier: Apache-2.0
//
// Headers of banks and halves, checked.
#include "formats/bank/bank.hpp"

#include "base/crc32c.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::ByteReader;
using base::errorf;
using base::strprintf;

constexpr size_t kPageBytes = DBK_BANK_PAGE_BYTES;

template <size_t N>
std::string text_of(const char (&text)[N]) {
    return std::string(text, strnlen(text, N));
}

/// Refuses a half whose numbers are none that a module writes.
Result<void> check_layout(const dbk_bank_half& header) {
    bool sizes = header.half_bytes % kPageBytes == 0 && header.half_bytes > 2 * kPageBytes &&
                 header.half_bytes <= DBK_BANK_BYTES_MAX && header.data_offset == kPageBytes &&
                 header.data_bytes == header.half_bytes - 2 * kPageBytes;
    if (!sizes)
        return errorf(ErrorCode::corrupt,
                      "it says that it has %" PRIu64 " bytes, blocks at %" PRIu64 " of %" PRIu64,
                      header.half_bytes, header.data_offset, header.data_bytes);
    if (header.half >= DBK_BANK_HALVES || header.generation == 0)
        return errorf(ErrorCode::corrupt, "it says that it is half %u of generation %" PRIu64,
                      header.half, header.generation);
    return {};
}

/// Reads a header of a half; `untrusted` begins with it.
Result<dbk_bank_half> read_header(ByteView untrusted) {
    ByteReader reader(untrusted, "half of a bank");
    DBK_TRY(dbk_bank_half header, reader.read<dbk_bank_half>());
    if (header.magic != DBK_BANK_HALF_MAGIC)
        return errorf(ErrorCode::not_found, "no half of a bank starts here");
    if (header.version != DBK_BANK_VERSION)
        return errorf(ErrorCode::unsupported, "it is of version %u, this program reads %u",
                      header.version, DBK_BANK_VERSION);
    if (base::crc32c(untrusted.first(offsetof(dbk_bank_half, crc32c))) != header.crc32c)
        return errorf(ErrorCode::corrupt, "the checksum of its header does not hold");
    DBK_TRY_VOID(check_layout(header));
    return header;
}

BankHalf facts_of(const dbk_bank_half& header) {
    BankHalf half;
    half.half = header.half;
    half.generation = header.generation;
    half.phys_addr = header.phys_addr;
    half.half_bytes = header.half_bytes;
    half.boot_id = header.boot_id;
    std::copy(std::begin(header.boot_uuid), std::end(header.boot_uuid), half.boot_uuid.begin());
    half.start_mono_ns = header.start_mono_ns;
    half.start_wall_ns = header.start_wall_ns;
    half.release = text_of(header.release);
    half.module_version = text_of(header.module_version);
    bool known = header.state == static_cast<uint32_t>(~header.state_check) &&
                 header.state >= DBK_BANK_RECORDING && header.state <= DBK_BANK_PANIC;
    half.state = known ? header.state : 0;
    bool used = header.used_bytes <= header.data_bytes && header.used_bytes % kPageBytes == 0;
    half.used_bytes = used ? header.used_bytes : header.data_bytes;
    half.blocks_phys_addr = header.phys_addr + header.data_offset;
    return half;
}

/// Where the halves of a bank of a size lie.
uint64_t half_bytes_of(uint64_t bank_bytes) {
    return (bank_bytes - kPageBytes) / DBK_BANK_HALVES & ~uint64_t{kPageBytes - 1};
}

/// Reads the bank's own header; `untrusted` begins with its magic.
Result<dbk_bank_header> read_bank_header(ByteView untrusted) {
    ByteReader reader(untrusted, "bank");
    DBK_TRY(dbk_bank_header header, reader.read<dbk_bank_header>());
    if (header.version != DBK_BANK_VERSION)
        return errorf(ErrorCode::unsupported, "the bank is of version %u, this program reads %u",
                      header.version, DBK_BANK_VERSION);
    if (base::crc32c(untrusted.first(offsetof(dbk_bank_header, crc32c))) != header.crc32c)
        return errorf(ErrorCode::corrupt, "the checksum of the bank's header does not hold");
    if (header.bank_bytes % kPageBytes != 0 || header.bank_bytes < DBK_BANK_BYTES_MIN ||
        header.bank_bytes > DBK_BANK_BYTES_MAX ||
        header.half_bytes != half_bytes_of(header.bank_bytes) ||
        header.half_offset[0] != kPageBytes ||
        header.half_offset[1] != kPageBytes + header.half_bytes)
        return errorf(ErrorCode::corrupt,
                      "the bank says that it has %" PRIu64 " bytes, halves at %" PRIu64
                      " and %" PRIu64 " of %" PRIu64,
                      header.bank_bytes, header.half_offset[0], header.half_offset[1],
                      header.half_bytes);
    return header;
}

/// Reads one half of a bank of `bank_bytes`, wherever the image ends.
void add_half(Bank& bank, ByteView image, uint32_t index, std::optional<uint64_t> phys_addr) {
    uint64_t bytes = half_bytes_of(bank.bank_bytes);
    uint64_t offset = kPageBytes + index * bytes;
    ByteView part = offset < image.size()
                        ? image.subspan(offset, std::min<uint64_t>(bytes, image.size() - offset))
                        : ByteView();
    Result<BankHalf> half = parse_bank_half(part);
    if (half.ok() && half.value().half_bytes != bytes)
        half = errorf(ErrorCode::corrupt, "it is of a bank of another size");
    if (half.ok() && half.value().half != index)
        half = errorf(ErrorCode::corrupt, "it says that it is half %u", half.value().half);
    if (half.ok() && phys_addr && half.value().phys_addr != *phys_addr + offset)
        half = errorf(ErrorCode::corrupt, "it says that it lies at 0x%" PRIx64,
                      half.value().phys_addr);
    if (!half.ok()) {
        bank.others.push_back({index, half.error()});
        return;
    }
    note_half(half.value(), bank.findings);
    bank.halves.push_back(std::move(half).value());
}

/// What is wrong with a bank of which no half can be read.
Error no_half(const Bank& bank) {
    for (const BankHalfRefusal& other : bank.others)
        if (other.error.code() != ErrorCode::not_found)
            return Error(other.error.code(),
                         strprintf("half %u: %s", other.half, other.error.message().c_str()));
    return errorf(ErrorCode::not_found, "no boot has recorded into it");
}

} // namespace

void note_half(const BankHalf& half, Findings& findings) {
    if (half.from_copy)
        findings.add(FindingKind::header_copy, strprintf("half %u", half.half),
                     "its first page was overwritten, the header was read from the last one");
    if (half.cut)
        findings.add(FindingKind::truncated, strprintf("half %u", half.half),
                     strprintf("%" PRIu64 " bytes, the image ends before", half.half_bytes));
}

const char* bank_state_text(uint32_t state) {
    switch (state) {
#define DBK_BANK_STATE_TEXT(name, value, what)                                                     \
    case value:                                                                                    \
        return what;
        DBK_BANK_STATES(DBK_BANK_STATE_TEXT)
#undef DBK_BANK_STATE_TEXT
    default:
        return "how it ended is not known";
    }
}

Result<BankHalf> parse_bank_half(ByteView untrusted_image) {
    Result<dbk_bank_half> header = read_header(untrusted_image);
    bool from_copy = false;
    size_t pages_bytes = untrusted_image.size() & ~(kPageBytes - 1);
    if (!header.ok() && header.error().code() != ErrorCode::unsupported &&
        pages_bytes >= 2 * kPageBytes) {
        Result<dbk_bank_half> copy = read_header(untrusted_image.subspan(pages_bytes - kPageBytes));
        from_copy = copy.ok() && copy.value().half_bytes == pages_bytes;
        if (from_copy)
            header = copy;
    }
    if (!header.ok() && header.error().code() == ErrorCode::truncated)
        return errorf(ErrorCode::not_found, "%zu bytes are no half of a bank",
                      untrusted_image.size());
    if (!header.ok())
        return header.error();
    BankHalf half = facts_of(header.value());
    half.from_copy = from_copy;
    half.cut = untrusted_image.size() < half.half_bytes;
    if (untrusted_image.size() > header.value().data_offset) {
        ByteView rest = untrusted_image.subspan(header.value().data_offset);
        half.blocks = rest.first(std::min<uint64_t>(rest.size(), header.value().data_bytes));
    }
    return half;
}

Result<Bank> parse_bank(ByteView untrusted_image) {
    Bank bank;
    uint32_t magic = 0;
    if (untrusted_image.size() >= sizeof(magic))
        std::memcpy(&magic, untrusted_image.data(), sizeof(magic));
    std::optional<uint64_t> phys_addr;
    if (magic == DBK_BANK_MAGIC) {
        Result<dbk_bank_header> header = read_bank_header(untrusted_image);
        if (!header.ok() && header.error().code() == ErrorCode::unsupported)
            return header.error();
        if (header.ok()) {
            bank.bank_bytes = header.value().bank_bytes;
            phys_addr = header.value().phys_addr;
        } else {
            bank.findings.add(FindingKind::header_copy, "bank", header.error().message());
        }
    } else if (Result<BankHalf> half = parse_bank_half(untrusted_image); half.ok()) {
        note_half(half.value(), bank.findings);
        bank.halves.push_back(std::move(half).value());
        return bank;
    } else if (half.error().code() != ErrorCode::not_found) {
        return half.error();
    }
    if (bank.bank_bytes == 0) { // without a header: where the halves of such a bank would be
        uint64_t bytes = untrusted_image.size() & ~uint64_t{kPageBytes - 1};
        if (bytes < DBK_BANK_BYTES_MIN)
            return errorf(ErrorCode::not_found, "not a bank: %zu bytes without the header of one",
                          untrusted_image.size());
        bank.bank_bytes = bytes;
    }
    for (uint32_t index = 0; index < DBK_BANK_HALVES; index++)
        add_half(bank, untrusted_image, index, phys_addr);
    if (bank.halves.empty() && magic != DBK_BANK_MAGIC &&
        std::all_of(bank.others.begin(), bank.others.end(), [](const BankHalfRefusal& other) {
            return other.error.code() == ErrorCode::not_found;
        }))
        return errorf(ErrorCode::not_found, "it holds no bank");
    if (bank.halves.empty())
        return no_half(bank);
    if (magic != DBK_BANK_MAGIC)
        bank.findings.add(FindingKind::header_copy, "bank", "its first page was overwritten");
    std::stable_sort(
        bank.halves.begin(), bank.halves.end(),
        [](const BankHalf& a, const BankHalf& b) { return a.generation > b.generation; });
    return bank;
}

} // namespace daybreak::formats
