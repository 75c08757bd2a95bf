// SPDX-License-Identifier: Apache-2.0
//
// Finding the files of a build.
#include "analyze/symbols/object_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::analyze {

namespace {

using formats::MappedFile;

constexpr std::string_view kDeleted = " (deleted)";

/// "/.build-id/ab/cdef..."
std::string by_build_id(const std::string& build_id) {
    std::string text = hexadecimal(build_id);
    return "/.build-id/" + text.substr(0, 2) + "/" + text.substr(2);
}

ObjectSymbols read_file(const std::string& path) {
    base::ScopedFd file = open_object(path);
    return file.valid() ? ObjectSymbols::read(file.get()) : ObjectSymbols();
}

/// What a file here is in place of the build that is wanted; "": it is not there.
std::string why_other(const ObjectSymbols& symbols, int error) {
    if (error == ENOENT || error == ENOTDIR)
        return "";
    if (error != 0)
        return std::string(": ") + std::strerror(error);
    if (!symbols.build_id().empty())
        return " is of build id " + hexadecimal(symbols.build_id());
    return symbols.segments().empty() ? " is not a program or library, or is damaged"
                                      : " has no build id";
}

} // namespace

std::string hexadecimal(std::string_view bytes) {
    std::string text;
    for (char byte : bytes)
        text += base::strprintf("%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    return text;
}

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
    if (!found.valid() || ::fstat(found.get(), &status) != 0)
        return base::ScopedFd();
    errno = S_ISDIR(status.st_mode) ? EISDIR : ENOEXEC;
    if (!S_ISREG(status.st_mode))
        return base::ScopedFd();
    std::string opened = base::strprintf("/proc/self/fd/%d", found.get());
    return base::ScopedFd(::open(opened.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::string why_unnamed(const ObjectSymbols& object, const std::string& debug_folder) {
    if (object.segments().empty())
        return "it could not be read, or is not a program or library";
    if (std::string damage = object.symbols_left_out().text("part"); !damage.empty())
        return "its tables of symbols: " + damage;
    if (object.is_whole())
        return "its symbols have no function there";
    if (object.build_id().empty())
        return "it is stripped, and has no build id by which debug symbols are found";
    return "it is stripped, and debug symbols of build id " + hexadecimal(object.build_id()) +
           " are not in " + debug_folder;
}

void add_debug_symbols(ObjectSymbols& object, const std::string& folder) {
    if (object.build_id().size() >= 2)
        object.add_functions_of(read_file(folder + by_build_id(object.build_id()) + ".debug"));
}

std::unique_ptr<ObjectFiles::Object> ObjectFiles::read(const MappedFile& file) {
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
    auto [given, given_end] = places_.files.equal_range(file.build_id);
    for (; given != given_end; ++given) {
        candidates.push_back(given->second);
        debug.push_back(given->second);
    }
    for (const std::string& folder : places_.folders) {
        candidates.insert(candidates.end(), {folder + id, folder + "/" + name_of(file)});
        debug.push_back(folder + id + ".debug");
        if (path.starts_with('/') && !file.path_cut)
            candidates.push_back(folder + path);
    }
    if (path.starts_with('/') && !file.path_cut)
        candidates.push_back(path);
    auto is_found = [&](const std::string& candidate) {
        base::ScopedFd opened = open_object(candidate);
        const int error = errno;
        object->symbols = opened.valid() ? ObjectSymbols::read(opened.get()) : ObjectSymbols();
        object->path = candidate;
        const bool is_of_build = object->symbols.build_id() == file.build_id;
        if (is_of_build && object->symbols.has_code())
            return true;
        std::string why = is_of_build ? " has debug symbols alone, without the code"
                                      : why_other(object->symbols, opened.valid() ? 0 : error);
        if (!why.empty())
            why_.try_emplace(&file, candidate + why);
        return false;
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
            files.insert({file->path, hexadecimal(file->build_id),
                          why_.contains(file) ? why_.at(file) : ""});
    return files;
}

std::map<std::string, std::string>
ObjectFiles::unnamed(const std::set<std::string>& build_ids) const {
    std::map<std::string, std::string> files;
    for (const auto& [file, object] : objects_) {
        if (!object || object->path.empty() || !build_ids.contains(file->build_id))
            continue;
        files[object->path] = why_unnamed(object->symbols, places_.debug_folder);
    }
    return files;
}

} // namespace daybreak::analyze
