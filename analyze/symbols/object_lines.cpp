// SPDX-License-Identifier: Apache-2.0
//
// Lines of DWARF, by libdw.
#include "analyze/symbols/object_lines.hpp"

#include "analyze/symbols/object_files.hpp"
#include "base/visible.hpp"

#include <algorithm>
#include <cstring>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <optional>
#include <string_view>

namespace daybreak::analyze {

namespace {

/// Ranges of units: a browser of 200 MB has a million.
constexpr size_t kRangesMax = 1 << 22;
constexpr size_t kSourceBytesMax = 255; ///< of a file's name

/// Returns how many bytes a section has when it is unpacked; nothing: its header is not one.
std::optional<uint64_t> unpacked_bytes(Elf_Scn* section, const GElf_Shdr& header,
                                       std::string_view name) {
    GElf_Chdr packed = {};
    if ((header.sh_flags & SHF_COMPRESSED) != 0)
        return ::gelf_getchdr(section, &packed) != nullptr ? std::optional(packed.ch_size)
                                                           : std::nullopt;
    if (!name.starts_with(".zdebug"))
        return header.sh_size;
    // Before there was the flag: "ZLIB", and the size with its highest byte first.
    const Elf_Data* data = ::elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size < 12)
        return std::nullopt;
    uint64_t bytes = 0;
    for (size_t i = 4; i < 12; i++)
        bytes = bytes << 8 | static_cast<const unsigned char*>(data->d_buf)[i];
    return bytes;
}

enum class Debug { none, some, too_much };

/// libdw takes all sections of debug information that it is asked for, and unpacks them, whole.
Debug debug_of(ElfFile& file) {
    size_t names = 0;
    uint64_t sum = 0;
    if (file.get() == nullptr || ::elf_getshdrstrndx(file.get(), &names) != 0)
        return Debug::none;
    bool any = false;
    for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(file.get(), section)) != nullptr;) {
        GElf_Shdr header;
        const char* text = ::gelf_getshdr(section, &header) != nullptr
                               ? ::elf_strptr(file.get(), names, header.sh_name)
                               : nullptr;
        std::string_view name = text != nullptr ? text : "";
        if (header.sh_type == SHT_NOBITS ||
            !(name.starts_with(".debug_") || name.starts_with(".zdebug_")))
            continue;
        any = true;
        auto bytes = file.take(section) ? unpacked_bytes(section, header, name) : std::nullopt;
        if (!bytes || *bytes > ObjectLines::kDebugBytesMax - sum)
            return Debug::too_much;
        sum += *bytes;
    }
    return any ? Debug::some : Debug::none;
}

} // namespace

ObjectLines::ObjectLines(base::ScopedFd file) : file_(std::move(file)), elf_(file_.get()) {
    Debug debug = debug_of(elf_);
    is_too_large_ = debug == Debug::too_much;
    if (debug == Debug::some)
        dwarf_ = ::dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr);
    if (dwarf_ == nullptr)
        return;
    set_other_file();
    read_units();
}

/// Names that several files share may be in one more.  libdw would open whatever the file says, and
/// read on till its end; where it is not a program of this size, the file is its own other one: the
/// names that are there are folders, which find() leaves out.
void ObjectLines::set_other_file() {
    const char* untrusted_path = nullptr;
    const void* id = nullptr;
    if (::dwelf_dwarf_gnu_debugaltlink(dwarf_, &untrusted_path, &id) <= 0)
        return;
    if (untrusted_path[0] == '/') {
        other_file_ = open_object(untrusted_path);
        other_elf_.emplace(other_file_.get());
        if (debug_of(*other_elf_) == Debug::some)
            other_ = ::dwarf_begin_elf(other_elf_->get(), DWARF_C_READ, nullptr);
    }
    ::dwarf_setalt(dwarf_, other_ != nullptr ? other_ : dwarf_);
}

ObjectLines::~ObjectLines() {
    ::dwarf_end(dwarf_);
    ::dwarf_end(other_);
}

void ObjectLines::read_units() {
    size_t header_bytes = 0;
    for (Dwarf_Off offset = 0, next = 0;
         ::dwarf_nextcu(dwarf_, offset, &next, &header_bytes, nullptr, nullptr, nullptr) == 0 &&
         next > offset;
         offset = next) {
        Dwarf_Die unit;
        if (::dwarf_offdie(dwarf_, offset + header_bytes, &unit) == nullptr)
            continue;
        Dwarf_Addr base = 0, begin = 0, end = 0;
        for (ptrdiff_t at = 0; (at = ::dwarf_ranges(&unit, at, &base, &begin, &end)) > 0;) {
            if (units_.size() >= kRangesMax)
                break;
            if (begin < end)
                units_.push_back({begin, end, offset + header_bytes});
        }
    }
    std::sort(units_.begin(), units_.end(),
              [](const UnitRange& a, const UnitRange& b) { return a.begin < b.begin; });
}

std::string ObjectLines::find(uint64_t address) const {
    auto after = std::upper_bound(
        units_.begin(), units_.end(), address,
        [](uint64_t wanted, const UnitRange& range) { return wanted < range.begin; });
    if (after == units_.begin() || address >= (after - 1)->end)
        return "";
    Dwarf_Die unit;
    if (::dwarf_offdie(dwarf_, (after - 1)->die_offset, &unit) == nullptr)
        return "";
    Dwarf_Line* line = ::dwarf_getsrc_die(&unit, address);
    const char* source = line ? ::dwarf_linesrc(line, nullptr, nullptr) : nullptr;
    int number = 0;
    if (source == nullptr || ::dwarf_lineno(line, &number) != 0 || number <= 0)
        return "";
    if (const char* slash = std::strrchr(source, '/'))
        source = slash + 1;
    std::string_view name(source, ::strnlen(source, kSourceBytesMax));
    if (std::ranges::any_of(name, [](char c) { return c == '\n'; }))
        return "";
    return base::visible(name) + ":" + std::to_string(number);
}

} // namespace daybreak::analyze
