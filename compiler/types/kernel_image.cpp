// SPDX-License-Identifier: Apache-2.0
//
// Getting the .BTF out of vmlinux, vmlinuz, modules and raw files.
#include "compiler/types/kernel_image.hpp"

#include "base/file.hpp"
#include "base/short_string.hpp"
#include "compiler/types/decompress.hpp"
#include "compiler/types/kernel_release.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <gelf.h>
#include <libelf.h>
#include <memory>

namespace daybreak::compiler {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

// Offsets of the x86 boot protocol, Documentation/arch/x86/boot.rst.
constexpr uint64_t kSetupSectors = 0x1f1; // u8; 0 means 4
constexpr uint64_t kProtocolVersion = 0x206;
constexpr uint64_t kPayloadOffset = 0x248; // u32, from the protected-mode part
constexpr uint64_t kPayloadLength = 0x24c; // u32
constexpr uint16_t kPayloadProtocol = 0x0208; // since when it has the payload fields
constexpr uint16_t kRawMagic = 0xeb9f;

// A vmlinuz in a compressed file in a ...: none is packed deeper.
constexpr unsigned kLayersMax = 3;

bool is_bzimage(ByteView bytes) {
    auto magic = ByteReader(bytes).read_at<uint32_t>(kSetupMagicAt);
    return magic.ok() && *magic == kSetupMagic;
}

bool is_elf(ByteView bytes) {
    auto magic = ByteReader(bytes).read_at<uint32_t>(0);
    return magic.ok() && *magic == 0x464c457fu; // "\177ELF"
}

bool is_raw_btf(ByteView bytes) {
    auto magic = ByteReader(bytes).read_at<uint16_t>(0);
    return magic.ok() && (*magic == kRawMagic || *magic == __builtin_bswap16(kRawMagic));
}

/// Finds whole BTF in the front of a vmlinux.  Its section table is after everything, but .BTF
/// lies in the first half: unpacking need not go on for longer than that.
class BtfSearch {
public:
    bool found_in(ByteView unpacked) {
        static constexpr uint8_t kStart[] = {0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0};
        while (unpacked.size() >= sizeof(kStart) && next_ <= unpacked.size() - sizeof(kStart)) {
            // memmem() looks at each byte, memchr() at many at once, and few are that one.
            const void* at = memchr(unpacked.data() + next_, kStart[0],
                                    unpacked.size() - next_ - sizeof(kStart) + 1);
            if (!at) {
                next_ = unpacked.size() - sizeof(kStart) + 1;
                return false;
            }
            next_ = static_cast<size_t>(static_cast<const std::byte*>(at) - unpacked.data());
            if (memcmp(at, kStart, sizeof(kStart)) != 0) {
                next_++;
                continue;
            }
            ByteReader reader(unpacked.subspan(next_), "BTF");
            auto types = reader.read_at<uint32_t>(12), start = reader.read_at<uint32_t>(16),
                 bytes = reader.read_at<uint32_t>(20);
            if (!types.ok() || !start.ok() || !bytes.ok())
                return false;
            uint64_t end = uint64_t{kHeaderBytes} + *start + *bytes;
            bool plausible = *types % 4 == 0 && *types >= kKernelTypesBytesMin &&
                             *start == *types && *bytes != 0;
            if (plausible && end > unpacked.size() - next_)
                return false; // not all of it yet
            auto first = reader.read_at<uint8_t>(uint64_t{kHeaderBytes} + *start);
            auto last = reader.read_at<uint8_t>(end - 1);
            if (plausible && first.ok() && last.ok() && *first == 0 && *last == 0) {
                bytes_ = end;
                return true;
            }
            next_++;
        }
        return false;
    }
    /// What was found; empty before found_in() said yes.
    ByteView slice(ByteView unpacked) const { return unpacked.subspan(bytes_ ? next_ : 0, bytes_); }

private:
    static constexpr uint32_t kHeaderBytes = 24;
    // 64 KiB: an eBPF program that is linked into the kernel has types of its own, before the
    // kernel's: in Ubuntu's 6.8 608 bytes (hid_bpf) and 3.4 MiB. A kernel with fewer is unpacked to
    // its end.
    static constexpr uint32_t kKernelTypesBytesMin = 64u << 10;
    size_t next_ = 0;
    uint64_t bytes_ = 0;
};

enum class Wanted : uint8_t { btf, vmlinux };

/// Unpacks the vmlinux inside a bzImage; of one whose BTF is wanted as much as has it, and then
/// only that.
Result<Bytes> bzimage_payload(ByteView bytes, const std::string& what, Wanted wanted) {
    ByteReader reader(bytes, what);
    DBK_TRY(auto version, reader.read_at<uint16_t>(kProtocolVersion));
    if (version < kPayloadProtocol)
        return errorf(ErrorCode::unsupported, "%s: boot protocol %x is older than %x", what.c_str(),
                      version, kPayloadProtocol);
    DBK_TRY(auto sectors, reader.read_at<uint8_t>(kSetupSectors));
    DBK_TRY(auto offset, reader.read_at<uint32_t>(kPayloadOffset));
    DBK_TRY(auto length, reader.read_at<uint32_t>(kPayloadLength));
    uint64_t start = (uint64_t{sectors ? sectors : 4u} + 1) * 512 + offset;
    DBK_TRY(auto payload, reader.bytes_at(start, length));
    if (is_elf(payload))
        return Bytes(payload.begin(), payload.end());
    // The last word is the unpacked size.
    if (length < sizeof(uint32_t))
        return errorf(ErrorCode::corrupt, "%s: payload of %u bytes", what.c_str(), length);
    DBK_TRY(auto unpacked_bytes, reader.read_at<uint32_t>(start + length - sizeof(uint32_t)));
    if (unpacked_bytes > kUnpackedBytesMax)
        return errorf(ErrorCode::limit, "%s: claims to unpack to %u bytes, at most %" PRIu64,
                      what.c_str(), unpacked_bytes, kUnpackedBytesMax);
    // One byte more than claimed, so that a stream that is longer is noticed, not cut.
    BtfSearch search;
    auto enough = [&](ByteView so_far) { return wanted == Wanted::btf && search.found_in(so_far); };
    DBK_TRY(auto unpacked, decompress(payload, what, uint64_t{unpacked_bytes} + 1, enough));
    if (ByteView btf = search.slice(unpacked); !btf.empty())
        return Bytes(btf.begin(), btf.end());
    if (unpacked.size() != unpacked_bytes)
        return errorf(ErrorCode::corrupt, "%s: unpacks to %zu bytes, claims %u", what.c_str(),
                      unpacked.size(), unpacked_bytes);
    return unpacked;
}

/// Returns the bytes of section .BTF.  libelf reads the copy in memory and checks its bounds.
Result<Bytes> elf_btf(Bytes& bytes, const std::string& what) {
    if (elf_version(EV_CURRENT) == EV_NONE)
        return errorf(ErrorCode::unsupported, "libelf is too old");
    std::unique_ptr<Elf, int (*)(Elf*)> elf(
        elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size()), elf_end);
    size_t names = 0;
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF || elf_getshdrstrndx(elf.get(), &names) != 0)
        return errorf(ErrorCode::corrupt, "%s: not a readable ELF file: %s", what.c_str(),
                      elf_errmsg(-1));
    constexpr std::string_view kBtfSection = ".BTF";
    Elf_Data* name_data = elf_rawdata(elf_getscn(elf.get(), names), nullptr);
    ByteView name_table;
    if (name_data && name_data->d_buf)
        name_table = {static_cast<const std::byte*>(name_data->d_buf), name_data->d_size};
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            base::short_string_at(name_table, header.sh_name, kBtfSection.size()) != kBtfSection)
            continue;
        if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0)
            return errorf(ErrorCode::unsupported, "%s: compressed .BTF: %s", what.c_str(),
                          elf_errmsg(-1));
        Elf_Data* data = elf_rawdata(section, nullptr);
        if (!data || !data->d_buf)
            return errorf(ErrorCode::corrupt, "%s: section .BTF cannot be read: %s", what.c_str(),
                          elf_errmsg(-1));
        const auto* start = static_cast<const std::byte*>(data->d_buf);
        return Bytes(start, start + data->d_size);
    }
    return errorf(ErrorCode::not_found,
                  "%s: has no section .BTF (kernel built without CONFIG_DEBUG_INFO_BTF?)",
                  what.c_str());
}

