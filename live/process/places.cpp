// SPDX-License-Identifier: Apache-2.0
//
// Places: the probes in programs' files that descriptions name, for the module to make.
#include "live/process/places.hpp"

#include "base/counted.hpp"
#include "base/visible.hpp"
#include "engine/sim/bare_host.hpp"
#include "formats/abi/ioctl.h"
#include "formats/abi/limits.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <numeric>
#include <span>
#include <unistd.h>

namespace daybreak::live {

namespace {

/// Returns the offset that a probe's name is: "1f"; nothing for "entry", "return" and globs.
std::optional<uint64_t> offset_named(const std::string& name) {
    uint64_t offset = 0;
    const char* end = name.data() + name.size();
    auto parsed = std::from_chars(name.data(), end, offset, 16);
    if (name.empty() || parsed.ec != std::errc{} || parsed.ptr != end)
        return std::nullopt;
    return offset;
}

constexpr const char* kKernelProviders[] = {
    "dtrace", "syscall", "fbt", "sdt", "profile", "kinst", "cpc",
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition,     \
                  pass)                                                                            \
#provider,
#define DBK_CODED(provider, name, since, kind, where) #provider,
#define DBK_ABSENT(provider, name, reason)
#include "formats/abi/probes/all.h"
#include "formats/abi/probes/end.h"
};

/// Any user's files run: of those that are damaged so many are named.
constexpr size_t kDamagedNamed = 10;

/// At most so much of all files that processes run, as any user's are among them.
constexpr size_t kRunningPlacesMax = DBK_PLACES_MAX / 2, kRunningBytesMax = DBK_DOF_BYTES_MAX / 2;

/// In what order files are taken while there is room: the system's, then the small ones.
auto rank_of(const ProcessNames::CodeFile& file) {
    return std::tuple(!file.is_of_root, file.bytes, file.path);
}

size_t bytes_of(const formats::DofPlace& place) {
    return sizeof(dbk_dof_place) + place.probe.text().size() + place.path.size() +
           place.operands.size();
}

/// A name in D has a dash where one in C has two underscores: "function__entry".
std::string dashed(std::string name) {
    for (size_t at = 0; (at = name.find("__", at)) != std::string::npos;)
        name.replace(at, 2, "-");
    return name;
}

/// Where the digits at a name's end begin.
size_t digits_of(const std::string& name) {
    return name.find_last_not_of("0123456789") + 1;
}

/// The number that a description's provider ends with from there on; 0: none.
uint32_t number_at(const formats::DofProbeName& description, size_t at) {
    const std::string& provider = description.provider;
    uint32_t number = 0;
    auto parsed = std::from_chars(provider.data() + at, provider.data() + provider.size(), number);
    return description.id == 0 && parsed.ec == std::errc{} ? number : 0;
}

} // namespace

std::vector<uint32_t> numbers_named(const formats::DofProbeName& description) {
    const std::string& provider = description.provider;
    std::vector<uint32_t> numbers;
    for (size_t at = digits_of(provider); at < provider.size(); at++)
        if (uint32_t number = number_at(description, at); number != 0 && provider[at] != '0')
            numbers.push_back(number);
    return numbers;
}

uint32_t process_named(const formats::DofProbeName& description) {
    uint32_t pid = number_at(description, digits_of(description.provider));
    return sim::glob_match(description.provider, "pid" + std::to_string(pid)) ? pid : 0;
}

bool is_by_path(const formats::DofProbeName& description) {
    return description.id == 0 && description.module.starts_with('/') &&
           (sim::glob_match(description.provider, "pid") ||
            (is_of_marks(description.provider) && process_named(description) == 0));
}

bool is_of_running(const formats::DofProbeName& description) {
    return description.id == 0 && !description.module.starts_with('/') &&
           is_of_marks(description.provider) && !sim::glob_match(description.provider, "pid") &&
           numbers_named(description).empty();
}

bool is_of_marks(const std::string& provider) {
    return !provider.empty() && std::ranges::none_of(kKernelProviders, [&](const char* kernel) {
        return sim::glob_match(provider, kernel);
    });
}

void Places::add(formats::DofPlace place) {
    const formats::DofProbeName& probe = place.probe;
    for (const std::string* part : {&probe.provider, &probe.module, &probe.function, &probe.name})
        if (part->size() > DBK_PROBE_NAME_BYTES_MAX) {
            too_long_.insert(*part);
            return;
        }
    if (!known_.emplace(probe.text(), place.path, place.offset).second)
        return;
    places_.push_back(std::move(place));
}

/// Adds what the last part of a description names of the function at whose beginning the place is.
void Places::add_function(const formats::DofProbeName& description, formats::DofPlace place,
                          uint64_t function_bytes, bool is_called) {
    place.function_at = place.offset;
    if (auto offset = offset_named(description.name)) {
        place.kind = DBK_PLACE_INSTRUCTION;
        place.probe.name = description.name;
        place.offset += *offset;
        if (*offset < function_bytes)
            add(std::move(place));
        return;
    }
    constexpr std::pair<const char*, uint32_t> kNamed[] = {{"entry", DBK_PLACE_ENTRY},
                                                           {"return", DBK_PLACE_RETURN}};
    for (const auto& [name, kind] : kNamed) {
        if (!sim::glob_match(description.name, name) || (kind == DBK_PLACE_RETURN && !is_called))
            continue;
        place.kind = kind;
        place.probe.name = name;
        add(place);
    }
}

