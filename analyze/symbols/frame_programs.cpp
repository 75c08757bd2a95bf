// SPDX-License-Identifier: Apache-2.0
//
// One walk over .eh_frame, and one over its index.
#include "analyze/symbols/frame_programs.hpp"

#include "base/byte_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <optional>
#include <string_view>
#include <vector>

namespace daybreak::analyze {

namespace {

/// Of 3064 files on a Debian 12 the longest program has 20 KiB, and none remembers two states at a
/// time.
constexpr uint64_t kRegistersMax = 128, kRememberedMax = 16, kProgramBytesMax = 64 << 10;

/// What follows an instruction: r a register, n a number, b a block after its length, a an address
/// as the CIE says, a digit that many bytes.  Null: there is no such instruction.
constexpr auto kOperands = [] {
    std::array<const char*, 0x40> of = {};
    of[DW_CFA_nop] = of[DW_CFA_remember_state] = of[DW_CFA_restore_state] = "";
    of[DW_CFA_set_loc] = "a";
    of[DW_CFA_advance_loc1] = "1";
    of[DW_CFA_advance_loc2] = "2";
    of[DW_CFA_advance_loc4] = "4";
    of[DW_CFA_MIPS_advance_loc8] = "8";
    of[DW_CFA_restore_extended] = of[DW_CFA_undefined] = of[DW_CFA_same_value] =
        of[DW_CFA_def_cfa_register] = "r";
    of[DW_CFA_def_cfa_offset] = of[DW_CFA_def_cfa_offset_sf] = of[DW_CFA_GNU_args_size] = "n";
    of[DW_CFA_offset_extended] = of[DW_CFA_offset_extended_sf] = of[DW_CFA_def_cfa] =
        of[DW_CFA_def_cfa_sf] = of[DW_CFA_val_offset] = of[DW_CFA_val_offset_sf] =
            of[DW_CFA_GNU_negative_offset_extended] = "rn";
    of[DW_CFA_register] = "rr";
    of[DW_CFA_def_cfa_expression] = "b";
    of[DW_CFA_expression] = of[DW_CFA_val_expression] = "rb";
    return of;
}();

/// Reads a program, or what lies before one; false once it is not what it should be.
class Scan {
public:
    Scan(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end) {}

    bool skip(uint64_t bytes) {
        if (bytes > static_cast<uint64_t>(end_ - at_))
            return false;
        at_ += bytes;
        return true;
    }

    std::optional<uint8_t> byte() { return at_ < end_ ? std::optional(*at_++) : std::nullopt; }

    /// Only as long as 64 bits take: libdw stops there.
    std::optional<uint64_t> number() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            auto part = byte();
            if (!part)
                return std::nullopt;
            value |= uint64_t{*part & 0x7fu} << shift;
            if (*part < 0x80)
                return value;
        }
        return std::nullopt;
    }

    bool skip_block() {
        auto bytes = number();
        return bytes && skip(*bytes);
    }

    bool is_program(size_t address_bytes) {
        if (static_cast<uint64_t>(end_ - at_) > kProgramBytesMax)
            return false;
        uint64_t remembered = 0;
        while (auto code = byte()) {
            const uint8_t primary = *code & 0xc0, low = *code & 0x3f;
            if (primary == DW_CFA_offset && !number())
                return false;
            if (primary == DW_CFA_extended && !skip_operands(low, address_bytes))
                return false;
            remembered += *code == DW_CFA_remember_state;
            if (remembered > kRememberedMax || (*code == DW_CFA_restore_state && remembered-- == 0))
                return false;
        }
        return true;
    }

private:
    bool skip_operands(uint8_t code, size_t address_bytes) {
        if (!kOperands[code])
            return false;
        for (char operand : std::string_view(kOperands[code])) {
            bool is_there = operand == 'r'   ? number().value_or(kRegistersMax) < kRegistersMax
                            : operand == 'n' ? number().has_value()
                            : operand == 'b' ? skip_block()
                            : operand == 'a' ? skip(address_bytes)
                                             : skip(static_cast<uint64_t>(operand - '0'));
            if (!is_there)
                return false;
        }
        return true;
    }

    const uint8_t *at_, *end_;
};

/// Bytes of an address that is written so; 0: no compiler writes it so in .eh_frame.
size_t address_bytes(uint8_t encoding) {
    if ((encoding & 0x70) > DW_EH_PE_datarel)
        return 0;
    constexpr size_t kBytes[] = {8, 0, 2, 4, 8, 0, 0, 0};
    return kBytes[encoding & 7];
}

struct Cie {
    Dwarf_Off offset;
    size_t address_bytes;
    bool is_sized; ///< its FDEs have data before their programs
};

std::optional<Cie> read_cie(Dwarf_Off offset, const Dwarf_CIE& cie) {
    Cie read = {offset, 8, false};
    Scan data(cie.augmentation_data, cie.augmentation_data + cie.augmentation_data_size);
    for (char of : std::string_view(cie.augmentation)) {
        if (of == 'z' && !read.is_sized)
            read.is_sized = true;
        else if (!read.is_sized || (of != 'R' && of != 'L' && of != 'P' && of != 'S'))
            return std::nullopt;
        auto encoding = of == 'z' || of == 'S' ? 0 : data.byte();
        if (!encoding || (of == 'R' && !(read.address_bytes = address_bytes(*encoding))) ||
            (of == 'P' && (!address_bytes(*encoding) || !data.skip(address_bytes(*encoding)))))
            return std::nullopt;
    }
    Scan program(cie.initial_instructions, cie.initial_instructions_end);
    return program.is_program(read.address_bytes) ? std::optional(read) : std::nullopt;
}