/// Unpacks until BTF or an ELF file comes out.
Result<Bytes> unpack(Bytes bytes, const std::string& what, Wanted wanted) {
    for (unsigned layer = 0; layer < kLayersMax; layer++) {
        if (is_raw_btf(bytes) || is_elf(bytes))
            return bytes;
        if (is_bzimage(bytes)) {
            DBK_TRY(bytes, bzimage_payload(bytes, what, wanted));
        } else if (is_compressed(bytes)) {
            DBK_TRY(bytes, decompress(bytes, what));
        } else {
            break;
        }
    }
    return errorf(ErrorCode::unsupported, "%s: neither BTF, nor vmlinux, vmlinuz or kernel module",
                  what.c_str());
}

} // namespace

Result<Bytes> extract_btf(Bytes untrusted_bytes, const std::string& what) {
    DBK_TRY(Bytes bytes, unpack(std::move(untrusted_bytes), what, Wanted::btf));
    if (is_elf(bytes))
        return elf_btf(bytes, what);
    return bytes;
}

Result<Bytes> extract_vmlinux(Bytes untrusted_bytes, const std::string& what) {
    DBK_TRY(Bytes bytes, unpack(std::move(untrusted_bytes), what, Wanted::vmlinux));
    if (!is_elf(bytes))
        return errorf(ErrorCode::not_found, "%s: has types only, not the kernel", what.c_str());
    return bytes;
}

Result<Bytes> read_btf_file(const std::string& path) {
    DBK_TRY(auto bytes, base::read_file(path));
    return extract_btf(std::move(bytes), path);
}

} // namespace daybreak::compiler
