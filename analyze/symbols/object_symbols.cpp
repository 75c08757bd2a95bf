// SPDX-License-Identifier: Apache-2.0
//
// Reading ELF files with libelf, packed tables with liblzma.
#include "analyze/symbols/object_symbols.hpp"

#include "base/elf_notes.hpp"
#include "base/short_string.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <memory>
#include <string_view>
#include <tuple>

namespace daybreak::analyze {

namespace {

using base::ByteView;

/// A symbol without a size reaches to the next one, but not further than this.
constexpr uint64_t kSizelessBytesMax = 1 << 16;
/// Names may lie inside of one another, so a file of 1 MB can have gigabytes of them: what is more
/// stays an address.
constexpr size_t kNameBytesMax = 4096;
constexpr size_t kSymbolsBytesMax = 512 << 20; ///< of all symbols in memory, with their names
constexpr size_t kNoteBytesMax = 1 << 16;
/// Of .gnu_debugdata, unpacked; xz makes of zeros a seven-thousandth, of a table of functions a
/// fifth.
constexpr size_t kPackedBytesMax = 64 << 20, kPackedBest = 64, kPackedAlways = 1 << 20;
constexpr uint64_t kLzmaMemoryMax = 128 << 20;
constexpr size_t kMarksBytesMax = 16 << 20;

ByteView view_of(const Elf_Data* data) {
    if (data == nullptr || data->d_buf == nullptr)
        return {};
    return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

/// A function that others may call before one of the file's own; without `_` in front, a short one.
uint8_t rank_of(unsigned char info, std::string_view name) {
    bool is_local = GELF_ST_BIND(info) == STB_LOCAL;
    size_t underscores = std::min<size_t>(name.find_first_not_of('_'), 3);
    return static_cast<uint8_t>((is_local ? 128 : 0) + underscores * 32 +
                                std::min<size_t>(name.size(), 31));
}

/// Returns the unpacked bytes; empty when they are damaged or too many.
base::Bytes unpack(ByteView untrusted) {
    const size_t bytes_max =
        std::min(kPackedBytesMax, untrusted.size() * kPackedBest + kPackedAlways);
    base::Bytes bytes;
    lzma_stream stream = LZMA_STREAM_INIT;
    if (::lzma_stream_decoder(&stream, kLzmaMemoryMax, 0) != LZMA_OK)
        return bytes;
    std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> owner(&stream, ::lzma_end);
    stream.next_in = reinterpret_cast<const uint8_t*>(untrusted.data());
    stream.avail_in = untrusted.size();
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK && bytes.size() < bytes_max) {
        size_t done = bytes.size();
        bytes.resize(std::min(bytes_max, done + (1 << 20)));
        stream.next_out = reinterpret_cast<uint8_t*>(bytes.data() + done);
        stream.avail_out = bytes.size() - done;
        result = ::lzma_code(&stream, LZMA_FINISH);
        bytes.resize(bytes.size() - stream.avail_out);
    }
    return result == LZMA_STREAM_END ? bytes : base::Bytes();
}

} // namespace

ObjectSymbols ObjectSymbols::read(int fd) {
    ObjectSymbols object;
    ElfFile file(fd);
    object.read_elf(file, 0);
    object.sort();
    return object;
}

ObjectSymbols ObjectSymbols::read_without_functions(int fd) {
    ObjectSymbols object;
    object.takes_functions_ = false;
    ElfFile file(fd);
    object.read_elf(file, 0);
    return object;
}

ObjectSymbols ObjectSymbols::read(ByteView untrusted_image) {
    ObjectSymbols object;
    base::Bytes copy(untrusted_image.begin(), untrusted_image.end()); // libelf wants to write
    ElfFile file{ByteView(copy)};
    object.read_elf(file, 0);
    object.sort();
    return object;
}

/// Of ranges that lie over one another, which no linker writes, the first has what several have.
ObjectSymbols::Ranges ObjectSymbols::set_apart(Ranges ranges) {
    std::ranges::stable_sort(ranges, {}, &Range::begin);
    Ranges apart;
    for (Range range : ranges) {
        const uint64_t begin = std::max(range.begin, apart.empty() ? 0 : apart.back().end);
        if (begin < range.end)
            apart.push_back({begin, range.end, range.to + (begin - range.begin)});
    }
    return apart;
}

std::optional<uint64_t> ObjectSymbols::moved(const Ranges& ranges, uint64_t at) {
    auto after = std::ranges::upper_bound(ranges, at, {}, &Range::begin);
    if (after == ranges.begin() || at >= (after - 1)->end)
        return std::nullopt;
    return at - (after - 1)->begin + (after - 1)->to;
}

/// A file may have 65,534 of them, and be asked for each of its functions and marks.
void ObjectSymbols::read_segments(Elf* elf) {
    size_t headers = 0;
    if (::elf_getphdrnum(elf, &headers) != 0)
        return;
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr header;
        if (::gelf_getphdr(elf, static_cast<int>(i), &header) && header.p_type == PT_LOAD)
            segments_.push_back(
                {header.p_offset, header.p_filesz, header.p_vaddr, (header.p_flags & PF_X) != 0});
    }
    Ranges by_address, by_offset, code;
    auto range = [](uint64_t begin, uint64_t bytes, uint64_t to) {
        return Range{begin, begin + std::min(bytes, UINT64_MAX - begin), to};
    };
    for (const Segment& one : segments_) {
        by_address.push_back(range(one.address, one.file_bytes, one.file_offset));
        by_offset.push_back(range(one.file_offset, one.file_bytes, one.address));
        if (one.is_code)
            code.push_back(by_address.back());
    }
    by_address_ = set_apart(std::move(by_address));
    by_offset_ = set_apart(std::move(by_offset));
    code_ = set_apart(std::move(code));
}

