// SPDX-License-Identifier: Apache-2.0
//
// Finding the files of a build, and the names in them.
#include "analyze/symbols/recorded_names.hpp"

#include "analyze/symbols/unwind.hpp"

#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::analyze {

namespace {

using formats::MappedFile;

/// Times of records are converted from ticks: a record just after an exec may seem to be before it.
constexpr uint64_t kClockSlackNs = 1'000'000;
constexpr size_t kRememberedMax = 1 << 20;
constexpr std::string_view kDeleted = " (deleted)", kVdso = "[vdso]";

std::string path_of(const MappedFile& file) {
    std::string path = file.path;
    if (path.ends_with(kDeleted))
        path.resize(path.size() - kDeleted.size());
    return path;
}

std::string name_of(const MappedFile& file) {
    std::string path = path_of(file);
    return path.substr(path.rfind('/') + 1);
}

std::string hexadecimal(std::string_view bytes) {
    std::string text;
    for (char byte : bytes)
        text += base::strprintf("%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    return text;
}

/// "/.build-id/ab/cdef..."
std::string by_build_id(const std::string& build_id) {
    std::string text = hexadecimal(build_id);
    return "/.build-id/" + text.substr(0, 2) + "/" + text.substr(2);
}

/// Nothing when it is not a file that can be read: devices and pipes are not opened for reading.
base::ScopedFd open_file(const std::string& path) {
    base::ScopedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status = {};
    if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return base::ScopedFd();
    return file;
}

ObjectSymbols read_file(const std::string& path) {
    base::ScopedFd file = open_file(path);
    return file.valid() ? ObjectSymbols::read(file.get()) : ObjectSymbols();
}

} // namespace

std::unique_ptr<RecordedNames::Object> RecordedNames::read_object(const MappedFile& file) const {
    auto object = std::make_unique<Object>();
    if (file.path == kVdso) {
        if (places_.vdso.empty())
            return nullptr;
        object->symbols = ObjectSymbols::read(places_.vdso);
        return object;
    }
    if (file.build_id.size() < 2)
        return nullptr;
    std::string path = path_of(file), id = by_build_id(file.build_id);
    std::vector<std::string> candidates, debug = {places_.debug_folder + id + ".debug"};
    for (const std::string& folder : places_.folders) {
        candidates.insert(candidates.end(), {folder + id, folder + "/" + name_of(file)});
        debug.push_back(folder + id + ".debug");
        if (path.starts_with('/') && !file.path_cut)
            candidates.push_back(folder + path);
    }
    if (path.starts_with('/') && !file.path_cut)
        candidates.push_back(path);
    for (const std::string& candidate : candidates) {
        object->symbols = read_file(candidate);
        if (object->symbols.build_id() != file.build_id)
            continue;
        object->path = candidate;
        for (const std::string& more : debug)
            if (object->symbols.add_functions_of(read_file(more))) {
                object->debug_path = more;
                break;
            }
        return object;
    }
    return nullptr;
}

RecordedNames::Object* RecordedNames::object_of(const MappedFile& file) {
    auto [at, is_new] = objects_.try_emplace(&file);
    if (is_new)
        at->second = read_object(file);
    return at->second.get();
}

void RecordedNames::remember(uint64_t pid, uint64_t address, const Match& match) {
    if (remembered_.size() >= kRememberedMax)
        return;
    auto [at, is_new] = remembered_.try_emplace({pid, address}, match);
    if (!is_new && (at->second.file != match.file || at->second.offset != match.offset))
        at->second.file = nullptr;
}

std::optional<RecordedNames::Match> RecordedNames::locate(uint64_t pid, uint64_t address,
                                                          std::optional<uint64_t> mono_ns) {
    if (!mono_ns) {
        auto known = remembered_.find({pid, address});
        if (known == remembered_.end())
            return maps_.find(pid, address, mono_ns);
        return known->second.file ? std::optional(known->second) : std::nullopt;
    }
    auto match = maps_.find(pid, address, mono_ns);
    for (uint64_t near : {kClockSlackNs, -kClockSlackNs})
        if (!match)
            match = maps_.find(pid, address, *mono_ns + near);
    return match;
}

/// What is in no file the process's runtime may have made, and named.
std::optional<UserPlace> RecordedNames::find_made(uint64_t pid, uint64_t address) {
    auto match = jit_names_.find(pid, address);
    if (!match)
        return std::nullopt;
    UserPlace place;
    place.object = "perf-" + std::to_string(pid) + ".map";
    place.object_offset = address;
    place.symbol = match->name;
    place.symbol_offset = match->offset;
    place.object_start = address - match->offset;
    return place;
}

std::optional<UserPlace> RecordedNames::find(uint64_t pid, uint64_t address,
                                             std::optional<uint64_t> mono_ns) {
    auto match = locate(pid, address, mono_ns);
    if (!match)
        return find_made(pid, address);
    auto remember_before = [&](uint64_t bytes) {
        if (mono_ns)
            remember(pid, address - bytes, {match->file, match->offset - bytes, match->begin});
    };
    remember_before(0);
    remember_before(address - match->begin);
    UserPlace place;
    place.object = name_of(*match->file);
    place.object_offset = match->offset;
    place.object_start = match->begin;
    place.build_id = match->file->build_id;
    place.file_offset = match->offset;
    place.address = address;
    place.by_offset = true;
    const Object* object = object_of(*match->file);
    std::optional<uint64_t> in_object =
        object ? object->symbols.address_of(match->offset) : std::nullopt;
    if (!in_object)
        return place;
    place.object_offset = *in_object;
    if (const ObjectSymbols::Symbol* symbol = object->symbols.find(*in_object)) {
        place.symbol = symbol->name;
        place.symbol_offset = *in_object - symbol->address;
        remember_before(place.symbol_offset);
    }
    return place;
}

std::string RecordedNames::line(uint64_t pid, uint64_t address, bool is_return,
                                std::optional<uint64_t> mono_ns) {
    auto match = locate(pid, address, mono_ns);
    Object* object = match ? object_of(*match->file) : nullptr;
    std::optional<uint64_t> in_object =
        object ? object->symbols.address_of(match->offset - is_return) : std::nullopt;
    if (!in_object)
        return "";
    if (!object->lines)
        object->lines = std::make_unique<ObjectLines>(open_file(object->path));
    if (object->lines->empty() && !object->debug_path.empty()) {
        object->lines = std::make_unique<ObjectLines>(open_file(object->debug_path));
        object->debug_path.clear();
    }
    return object->lines->find(*in_object);
}

UnwoundStack RecordedNames::unwind(uint64_t pid, const RecordedThread& thread,
                                   std::optional<uint64_t> mono_ns) {
    return analyze::unwind(thread, [&](uint64_t address) -> UnwindPlace {
        auto match = locate(pid, address, mono_ns);
        if (!match)
            return {.is_named = jit_names_.find(pid, address).has_value()};
        Object* object = object_of(*match->file);
        std::optional<uint64_t> in_object =
            object ? object->symbols.address_of(match->offset) : std::nullopt;
        if (!in_object)
            return {nullptr, match->offset, name_of(*match->file)};
        if (!object->frames)
            object->frames = object->path.empty()
                                 ? std::make_unique<ObjectFrames>(places_.vdso)
                                 : std::make_unique<ObjectFrames>(open_file(object->path));
        return {object->frames.get(), *in_object, name_of(*match->file)};
    });
}

std::vector<std::pair<std::string, std::string>> RecordedNames::missing() const {
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& [file, object] : objects_)
        if (!object)
            files.emplace_back(file->path, hexadecimal(file->build_id));
    return files;
}

} // namespace daybreak::analyze
