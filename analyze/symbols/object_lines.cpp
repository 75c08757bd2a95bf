// SPDX-License-Identifier: Apache-2.0
//
// Lines of DWARF, by libdw.
#include "analyze/symbols/object_lines.hpp"

#include "analyze/symbols/elf_file.hpp"
#include "base/elf_header.hpp"
#include "base/visible.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <dwarf.h>
#include <elf.h>
#include <gelf.h>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace daybreak::analyze {

namespace {

/// Ranges of units, empty ones too: a browser of 200 MB has a million.
constexpr size_t kRangesMax = 1 << 22;
constexpr size_t kSourceBytesMax = 255; ///< of a file's name

/// The size at the front of a packed section; 0: it is not packed, or not there.
uint64_t unpacked_bytes(int fd, const GElf_Shdr& section, std::string_view name, bool is_64_bit) {
    unsigned char front[sizeof(Elf64_Chdr)] = {};
    const bool has_header = (section.sh_flags & SHF_COMPRESSED) != 0;
    if (section.sh_type == SHT_NOBITS || !(has_header || name.starts_with(".zdebug")) ||
        ::pread(fd, front, sizeof(front), static_cast<off_t>(section.sh_offset)) <= 0)
        return 0;
    Elf64_Chdr wide;
    Elf32_Chdr narrow;
    std::memcpy(&wide, front, sizeof(wide));
    std::memcpy(&narrow, front, sizeof(narrow));
    if (has_header)
        return is_64_bit ? wide.ch_size : narrow.ch_size;
    // Before there was a header: "ZLIB", and the size with its highest byte first.
    uint64_t bytes = 0;
    for (size_t i = 4; i < 12; i++)
        bytes = bytes << 8 | front[i];
    return bytes;
}

/// Returns whether a file may be given to libdw, which maps it and unpacks what is packed in it,
/// when it is opened, whole; empty: it is none.
std::optional<bool> is_bounded(int fd) {
    ElfFile file(fd);
    size_t names = 0;
    if (file.get() == nullptr || ::elf_getshdrstrndx(file.get(), &names) != 0)
        return std::nullopt;
    uint64_t left = ObjectLines::kUnpackedBytesMax;
    for (Elf_Scn* one = nullptr; (one = ::elf_nextscn(file.get(), one)) != nullptr;) {
        GElf_Shdr section;
        if (::gelf_getshdr(one, &section) == nullptr)
            continue;
        const char* name = ::elf_strptr(file.get(), names, section.sh_name);
        uint64_t bytes = unpacked_bytes(fd, section, name != nullptr ? name : "",
                                        ::gelf_getclass(file.get()) == ELFCLASS64);
        if (bytes > left)
            return false;
        left -= bytes;
    }
    return true;
}

} // namespace

/// What libdw takes for the file that .gnu_debugaltlink names.
class ObjectLines::NoOtherFile {
public:
    NoOtherFile()
        : elf_(::elf_memory(reinterpret_cast<char*>(&image_), sizeof(image_))),
          dwarf_(::dwarf_begin_elf(elf_, DWARF_C_READ, nullptr)) {}
    ~NoOtherFile() {
        ::dwarf_end(dwarf_);
        ::elf_end(elf_);
    }
    NoOtherFile(const NoOtherFile&) = delete;
    NoOtherFile& operator=(const NoOtherFile&) = delete;
    Dwarf* get() const { return dwarf_; }

private:
    /// A file with an empty .debug_line, which libdw takes for one with debug information.
    struct EmptyDebug {
        Elf64_Ehdr header = base::elf_header(ET_DYN);
        Elf64_Shdr sections[3] = {};
        char names[24] = "\0.shstrtab\0.debug_line";

        EmptyDebug() {
            header.e_shoff = offsetof(EmptyDebug, sections);
            header.e_shnum = 3;
            header.e_shstrndx = 1;
            sections[1] = sections[2] = {.sh_name = 1,
                                         .sh_type = SHT_STRTAB,
                                         .sh_offset = offsetof(EmptyDebug, names),
                                         .sh_size = sizeof(names),
                                         .sh_addralign = 1};
            sections[2].sh_name = 11;
            sections[2].sh_type = SHT_PROGBITS;
            sections[2].sh_size = 1; // the NUL in front of the names
        }
    };

