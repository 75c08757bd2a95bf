// SPDX-License-Identifier: Apache-2.0
//
// Finding the files of a build.
#include "analyze/symbols/object_files.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::analyze {

namespace {

using formats::MappedFile;

constexpr std::string_view kDeleted = " (deleted)";

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

ObjectSymbols read_file(const std::string& path) {
    base::ScopedFd file = open_object(path);
    return file.valid() ? ObjectSymbols::read(file.get()) : ObjectSymbols();
}

} // namespace

std::string_view path_of(const MappedFile& file) {
    std::string_view path = file.path;
    if (path.ends_with(kDeleted))
        path.remove_suffix(kDeleted.size());
    return path;
}

std::string name_of(const MappedFile& file) {
    std::string_view path = path_of(file);
    return std::string(path.substr(path.rfind('/') + 1));
}

base::ScopedFd open_object(const std::string& path) {
    base::ScopedFd found(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status = {};
    if (!found.valid() || ::fstat(found.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return base::ScopedFd();
    std::string opened = base::strprintf("/proc/self/fd/%d", found.get());
    return base::ScopedFd(::open(opened.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

void add_debug_symbols(ObjectSymbols& object, const std::string& folder) {
    if (object.build_id().size() >= 2)
        object.add_functions_of(read_file(folder + by_build_id(object.build_id()) + ".debug"));
}

std::unique_ptr<ObjectFiles::Object> ObjectFiles::read(const MappedFile& file) const {
    auto object = std::make_unique<Object>();
    if (file.path == kVdsoPath) {
        if (places_.vdso.empty())
            return nullptr;
        object->symbols = ObjectSymbols::read(places_.vdso);
        return object;
    }
    if (file.build_id.size() < 2)
        return nullptr;
    std::string path(path_of(file)), id = by_build_id(file.build_id);
    std::vector<std::string> candidates, debug = {places_.debug_folder + id + ".debug"};
    for (const std::string& folder : places_.folders) {
        candidates.insert(candidates.end(), {folder + id, folder + "/" + name_of(file)});
        debug.push_back(folder + id + ".debug");
        if (path.starts_with('/') && !file.path_cut)
            candidates.push_back(folder + path);
    }
    if (path.starts_with('/') && !file.path_cut)
        candidates.push_back(path);
    auto is_found = [&](const std::string& candidate) {
        object->symbols = read_file(candidate);
        object->path = candidate;
        return object->symbols.build_id() == file.build_id;
    };
    auto is_added = [&](const std::string& more) {
        bool added = object->symbols.add_functions_of(read_file(more));
        if (added)
            object->debug_path = more;
        return added;
    };
    const std::string hex = hexadecimal(file.build_id);
    if (!std::ranges::any_of(candidates, is_found) &&
        !(places_.fetch && is_found(places_.fetch("executable", hex))))
        return nullptr;
    if (!std::ranges::any_of(debug, is_added) && places_.fetch)
        is_added(places_.fetch("debuginfo", hex));
    return object;
}

ObjectFiles::Object* ObjectFiles::find(const MappedFile& file) {
    auto [at, is_new] = objects_.try_emplace(&file);
    if (is_new)
        at->second = read(file);
    return at->second.get();
}

MissingFiles ObjectFiles::missing() const {
    MissingFiles files;
    for (const auto& [file, object] : objects_)
        if (!object)
            files.emplace(file->path, hexadecimal(file->build_id));
    return files;
}

} // namespace daybreak::analyze
