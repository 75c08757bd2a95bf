// SPDX-License-Identifier: Apache-2.0
//
// ProcessNames: user addresses named from /proc and the programs' own symbols.
#include "live/process/process_names.hpp"

#include "analyze/symbols/object_files.hpp"
#include "analyze/symbols/unwind.hpp"
#include "base/file.hpp"
#include "base/page.hpp"
#include "engine/sim/bare_host.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::live {

using base::kPageBytes;

namespace {

constexpr const char *kVdso = "[vdso]", *kProgram = "a.out";

/// Of a file that was replaced or deleted since, too: the kernel says so after its path.
std::string name_of(const std::string& path) {
    return analyze::name_of({.path = path, .build_id = ""});
}

/// As its maps have it.
std::string program_of(uint64_t pid) {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", ignored).string();
}

/// Puts a path that leads from here to what a process has mapped, and what it is; no path: it is
/// not there any more.  The device is not compared: some file systems show another one in maps.
void look_for(uint64_t pid, const std::string& path, uint64_t inode, ProcessNames::CodeFile& file) {
    for (const std::string& candidate : {path, "/proc/" + std::to_string(pid) + "/root" + path}) {
        struct stat status = {};
        if (::stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_ino == inode) {
            file.path = candidate;
            file.is_of_root = status.st_uid == 0;
            file.bytes = static_cast<uint64_t>(status.st_size);
            return;
        }
    }
}

} // namespace

std::optional<std::string> module_meant(const std::string& wanted, const std::string& object,
                                        bool is_program) {
    if (sim::glob_match(wanted, object))
        return object;
    bool is_meant =
        wanted == kProgram ? is_program : !wanted.empty() && object.starts_with(wanted + ".so");
    if (is_meant)
        return wanted;
    const size_t suffix = object.find(".so.");
    for (std::string name = object; suffix != std::string::npos && name.size() > suffix + 3;) {
        name.resize(name.rfind('.'));
        if (sim::glob_match(wanted, name))
            return name;
    }
    return std::nullopt;
}

/// Two or three pages: its sections come last, and its table of them after all.
base::ByteView own_vdso() {
    const auto* start = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
    if (start == nullptr)
        return {};
    Elf64_Ehdr header;
    std::memcpy(&header, start, sizeof(header));
    return {start, header.e_shoff + size_t{header.e_shnum} * header.e_shentsize};
}

bool runs_32_bits(uint64_t pid) {
    base::ScopedFd program(
        ::open(("/proc/" + std::to_string(pid) + "/exe").c_str(), O_RDONLY | O_CLOEXEC));
    char identity[EI_NIDENT] = {};
    return program.valid() &&
           ::pread(program.get(), identity, sizeof(identity), 0) == sizeof(identity) &&
           std::memcmp(identity, ELFMAG, SELFMAG) == 0 && identity[EI_CLASS] == ELFCLASS32;
}

std::vector<ProcessNames::Mapping> ProcessNames::read_maps(uint64_t pid) {
    std::vector<Mapping> mappings;
    auto bytes = base::read_file("/proc/" + std::to_string(pid) + "/maps");
    if (!bytes.ok())
        return mappings;
    std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    std::map<std::string, uint64_t> starts;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        Mapping mapping{};
        int path_at = 0;
        char rights[5] = "", device[16] = "";
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %" SCNu64 " %n",
                        &mapping.begin, &mapping.end, rights, &mapping.file_offset, device,
                        &mapping.inode, &path_at) < 6)
            continue;
        mapping.device = device;
        mapping.is_code = rights[2] == 'x';
        mapping.path = line.substr(std::min<size_t>(static_cast<size_t>(path_at), line.size()));
        mapping.object_start = starts.try_emplace(mapping.path, mapping.begin).first->second;
        mappings.push_back(std::move(mapping));
    }
    return mappings;
}

std::vector<ProcessNames::Mapping> ProcessNames::read_code(uint64_t pid) {
    std::vector<Mapping> mappings = read_maps(pid);
    std::erase_if(mappings, [](const Mapping& mapping) {
        return !mapping.is_code || !mapping.path.starts_with('/');
    });
    return mappings;
}

/// The file may have been replaced since, which only who has privileges sees past; and the process
/// may live in another root.
std::string ProcessNames::path_of(uint64_t pid, const Mapping& mapping) {
    std::string process = "/proc/" + std::to_string(pid);
    std::string mapped =
        process + base::strprintf("/map_files/%" PRIx64 "-%" PRIx64, mapping.begin, mapping.end);
    return ::access(mapped.c_str(), R_OK) == 0 ? mapped : process + "/root" + mapping.path;
}