    EmptyDebug image_;
    Elf* elf_;
    Dwarf* dwarf_;
};

ObjectLines::ObjectLines(base::ScopedFd file) : file_(std::move(file)) {
    auto bounded = is_bounded(file_.get());
    if (bounded == std::optional(false))
        too_large_ = base::strprintf("more than %" PRIu64 " MiB when it is unpacked",
                                     kUnpackedBytesMax >> 20);
    if (bounded != std::optional(true))
        return;
    dwarf_ = ::dwarf_begin(file_.get(), DWARF_C_READ);
    // Names that several files share may be in one more, and libdw would open whatever this one
    // says: a device, or a FIFO.  Of what is asked only the folder of a unit is ever there.
    none_ = std::make_unique<NoOtherFile>();
    if (dwarf_ == nullptr || none_->get() == nullptr)
        return;
    ::dwarf_setalt(dwarf_, none_->get());
    read_units();
    find_table();
}

ObjectLines::~ObjectLines() {
    ::dwarf_end(dwarf_);
}

void ObjectLines::read_units() {
    size_t header_bytes = 0, ranges = 0;
    for (Dwarf_Off offset = 0, next = 0;
         ::dwarf_nextcu(dwarf_, offset, &next, &header_bytes, nullptr, nullptr, nullptr) == 0 &&
         next > offset;
         offset = next) {
        Dwarf_Die unit;
        if (::dwarf_offdie(dwarf_, offset + header_bytes, &unit) == nullptr)
            continue;
        Dwarf_Addr base = 0, begin = 0, end = 0;
        for (ptrdiff_t at = 0; (at = ::dwarf_ranges(&unit, at, &base, &begin, &end)) > 0;) {
            if (++ranges > kRangesMax) {
                units_.clear();
                too_large_ = base::strprintf("more than %zu address ranges", kRangesMax);
                return;
            }
            if (begin < end)
                units_.push_back({begin, end, offset + header_bytes});
        }
    }
    std::sort(units_.begin(), units_.end(),
              [](const UnitRange& a, const UnitRange& b) { return a.begin < b.begin; });
}

void ObjectLines::find_table() {
    Elf* elf = ::dwarf_getelf(dwarf_);
    size_t names = 0;
    if (::elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn* one = nullptr; (one = ::elf_nextscn(elf, one)) != nullptr;) {
        GElf_Shdr section;
        const char* name = ::gelf_getshdr(one, &section) != nullptr
                               ? ::elf_strptr(elf, names, section.sh_name)
                               : nullptr;
        if (name == nullptr || !std::string_view(name).ends_with("debug_line"))
            continue;
        const Elf_Data* data = ::elf_getdata(one, nullptr);
        if (data != nullptr && data->d_buf != nullptr)
            table_ = {static_cast<const std::byte*>(data->d_buf), data->d_size};
        return;
    }
}

/// Takes what a unit says of its lines from what may be read; each byte of it may be a line.
bool ObjectLines::take_lines(Dwarf_Die& unit, uint64_t unit_offset) {
    if (!taken_.insert(unit_offset).second)
        return true;
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0;
    uint32_t length = 0;
    if (::dwarf_formudata(::dwarf_attr(&unit, DW_AT_stmt_list, &attribute), &at) != 0 ||
        at >= table_.size() || table_.size() - at < sizeof(length))
        return true; // libdw finds none
    std::memcpy(&length, table_.data() + at, sizeof(length));
    const uint64_t bytes = std::min<uint64_t>(length, table_.size() - at);
    if (bytes > line_bytes_left_) {
        taken_.erase(unit_offset);
        too_large_ = base::strprintf("more than %" PRIu64 " MiB of lines where addresses are",
                                     kLineBytesMax >> 20);
        return false;
    }
    line_bytes_left_ -= bytes;
    return true;
}

std::string ObjectLines::find(uint64_t address) {
    auto after = std::upper_bound(
        units_.begin(), units_.end(), address,
        [](uint64_t wanted, const UnitRange& range) { return wanted < range.begin; });
    if (after == units_.begin() || address >= (after - 1)->end)
        return "";
    Dwarf_Die unit;
    if (::dwarf_offdie(dwarf_, (after - 1)->die_offset, &unit) == nullptr ||
        !take_lines(unit, (after - 1)->die_offset))
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