/// Adds a place at a mark, when a description names it; provider, module, path and file are set.
void Places::add_mark(const formats::DofProbeName& description, formats::DofPlace place,
                      const analyze::ObjectSymbols& object, const analyze::ObjectMark& mark) {
    auto in_file = object.file_offset_of(mark.address);
    const auto* function = object.find(mark.address);
    place.probe.function = function != nullptr ? function->name : "";
    place.probe.name = dashed(mark.name);
    if (!in_file || !sim::glob_match(description.provider, place.probe.provider) ||
        !sim::glob_match(description.function, place.probe.function) ||
        !sim::glob_match(description.name, place.probe.name))
        return;
    place.operands = analyze::with_distances(
        mark, [&](const std::string& name) { return object.variable_at(name); });
    place.kind = DBK_PLACE_MARK;
    place.offset = *in_file;
    place.semaphore = mark.semaphore != 0 ? object.file_offset_of(mark.semaphore).value_or(0) : 0;
    add(std::move(place));
}

void Places::note_marks(const std::string& path, const analyze::ObjectSymbols& object) {
    if (std::string text = object.marks_left_out().text("part"); !text.empty())
        damaged_.emplace(path, base::visible_name(path) + ": .note.stapsdt: " + text);
}

void Places::add_marks(const formats::DofProbeName& description, uint32_t pid) {
    for (const ProcessNames::MappedObject& object : names_.objects(pid))
        if (module_meant(description.module, object.name, object.is_program))
            note_marks(object.path, *object.symbols);
    for (const ProcessNames::Mark& mark : names_.marks(pid)) {
        auto module = module_meant(description.module, mark.object_name, mark.is_program);
        if (!module)
            continue;
        formats::DofPlace place;
        place.probe.provider = mark.mark->provider + std::to_string(pid);
        place.probe.module = *std::move(module);
        place.path = mark.path;
        place.pid = pid;
        add_mark(description, std::move(place), *mark.object, *mark.mark);
    }
}

void Places::add_named(const formats::DofProbeName& description) {
    uint32_t pid = process_named(description);
    if (pid == 0)
        return;
    auto wanted = [&description](const ProcessNames::Function& function) {
        return module_meant(description.module, function.object, function.is_program) &&
               sim::glob_match(description.function, function.name);
    };
    for (const auto& function : names_.functions(pid, wanted)) {
        formats::DofPlace place;
        place.probe.provider = "pid" + std::to_string(pid);
        place.probe.module =
            *module_meant(description.module, function.object, function.is_program);
        place.probe.function = function.name;
        place.path = function.path;
        place.pid = pid;
        place.offset = function.file_offset;
        add_function(description, std::move(place), function.bytes, function.is_called);
    }
}

std::string Places::remark() const {
    std::vector<std::string> lines;
    for (const auto& [path, count] : left_out_)
        lines.push_back(path + " left out: with its " + base::counted(count, "mark") +
                        " there are too many in the files that run; name a file by its path");
    if (!too_long_.empty())
        lines.push_back(base::counted(too_long_.size(), "function") +
                        " left out: a probe's name has at most 4095 bytes");
    const size_t unread = std::transform_reduce(
        places_.begin(), places_.end(), size_t{0}, std::plus{},
        [](const auto& place) { return analyze::variables_named(place.operands).size(); });
    if (unread != 0)
        lines.push_back(
            base::counted(unread, "argument of a mark reads", "arguments of marks read") +
            " as 0: the file has no symbol of the variable");
    size_t named = 0;
    for (const auto& [path, damage] : damaged_)
        if (named++ < kDamagedNamed)
            lines.push_back(damage);
    if (damaged_.size() > kDamagedNamed)
        lines.push_back(".note.stapsdt is damaged in " +
                        base::counted(damaged_.size() - kDamagedNamed, "more file"));
    std::string text;
    for (const std::string& line : lines)
        text += (text.empty() ? "" : "\n") + line;
    return text;
}

uint32_t count_places(const std::vector<formats::DofPlace>& places,
                      const formats::DofProbeName& description) {
    auto count = std::ranges::count_if(places, [&](const formats::DofPlace& place) {
        return sim::glob_match(description.provider, place.probe.provider) &&
               (description.module == place.probe.module ||
                sim::glob_match(description.module, place.probe.module)) &&
               sim::glob_match(description.function, place.probe.function) &&
               sim::glob_match(description.name, place.probe.name);
    });
    return static_cast<uint32_t>(count);
}