ProcessNames::Object& ProcessNames::open_object(uint64_t pid, const Mapping& mapping) {
    std::unique_ptr<Object>& object = objects_[{mapping.device, mapping.inode, mapping.path}];
    if (!object) {
        object = std::make_unique<Object>();
        if (mapping.path == kVdso)
            object->symbols = analyze::ObjectSymbols::read(own_vdso());
        else
            object->file = analyze::open_object(path_of(pid, mapping));
        struct stat status = {};
        if (object->file.valid() && ::fstat(object->file.get(), &status) == 0)
            object->identity = {status.st_dev, status.st_ino};
    }
    return *object;
}

const analyze::ObjectSymbols& ProcessNames::object_of(uint64_t pid, const Mapping& mapping) {
    Object& object = open_object(pid, mapping);
    if (object.file.valid()) {
        object.symbols = analyze::ObjectSymbols::read(object.file.get());
        analyze::add_debug_symbols(object.symbols);
        object.file = base::ScopedFd();
    }
    return object.symbols;
}

/// Looks for the file again, as one is not held open for each that has names: when its process is
/// gone, where its path leads here.
const analyze::ObjectFrames* ProcessNames::frames_of(uint64_t pid, const Mapping& mapping) {
    Object& object = open_object(pid, mapping);
    if (object.frames)
        return object.frames.get();
    if (mapping.path == kVdso) {
        object.frames = std::make_unique<analyze::ObjectFrames>(own_vdso());
        return object.frames.get();
    }
    for (const std::string& path : {path_of(pid, mapping), mapping.path}) {
        base::ScopedFd file = analyze::open_object(path);
        struct stat status = {};
        // Not as maps have the device: some file systems show another one there.
        if (!file.valid() || ::fstat(file.get(), &status) != 0 ||
            object.identity != std::pair(status.st_dev, status.st_ino))
            continue;
        object.frames = std::make_unique<analyze::ObjectFrames>(std::move(file));
        break;
    }
    return object.frames.get();
}

void ProcessNames::remember(uint64_t pid) {
    std::vector<Mapping> now = read_maps(pid);
    for (const Mapping& mapping : now)
        if (mapping.is_code && mapping.path.starts_with('/'))
            open_object(pid, mapping);
    if (!now.empty())
        known_[pid].maps = std::move(now);
    take_made(pid);
}

/// Runtimes write on while they run, and what they put where other code was is later in the text.
void ProcessNames::take_made(uint64_t pid) {
    if (!made_text_)
        return;
    std::string text = made_text_(static_cast<uint32_t>(pid), known_[pid].made_bytes);
    if (!text.empty())
        made_.add(formats::JitText{static_cast<uint32_t>(pid), std::move(text)});
}

std::optional<analyze::UserPlace> ProcessNames::find_made(uint64_t pid, uint64_t address) {
    auto match = made_.find(pid, address);
    if (Known& known = known_[pid]; !match && known.made_look != look_) {
        known.made_look = look_;
        take_made(pid);
        match = made_.find(pid, address);
    }
    if (!match)
        return std::nullopt;
    analyze::UserPlace place;
    place.object = "perf-" + std::to_string(pid) + ".map";
    place.object_offset = address;
    place.symbol = match->name;
    place.symbol_offset = match->offset;
    place.object_start = address - match->offset;
    return place;
}

/// Variables that begin as zeros (.bss) lie after the last mapping of their file, in none.
std::optional<analyze::UserPlace> ProcessNames::find_variable(uint64_t pid, uint64_t address,
                                                              const Mapping& mapping) {
    const Mapping* of_file = &mapping;
    if (mapping.path.empty() && of_file != known_[pid].maps.data())
        of_file--;
    if (of_file->is_code || !of_file->path.starts_with('/') ||
        (of_file != &mapping && of_file->end != mapping.begin))
        return std::nullopt;
    const analyze::ObjectSymbols& object = object_of(pid, *of_file);
    if (object.segments().empty())
        return std::nullopt;
    analyze::UserPlace place;
    place.object = name_of(of_file->path);
    place.object_start = of_file->object_start;
    place.object_offset =
        address - place.object_start + object.segments().front().address / kPageBytes * kPageBytes;
    const analyze::ObjectSymbols::Symbol* symbol = object.find_data(place.object_offset);
    if (symbol == nullptr)
        return std::nullopt;
    place.symbol = symbol->name;
    place.symbol_offset = place.object_offset - symbol->address;
    return place;
}