bool is_fde(const Dwarf_FDE& fde, const std::vector<Cie>& cies) {
    auto cie = std::lower_bound(cies.begin(), cies.end(), fde.CIE_pointer,
                                [](const Cie& one, Dwarf_Off at) { return one.offset < at; });
    if (cie == cies.end() || cie->offset != fde.CIE_pointer)
        return false;
    Scan scan(fde.start, fde.end);
    return scan.skip(2 * cie->address_bytes) && (!cie->is_sized || scan.skip_block()) &&
           scan.is_program(cie->address_bytes);
}

/// Returns where the FDEs are, in order, if all entries hold.
std::optional<std::vector<Dwarf_Off>> read_entries(const unsigned char* ident, Elf_Data* data) {
    std::vector<Cie> cies;
    std::vector<Dwarf_Off> fdes;
    for (Dwarf_Off offset = 0, next = 0;; offset = next) {
        next = offset + sizeof(uint32_t);
        if (next <= data->d_size &&
            base::load<uint32_t>(static_cast<std::byte*>(data->d_buf) + offset) == 0)
            continue; // the end of one linked file's entries; others may follow
        next = offset;
        Dwarf_CFI_Entry entry = {};
        int result = ::dwarf_next_cfi(ident, data, true, offset, &next, &entry);
        if (result > 0 || next <= offset)
            return fdes;
        if (result < 0)
            continue; // no entry for libdw either
        if (!dwarf_cfi_cie_p(&entry)) {
            if (!is_fde(entry.fde, cies))
                return std::nullopt;
            fdes.push_back(offset);
        } else if (auto cie = read_cie(offset, entry.cie)) {
            cies.push_back(*cie);
        } else {
            return std::nullopt;
        }
    }
}

/// Returns whether the index (.eh_frame_hdr) leads to nothing but those FDEs.
bool is_index(const Elf_Data* data, uint64_t address, uint64_t tables,
              const std::vector<Dwarf_Off>& fdes) {
    struct Header {
        uint8_t version, tables, count, entries;
        int32_t distance;
        uint32_t entry_count;
    };
    struct Entry {
        int32_t function, fde;
    };
    if (!data || data->d_size < 8)
        return false;
    const auto* bytes = static_cast<const std::byte*>(data->d_buf);
    Header header = {};
    std::memcpy(&header, bytes, std::min(data->d_size, sizeof(header)));
    if (header.count == DW_EH_PE_omit || header.entries == DW_EH_PE_omit)
        return true; // all there is of it is the header
    if (data->d_size < sizeof(header) || header.tables != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) ||
        header.count != DW_EH_PE_udata4 || header.entries != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
        header.entry_count > (data->d_size - sizeof(Header)) / sizeof(Entry))
        return false;
    for (uint32_t i = 0; i < header.entry_count; i++) {
        const auto entry = base::load<Entry>(bytes + sizeof(Header) + i * sizeof(Entry));
        if (!std::binary_search(fdes.begin(), fdes.end(),
                                address + static_cast<uint64_t>(int64_t{entry.fde}) - tables))
            return false;
    }
    return true;
}

} // namespace

FramePrograms check_frame_programs(ElfFile& untrusted_file) {
    Elf* untrusted_elf = untrusted_file.get();
    const char* ident = ::elf_getident(untrusted_elf, nullptr);
    size_t names = 0;
    if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
        ::elf_getshdrstrndx(untrusted_elf, &names) != 0 || names == 0)
        return FramePrograms::none;
    std::optional<std::vector<Dwarf_Off>> fdes;
    uint64_t tables = 0;
    std::vector<std::pair<Elf_Data*, uint64_t>> indexes;
    for (Elf_Scn* at = nullptr; (at = ::elf_nextscn(untrusted_elf, at)) != nullptr;) {
        GElf_Shdr section;
        const char* found = ::gelf_getshdr(at, &section)
                                ? ::elf_strptr(untrusted_elf, names, section.sh_name)
                                : nullptr;
        const std::string_view name = found ? found : "";
        // Of several tables the first is used.
        if (name != ".eh_frame_hdr" && (name != ".eh_frame" || fdes))
            continue;
        if (!untrusted_file.take(at))
            return FramePrograms::implausible;
        Elf_Data* data = ::elf_rawdata(at, nullptr);
        const bool has_bytes = section.sh_type != SHT_NOBITS && data && data->d_buf;
        if (name == ".eh_frame") {
            if (!has_bytes) // a file of debug symbols
                return FramePrograms::none;
            tables = section.sh_addr;
            fdes = read_entries(reinterpret_cast<const unsigned char*>(ident), data);
            if (!fdes)
                return FramePrograms::implausible;
        } else {
            indexes.emplace_back(has_bytes ? data : nullptr, section.sh_addr);
        }
    }
    if (!fdes)
        return FramePrograms::none;
    const bool hold = std::all_of(indexes.begin(), indexes.end(), [&](const auto& index) {
        return is_index(index.first, index.second, tables, *fdes);
    });
    return hold ? FramePrograms::plausible : FramePrograms::implausible;
}

} // namespace daybreak::analyze
