// SPDX-License-Identifier: Apache-2.0
//
// ProcessNames: user addresses named from /proc and the programs' own symbols.
#include "live/process/process_names.hpp"

#include "base/file.hpp"
#include "base/short_string.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

namespace daybreak::live {

namespace {

/// A symbol without a size reaches to the next one, but not further than this.
constexpr uint64_t kSizelessBytesMax = 1 << 16;
/// Any user's program is read.  Names may lie inside of one another, so a file of 1 MB can have
/// gigabytes of them, and one with holes claims tables of any size: what is more stays an address.
constexpr size_t kNameBytesMax = 4096, kNamesBytesMax = 256 << 20;
constexpr uint64_t kTablesBytesMax = 1 << 30;

/// Takes a table, and the names it refers to, from what may still be read of the file.
bool takes(uint64_t& bytes_left, Elf* elf, const GElf_Shdr& header) {
    GElf_Shdr names;
    if (::gelf_getshdr(::elf_getscn(elf, header.sh_link), &names) == nullptr ||
        header.sh_size > bytes_left || names.sh_size > bytes_left - header.sh_size)
        return false;
    bytes_left -= header.sh_size + names.sh_size;
    return true;
}

} // namespace

std::vector<ProcessNames::Mapping> ProcessNames::read_maps(uint64_t pid) {
    std::vector<Mapping> mappings;
    auto bytes = base::read_file("/proc/" + std::to_string(pid) + "/maps");
    if (!bytes.ok())
        return mappings;
    std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        Mapping mapping{};
        int path_at = 0;
        char rights[5] = "";
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n",
                        &mapping.begin, &mapping.end, rights, &mapping.file_offset, &path_at) < 4)
            continue;
        mapping.is_code = rights[2] == 'x';
        mapping.path = line.substr(std::min<size_t>(static_cast<size_t>(path_at), line.size()));
        mappings.push_back(std::move(mapping));
    }
    return mappings;
}