std::vector<ProcessNames::Function>
ProcessNames::functions(uint64_t pid, const std::function<bool(const Function&)>& wanted) {
    std::vector<Function> found;
    const std::string program = program_of(pid);
    for (const Mapping& mapping : read_code(pid)) {
        Function function;
        function.object = name_of(mapping.path);
        function.path = path_of(pid, mapping);
        function.is_program = mapping.path == program;
        const analyze::ObjectSymbols& object = object_of(pid, mapping);
        for (const analyze::ObjectSymbols::Symbol& symbol : object.symbols()) {
            auto in_file = object.file_offset_of(symbol.address);
            if (!in_file || symbol.bytes == 0 || *in_file < mapping.file_offset ||
                *in_file - mapping.file_offset >= mapping.end - mapping.begin)
                continue;
            function.address = *in_file - mapping.file_offset + mapping.begin;
            function.name = symbol.name;
            function.file_offset = *in_file;
            function.bytes = symbol.bytes;
            function.is_called = object.is_called(symbol);
            if (wanted(function))
                found.push_back(function);
        }
    }
    return found;
}

std::vector<ProcessNames::MappedObject> ProcessNames::objects(uint64_t pid) {
    std::vector<MappedObject> found;
    const std::string program = program_of(pid);
    for (const Mapping& mapping : read_code(pid)) {
        const analyze::ObjectSymbols* symbols = &object_of(pid, mapping);
        if (std::ranges::find(found, symbols, &MappedObject::symbols) == found.end())
            found.push_back(
                {name_of(mapping.path), mapping.path == program, symbols, mapping.path});
    }
    return found;
}

std::vector<ProcessNames::Mark> ProcessNames::marks(uint64_t pid) {
    std::vector<Mark> found;
    const std::string program = program_of(pid);
    for (const Mapping& mapping : read_code(pid)) {
        const analyze::ObjectSymbols& object = object_of(pid, mapping);
        for (const analyze::ObjectMark& mark : object.marks()) {
            auto in_file = object.file_offset_of(mark.address);
            if (!in_file || *in_file < mapping.file_offset ||
                *in_file - mapping.file_offset >= mapping.end - mapping.begin)
                continue;
            found.push_back({name_of(mapping.path), path_of(pid, mapping), mapping.path == program,
                             &object, &mark});
        }
    }
    return found;
}

std::vector<ProcessNames::CodeFile> ProcessNames::code_files() {
    std::map<std::tuple<std::string, uint64_t, std::string>, CodeFile> files;
    std::error_code failed;
    for (std::filesystem::directory_iterator one("/proc", failed), end; !failed && one != end;
         one.increment(failed)) {
        const uint64_t pid = std::strtoull(one->path().filename().c_str(), nullptr, 10);
        if (pid == 0)
            continue;
        const std::string program = program_of(pid);
        for (const Mapping& mapping : read_code(pid)) {
            auto [file, is_new] = files.try_emplace({mapping.device, mapping.inode, mapping.path});
            if (is_new) {
                file->second.name = name_of(mapping.path);
                look_for(pid, mapping.path, mapping.inode, file->second);
            }
            file->second.is_program |= mapping.path == program;
        }
    }
    std::vector<CodeFile> found;
    for (auto& [key, file] : files)
        if (!file.path.empty())
            found.push_back(std::move(file));
    return found;
}

const ProcessNames::Mapping* ProcessNames::mapping_of(uint64_t pid, uint64_t address) {
    Known& known = known_[pid];
    auto find = [&]() -> const Mapping* {
        auto after = std::ranges::upper_bound(known.maps, address, {}, &Mapping::begin);
        return after != known.maps.begin() && address < (after - 1)->end ? &*(after - 1) : nullptr;
    };
    const Mapping* found = find();
    if (found != nullptr || known.maps_look == look_)
        return found;
    known.maps_look = look_;
    std::vector<Mapping> now = read_maps(pid);
    if (!now.empty()) // a process that is gone keeps the maps it had
        known.maps = std::move(now);
    return find();
}

/// Most looks at a ring bring no new ones: then the files that were read stay read.
void ProcessNames::set_maps(formats::ProcessMaps maps) {
    look_++;
    if (maps.empty())
        return;
    auto entered = [](const formats::ProcessMaps::Counts& counts) {
        return std::tuple(counts.blocks, counts.images, counts.mappings, counts.unmapped,
                          counts.files, counts.lost, counts.overwritten);
    };
    if (recorded_ && entered(maps.counts()) == entered(recorded_maps_.counts()))
        return;
    if (recorded_)
        unnamed_before_.merge(recorded_->unnamed());
    recorded_.reset();
    recorded_maps_ = std::move(maps);
    analyze::ObjectPlaces places;
    const base::ByteView vdso = own_vdso();
    places.vdso.assign(vdso.begin(), vdso.end());
    recorded_ = std::make_unique<analyze::RecordedNames>(recorded_maps_, std::move(places));
}