void ObjectSymbols::read_elf(ElfFile& file, int depth) {
    Elf* elf = file.get();
    if (elf == nullptr || ::elf_kind(elf) != ELF_K_ELF)
        return;
    if (depth == 0) {
        read_segments(elf);
        is_64_bit_ = ::gelf_getclass(elf) == ELFCLASS64;
        GElf_Ehdr header;
        entry_point_ = ::gelf_getehdr(elf, &header) ? header.e_entry : 0;
        read_build_id(file);
    }
    size_t names = 0;
    if (::elf_getshdrstrndx(elf, &names) != 0)
        return;
    uint64_t moved_base = 0;
    Elf_Scn *marks = nullptr, *packed = nullptr; // a linker writes one of each
    std::vector<Elf_Scn*> tables;
    for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (!::gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
            tables.push_back(section);
            is_whole_ |= header.sh_type == SHT_SYMTAB;
            continue;
        }
        const char* name = ::elf_strptr(elf, names, header.sh_name);
        if (name != nullptr && std::string_view(name) == ".stapsdt.base")
            moved_base = header.sh_addr;
        if (name != nullptr && std::string_view(name) == ".note.stapsdt" && depth == 0)
            marks = section;
        if (name != nullptr && std::string_view(name) == ".gnu_debugdata" && depth == 0 &&
            header.sh_type == SHT_PROGBITS)
            packed = section;
    }
    // They say which variables are looked for in the tables.
    if (marks != nullptr && ::gelf_getclass(elf) == ELFCLASS64)
        read_marks(file, marks, moved_base);
    if (!takes_functions_)
        return;
    for (Elf_Scn* table : tables)
        read_table(file, table);
    if (packed != nullptr)
        read_packed(file, packed);
}