/// Of a file that says no build id, another one is known by the code at the place: a breakpoint
/// must not be in the middle of an instruction of it.
void Places::know_by_code(const std::string& path, int fd) {
    for (formats::DofPlace& place : places_) {
        if (place.path != path || place.pid != 0 || !place.build_id.empty())
            continue;
        place.build_id_at = place.kind == DBK_PLACE_INSTRUCTION ? place.function_at : place.offset;
        place.build_id.resize(DBK_PLACE_BUILD_ID_MAX);
        ssize_t bytes = ::pread(fd, place.build_id.data(), place.build_id.size(),
                                static_cast<off_t>(place.build_id_at));
        place.build_id.resize(static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
    }
}

base::Result<void> Places::add_by_path(const formats::DofProbeName& description) {
    std::error_code failed;
    std::string path = std::filesystem::canonical(description.module, failed).string();
    if (failed)
        path = description.module;
    base::ScopedFd file = analyze::open_object(path);
    if (file.valid())
        return add_file(description, description.module, std::move(path), file.get());
    const int why = errno;
    if (std::filesystem::exists(path, failed) && !std::filesystem::is_regular_file(path, failed))
        return base::errorf(base::ErrorCode::invalid, "%s is not a program or library",
                            description.module.c_str());
    errno = why;
    return base::errno_errorf("cannot open %s", path.c_str());
}

std::set<std::pair<std::string, std::string>> running_marks() {
    std::set<std::pair<std::string, std::string>> marks;
    for (const ProcessNames::CodeFile& file : ProcessNames::code_files()) {
        base::ScopedFd opened = analyze::open_object(file.path);
        if (!opened.valid())
            continue;
        const auto object = analyze::ObjectSymbols::read_without_functions(opened.get());
        for (const analyze::ObjectMark& mark : object.marks())
            marks.emplace(mark.provider, dashed(mark.name));
    }
    return marks;
}

void Places::add_running(const formats::DofProbeName& description) {
    std::vector<ProcessNames::CodeFile> files = ProcessNames::code_files();
    std::ranges::sort(files, {}, rank_of);
    for (const ProcessNames::CodeFile& file : files) {
        auto module = module_meant(description.module, file.name, file.is_program);
        base::ScopedFd opened = module ? analyze::open_object(file.path) : base::ScopedFd();
        if (!opened.valid())
            continue;
        const auto object = analyze::ObjectSymbols::read_without_functions(opened.get());
        note_marks(file.path, object);
        const bool has_any =
            std::ranges::any_of(object.marks(), [&](const analyze::ObjectMark& mark) {
                return sim::glob_match(description.provider, mark.provider) &&
                       sim::glob_match(description.name, dashed(mark.name));
            });
        if (!has_any)
            continue;
        const size_t before = places_.size();
        // A file that goes away meanwhile has no marks, as if it had gone before.
        static_cast<void>(add_file(description, *module, file.path, opened.get()));
        take_back_beyond(before, file.path);
    }
}

/// Takes back what a file of the path added from `before` on, when there is no room for all of it.
void Places::take_back_beyond(size_t before, const std::string& path) {
    const auto added = std::span(places_).subspan(before);
    const size_t bytes =
        std::transform_reduce(added.begin(), added.end(), size_t{0}, std::plus{}, bytes_of);
    if (running_places_ + added.size() <= kRunningPlacesMax &&
        running_bytes_ + bytes <= kRunningBytesMax) {
        running_places_ += added.size();
        running_bytes_ += bytes;
        return;
    }
    for (const formats::DofPlace& place : added)
        known_.erase({place.probe.text(), place.path, place.offset});
    left_out_.emplace(path, added.size());
    places_.resize(before);
}

/// Adds what a description names in a file, of every process that maps it; `module`: its probes'.
base::Result<void> Places::add_file(const formats::DofProbeName& description, std::string module,
                                    std::string path, int fd) {
    analyze::ObjectSymbols object = analyze::ObjectSymbols::read(fd);
    analyze::add_debug_symbols(object);
    if (object.segments().empty() || !object.is_64_bit())
        return base::errorf(base::ErrorCode::invalid, "%s is not a program or library of 64 bits",
                            module.c_str());
    note_marks(path, object);
    formats::DofPlace place;
    place.probe.module = std::move(module);
    place.path = path;
    place.build_id.assign(object.build_id().begin(), object.build_id().end());
    place.build_id_at = object.build_id_offset();
    if (place.build_id.size() > DBK_PLACE_BUILD_ID_MAX)
        place.build_id.clear();
    for (const analyze::ObjectMark& mark : object.marks()) {
        place.probe.provider = mark.provider;
        add_mark(description, place, object, mark);
    }
    place.probe.provider = "pid";
    const bool is_of_functions = sim::glob_match(description.provider, place.probe.provider);
    for (const analyze::ObjectSymbols::Symbol& symbol : object.symbols()) {
        if (!is_of_functions || symbol.bytes == 0 ||
            !sim::glob_match(description.function, symbol.name))
            continue;
        auto offset = object.file_offset_of(symbol.address);
        if (!offset)
            continue;
        place.probe.function = symbol.name;
        place.offset = *offset;
        add_function(description, place, symbol.bytes, object.is_called(symbol));
    }
    know_by_code(path, fd);
    return {};
}

} // namespace daybreak::live