/// Returns whether something else is known to have been there at that time.  Of a process in
/// another root the two may write a file's path differently: its build is compared, or its name.
bool ProcessNames::is_other_than(uint64_t pid, uint64_t address, std::optional<uint64_t> mono_ns,
                                 const Mapping* now) {
    auto then = recorded_ ? recorded_->locate(pid, address, mono_ns) : std::nullopt;
    if (!then) // what is in no file has no name by /proc either, but where a file lies there now
        return recorded_ && mono_ns && now != nullptr && now->is_code &&
               now->path.starts_with('/') && recorded_->was_in_no_file(pid, address, *mono_ns);
    if (now == nullptr || now->path.empty())
        return true;
    if (now->path[0] != '/')
        return then->file->path.starts_with('/');
    if (address - now->begin + now->file_offset != then->offset)
        return true;
    const std::string& id = object_of(pid, *now).build_id();
    return id.empty() || then->file->build_id.empty()
               ? name_of(now->path) != analyze::name_of(*then->file)
               : id != then->file->build_id;
}

std::optional<analyze::UserPlace> ProcessNames::find(uint64_t pid, uint64_t address,
                                                     std::optional<uint64_t> mono_ns) {
    if (!mono_ns && recorded_ && recorded_maps_.is_of_several(pid, address))
        return std::nullopt;
    const Mapping* mapping = mapping_of(pid, address);
    if (is_other_than(pid, address, mono_ns, mapping)) {
        if (auto then = recorded_->find(pid, address, mono_ns))
            return then;
        mapping = nullptr;
    }
    if (mapping != nullptr && !mapping->is_code)
        if (auto variable = find_variable(pid, address, *mapping))
            return variable;
    if (mapping == nullptr || mapping->path.empty())
        return find_made(pid, address);
    analyze::UserPlace place;
    place.object = name_of(mapping->path);
    uint64_t in_file = address - mapping->begin + mapping->file_offset;
    place.object_offset = in_file;
    place.object_start = mapping->object_start;
    if (mapping->path[0] != '/' && mapping->path != kVdso)
        return place; // [stack], [vsyscall]
    const analyze::ObjectSymbols& object = object_of(pid, *mapping);
    place.build_id = object.build_id();
    auto in_object = object.address_of(in_file);
    if (!in_object)
        return place;
    place.object_offset = *in_object;
    if (const analyze::ObjectSymbols::Symbol* symbol = object.find(*in_object)) {
        place.symbol = symbol->name;
        place.symbol_offset = *in_object - symbol->address;
    }
    return place;
}

void ProcessNames::shown_unnamed(const analyze::UserPlace& place) {
    shown_unnamed_.emplace(place.object, place.build_id);
    if (recorded_)
        recorded_->shown_unnamed(place);
}

std::map<std::string, std::string> ProcessNames::unnamed() const {
    std::map<std::string, std::string> files = unnamed_before_;
    if (recorded_)
        files.merge(recorded_->unnamed());
    for (const auto& [key, object] : objects_) {
        const std::string& path = std::get<2>(key);
        if (path.starts_with('/') &&
            shown_unnamed_.contains({name_of(path), object->symbols.build_id()}))
            files.emplace(path, analyze::why_unnamed(object->symbols));
    }
    return files;
}

analyze::UnwoundStack ProcessNames::unwind(uint64_t pid, const analyze::RecordedThread& thread,
                                           std::optional<uint64_t> mono_ns) {
    return analyze::unwind(thread, [&](uint64_t address) -> analyze::UnwindPlace {
        const Mapping* mapping = mapping_of(pid, address);
        if (is_other_than(pid, address, mono_ns, mapping))
            return recorded_->unwind_place(pid, address, mono_ns);
        if (mapping == nullptr || mapping->path.empty())
            return {.is_named = find_made(pid, address).has_value()};
        if (!mapping->is_code)
            return {};
        uint64_t in_file = address - mapping->begin + mapping->file_offset;
        return {frames_of(pid, *mapping),
                object_of(pid, *mapping).address_of(in_file).value_or(in_file),
                name_of(mapping->path)};
    });
}

} // namespace daybreak::live