void ObjectSymbols::read_marks(ElfFile& file, Elf_Scn* section, uint64_t base_address) {
    GElf_Shdr header = {};
    static_cast<void>(::gelf_getshdr(section, &header));
    const bool may_be_read = header.sh_type == SHT_NOTE && header.sh_size <= kMarksBytesMax;
    const ByteView notes =
        may_be_read && file.take(section) ? view_of(::elf_rawdata(section, nullptr)) : ByteView();
    if (notes.size() != header.sh_size || header.sh_type != SHT_NOTE)
        marks_left_out_.add(base::strprintf("byte 0: a section of type %" PRIu32 " and %" PRIu64
                                            " bytes, expected type %d, at most "
                                            "%zu bytes, and those in the file",
                                            header.sh_type, header.sh_size, SHT_NOTE,
                                            kMarksBytesMax));
    read_object_marks(notes, base_address, marks_, marks_left_out_);
    auto check = [this](uint64_t address, bool is_there, const char* what, const char* where) {
        // Linkers that leave out a function keep its note, of an address near 0.
        if (!is_there && !code_.empty() && address >= code_.front().begin)
            marks_left_out_.add(base::strprintf("%s at address 0x%" PRIx64 ", expected one in %s",
                                                what, address, where));
        return is_there;
    };
    std::erase_if(marks_, [&](const ObjectMark& mark) {
        return !check(mark.address, moved(code_, mark.address).has_value(), "a mark",
                      "the file's code");
    });
    for (const ObjectMark& mark : marks_) {
        if (mark.semaphore != 0)
            check(mark.semaphore, file_offset_of(mark.semaphore).has_value(), "a semaphore",
                  "the file");
        for (const std::string& name : variables_named(mark.operands))
            variables_.try_emplace(name, 0);
    }
}

/// Nothing lies at address 0: what has it was not found.
std::optional<uint64_t> ObjectSymbols::variable_at(const std::string& name) const {
    auto known = variables_.find(name);
    return known == variables_.end() || known->second == 0 ? std::nullopt
                                                           : std::optional(known->second);
}

std::optional<uint64_t> ObjectSymbols::file_offset_of(uint64_t address) const {
    return moved(by_address_, address);
}

void ObjectSymbols::read_build_id(ElfFile& file) {
    for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(file.get(), section)) != nullptr;) {
        GElf_Shdr header;
        if (!::gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
            header.sh_size > kNoteBytesMax || !file.take(section))
            continue;
        ByteView notes = view_of(::elf_getdata(section, nullptr)), id = base::build_id_of(notes);
        if (id.empty())
            continue;
        build_id_offset_ = header.sh_offset + static_cast<uint64_t>(id.data() - notes.data());
        build_id_.assign(reinterpret_cast<const char*>(id.data()), id.size());
        return;
    }
}

void ObjectSymbols::read_table(ElfFile& file, Elf_Scn* section) {
    GElf_Shdr header;
    Elf_Data* data = nullptr;
    if (!::gelf_getshdr(section, &header))
        return;
    auto leave_out = [&](const std::string& why) {
        symbols_left_out_.add(base::strprintf("byte %" PRIu64 " of the file: ", header.sh_offset) +
                              why);
    };
    Elf_Scn* names = ::elf_getscn(file.get(), header.sh_link);
    if (header.sh_entsize == 0 || !file.take(section) || !file.take(names) ||
        (data = ::elf_getdata(section, nullptr)) == nullptr)
        return leave_out(base::strprintf("a table of %" PRIu64 " bytes with entries of %" PRIu64
                                         ", expected one that lies in the file with its names",
                                         header.sh_size, header.sh_entsize));
    ByteView name_table = view_of(::elf_rawdata(names, nullptr));
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
        GElf_Sym symbol;
        if (!::gelf_getsym(data, static_cast<int>(i), &symbol)) // not as small as it says
            return leave_out(base::strprintf("an entry of %" PRIu64 " bytes, expected a symbol's",
                                             header.sh_entsize));
        const unsigned type = GELF_ST_TYPE(symbol.st_info);
        const bool is_data = type == STT_OBJECT && (symbol.st_size != 0 || !variables_.empty());
        const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
        if ((!is_function && !is_data) || symbol.st_shndx == SHN_UNDEF)
            continue;
        std::string_view name = base::short_string_at(name_table, symbol.st_name, kNameBytesMax);
        if (auto known = variables_.find(name); is_data && known != variables_.end())
            known->second = symbol.st_value;
        if (is_data && symbol.st_size == 0)
            continue;
        const size_t bytes = sizeof(Symbol) + name.size();
        if (name.empty())
            continue;
        if (symbols_bytes_ + bytes > kSymbolsBytesMax)
            return leave_out(base::strprintf("names and symbols of more than %zu bytes in memory",
                                             kSymbolsBytesMax));
        symbols_bytes_ += bytes;
        if (type == STT_GNU_IFUNC)
            chosen_.emplace_back(name);
        else
            (is_data ? data_ : symbols_)
                .push_back({symbol.st_value, symbol.st_size, std::string(name),
                            rank_of(symbol.st_info, name)});
    }
}