void ProcessNames::read_symbols(void* elf_pointer, Object& object) {
    auto* elf = static_cast<Elf*>(elf_pointer);
    size_t headers = 0, names_bytes = 0;
    uint64_t tables_left = kTablesBytesMax;
    if (::elf_getphdrnum(elf, &headers) == 0)
        for (size_t i = 0; i < headers; i++) {
            GElf_Phdr header;
            if (::gelf_getphdr(elf, static_cast<int>(i), &header) && header.p_type == PT_LOAD)
                object.segments.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
        }
    for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        Elf_Data* data = nullptr;
        if (!::gelf_getshdr(section, &header) ||
            (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
            header.sh_entsize == 0 || !takes(tables_left, elf, header) ||
            (data = ::elf_getdata(section, nullptr)) == nullptr)
            continue;
        Elf_Data* name_data = ::elf_rawdata(::elf_getscn(elf, header.sh_link), nullptr);
        if (name_data == nullptr || name_data->d_buf == nullptr)
            continue;
        base::ByteView name_table(static_cast<const std::byte*>(name_data->d_buf),
                                  name_data->d_size);
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (!::gelf_getsym(data, static_cast<int>(i), &symbol) ||
                GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
                continue;
            std::string_view name =
                base::short_string_at(name_table, symbol.st_name, kNameBytesMax);
            if (name.empty() || names_bytes + name.size() > kNamesBytesMax)
                continue;
            names_bytes += name.size();
            object.symbols.push_back({symbol.st_value, symbol.st_size, std::string(name)});
        }
    }
    std::stable_sort(object.symbols.begin(), object.symbols.end(),
                     [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

ProcessNames::Object& ProcessNames::open_object(uint64_t pid, const std::string& path) {
    std::unique_ptr<Object>& object = objects_[path];
    if (!object) {
        // The process may live in another root.
        std::string seen = "/proc/" + std::to_string(pid) + "/root" + path;
        object = std::make_unique<Object>();
        object->file = base::ScopedFd(::open(seen.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    }
    return *object;
}

const ProcessNames::Object& ProcessNames::object_of(uint64_t pid, const std::string& path) {
    Object& object = open_object(pid, path);
    if (!object.file.valid() || ::elf_version(EV_CURRENT) == EV_NONE)
        return object;
    if (Elf* elf = ::elf_begin(object.file.get(), ELF_C_READ, nullptr)) {
        read_symbols(elf, object);
        ::elf_end(elf);
    }
    object.file = base::ScopedFd();
    return object;
}

void ProcessNames::remember(uint64_t pid) {
    std::vector<Mapping> now = read_maps(pid);
    for (const Mapping& mapping : now)
        if (mapping.is_code && mapping.path.starts_with('/'))
            open_object(pid, mapping.path);
    if (!now.empty())
        maps_[pid] = std::move(now);
}

std::vector<ProcessNames::Function>
ProcessNames::functions(uint64_t pid, const std::function<bool(const Function&)>& wanted) {
    std::vector<Function> found;
    for (const Mapping& mapping : read_maps(pid)) {
        if (!mapping.is_code || !mapping.path.starts_with('/'))
            continue;
        const Object& object = object_of(pid, mapping.path);
        for (const Symbol& symbol : object.symbols)
            for (const Segment& segment : object.segments) {
                uint64_t in_file = symbol.address - segment.address + segment.file_offset;
                uint64_t at = in_file - mapping.file_offset + mapping.begin;
                if (symbol.bytes == 0 || symbol.address - segment.address >= segment.file_bytes ||
                    in_file < mapping.file_offset || at >= mapping.end)
                    continue;
                Function function{mapping.path.substr(mapping.path.rfind('/') + 1), symbol.name,
                                  at};
                if (wanted(function))
                    found.push_back(std::move(function));
            }
    }
    return found;
}

const ProcessNames::Mapping* ProcessNames::mapping_of(uint64_t pid, uint64_t address) {
    for (bool again : {false, true}) {
        auto [found, is_new] = maps_.try_emplace(pid);
        if (is_new || again) {
            std::vector<Mapping> now = read_maps(pid);
            if (!now.empty()) // a process that is gone keeps the maps it had
                found->second = std::move(now);
        }
        for (const Mapping& mapping : found->second)
            if (address >= mapping.begin && address < mapping.end)
                return &mapping;
        if (is_new)
            break;
    }
    return nullptr;
}

std::optional<analyze::UserPlace> ProcessNames::find(uint64_t pid, uint64_t address) {
    const Mapping* mapping = mapping_of(pid, address);
    if (mapping == nullptr || mapping->path.empty())
        return std::nullopt;
    analyze::UserPlace place;
    place.object = mapping->path.substr(mapping->path.rfind('/') + 1);
    uint64_t in_file = address - mapping->begin + mapping->file_offset;
    place.object_offset = in_file;
    place.object_start = mapping->begin;
    for (const Mapping& other : maps_[pid]) // ascending
        if (other.path == mapping->path) {
            place.object_start = other.begin;
            break;
        }
    if (mapping->path[0] != '/')
        return place; // [vdso], [stack]
    const Object& object = object_of(pid, mapping->path);
    for (const Segment& segment : object.segments)
        if (in_file >= segment.file_offset && in_file - segment.file_offset < segment.file_bytes)
            place.object_offset = in_file - segment.file_offset + segment.address;
    auto after = std::upper_bound(
        object.symbols.begin(), object.symbols.end(), place.object_offset,
        [](uint64_t wanted, const Symbol& symbol) { return wanted < symbol.address; });
    if (after == object.symbols.begin())
        return place;
    const Symbol& symbol = *(after - 1);
    uint64_t offset = place.object_offset - symbol.address;
    if (offset < (symbol.bytes != 0 ? symbol.bytes : kSizelessBytesMax)) {
        place.symbol = symbol.name;
        place.symbol_offset = offset;
    }
    return place;
}

} // namespace daybreak::live