void ObjectSymbols::read_packed(ElfFile& file, Elf_Scn* section) {
    GElf_Shdr header = {};
    static_cast<void>(::gelf_getshdr(section, &header));
    const bool may_be_read = header.sh_size <= kPackedBytesMax && file.take(section);
    base::Bytes image =
        may_be_read ? unpack(view_of(::elf_rawdata(section, nullptr))) : base::Bytes();
    ElfFile inner{ByteView(image)};
    if (inner.get() == nullptr)
        symbols_left_out_.add(
            base::strprintf("byte %" PRIu64 " of the file: .gnu_debugdata of %" PRIu64
                            " bytes, %zu unpacked, expected a "
                            "packed library, of %zu bytes at most",
                            header.sh_offset, header.sh_size, image.size(), kPackedBytesMax));
    read_elf(inner, 1);
}

void ObjectSymbols::sort() {
    for (std::vector<Symbol>* symbols : {&symbols_, &data_})
        std::ranges::stable_sort(*symbols, [](const Symbol& a, const Symbol& b) {
            return std::tuple(a.address, a.bytes != 0, 255 - a.rank) <
                   std::tuple(b.address, b.bytes != 0, 255 - b.rank);
        });
}

bool ObjectSymbols::add_functions_of(const ObjectSymbols& other) {
    if (build_id_.empty() || build_id_ != other.build_id_)
        return false;
    symbols_.insert(symbols_.end(), other.symbols_.begin(), other.symbols_.end());
    data_.insert(data_.end(), other.data_.begin(), other.data_.end());
    is_whole_ |= other.is_whole_;
    if (other.symbols_left_out_.count != 0)
        symbols_left_out_.add("debug symbols, " + other.symbols_left_out_.first);
    sort();
    return true;
}

std::optional<uint64_t> ObjectSymbols::address_of(uint64_t file_offset) const {
    return moved(by_offset_, file_offset);
}

const ObjectSymbols::Symbol* ObjectSymbols::last_until(const std::vector<Symbol>& symbols,
                                                       uint64_t address) {
    auto after = std::upper_bound(
        symbols.begin(), symbols.end(), address,
        [](uint64_t wanted, const Symbol& symbol) { return wanted < symbol.address; });
    return after == symbols.begin() ? nullptr : &*(after - 1);
}

const ObjectSymbols::Symbol* ObjectSymbols::find(uint64_t address) const {
    const Symbol* symbol = last_until(symbols_, address);
    if (symbol == nullptr || (symbol->bytes == 0 && !moved(code_, address)))
        return nullptr;
    uint64_t bytes = symbol->bytes != 0 ? symbol->bytes : kSizelessBytesMax;
    return address - symbol->address < bytes ? symbol : nullptr;
}

const ObjectSymbols::Symbol* ObjectSymbols::find_data(uint64_t address) const {
    const Symbol* symbol = last_until(data_, address);
    return symbol != nullptr && address - symbol->address < symbol->bytes ? symbol : nullptr;
}

} // namespace daybreak::analyze
