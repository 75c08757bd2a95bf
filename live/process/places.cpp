// SPDX-License-Identifier: Apache-2.0
//
// Places: the probes in programs' files that descriptions name, for the module to make.
#include "live/process/places.hpp"

#include "engine/sim/bare_host.hpp"
#include "formats/abi/names.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

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

constexpr const char* kKernelProviders[] = {"dtrace", "syscall", "fbt", "sdt", "profile",
                                            "proc",   "sched",   "io",  "boot"};

/// A name in D has a dash where one in C has two underscores: "function__entry".
std::string dashed(std::string name) {
    for (size_t at = 0; (at = name.find("__", at)) != std::string::npos;)
        name.replace(at, 2, "-");
    return name;
}

} // namespace

uint32_t number_named(const formats::DofProbeName& description) {
    const std::string& provider = description.provider;
    size_t digits = provider.find_last_not_of("0123456789") + 1;
    uint32_t number = 0;
    auto parsed =
        std::from_chars(provider.data() + digits, provider.data() + provider.size(), number);
    return description.id == 0 && parsed.ec == std::errc{} ? number : 0;
}

std::vector<uint32_t> numbers_named(const formats::DofProbeName& description) {
    const std::string& provider = description.provider;
    const char* end = provider.data() + provider.size();
    std::vector<uint32_t> numbers;
    for (size_t at = provider.find_last_not_of("0123456789") + 1; at < provider.size(); at++) {
        uint32_t number = 0;
        if (provider[at] != '0' && description.id == 0 &&
            std::from_chars(provider.data() + at, end, number).ec == std::errc{})
            numbers.push_back(number);
    }
    return numbers;
}

uint32_t process_named(const formats::DofProbeName& description) {
    uint32_t pid = number_named(description);
    return sim::glob_match(description.provider, "pid" + std::to_string(pid)) ? pid : 0;
}

bool is_by_path(const formats::DofProbeName& description) {
    return description.id == 0 && description.module.starts_with('/') &&
           (sim::glob_match(description.provider, "pid") ||
            (is_of_marks(description.provider) && number_named(description) == 0));
}

bool is_of_marks(const std::string& provider) {
    return !provider.empty() && std::ranges::none_of(kKernelProviders, [&](const char* kernel) {
        return sim::glob_match(provider, kernel);
    });
}

void Places::add(formats::DofPlace place) {
    const formats::DofProbeName& probe = place.probe;
    for (const std::string* part : {&probe.provider, &probe.module, &probe.function, &probe.name})
        if (part->size() >
            (part == &probe.function ? DBK_PROBE_FUNCTION_BYTES_MAX : DBK_PROBE_NAME_BYTES_MAX)) {
            too_long_.insert(*part);
            return;
        }
    if (known_.emplace(probe.text(), place.path, place.offset).second)
        places_.push_back(std::move(place));
}

/// Adds what the last part of a description names of the function at whose beginning the place is.
void Places::add_function(const formats::DofProbeName& description, formats::DofPlace place,
                          uint64_t function_bytes) {
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
        if (!sim::glob_match(description.name, name))
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
    place.operands = mark.operands;
    place.kind = DBK_PLACE_MARK;
    place.offset = *in_file;
    place.semaphore = mark.semaphore != 0 ? object.file_offset_of(mark.semaphore).value_or(0) : 0;
    add(std::move(place));
}

void Places::add_marks(const formats::DofProbeName& description, uint32_t pid) {
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
        add_function(description, std::move(place), function.bytes);
    }
}

bool Places::has(const formats::DofProbeName& description) const {
    return std::ranges::any_of(places_, [&](const formats::DofPlace& place) {
        return sim::glob_match(description.provider, place.probe.provider) &&
               description.module == place.probe.module &&
               sim::glob_match(description.function, place.probe.function) &&
               sim::glob_match(description.name, place.probe.name);
    });
}

base::Result<void> Places::add_by_path(const formats::DofProbeName& description) {
    std::error_code failed;
    std::string path = std::filesystem::canonical(description.module, failed).string();
    DBK_TRY(base::ScopedFd file,
            base::open_for_reading(failed ? description.module : std::move(path)));
    path = std::filesystem::canonical(description.module, failed).string();
    analyze::ObjectSymbols object = analyze::ObjectSymbols::read(file.get());
    if (object.segments().empty() || !object.is_64_bit())
        return base::errorf(base::ErrorCode::invalid, "%s is not a program or library of 64 bits",
                            description.module.c_str());
    formats::DofPlace place;
    place.probe.module = description.module;
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
    if (!sim::glob_match(description.provider, place.probe.provider))
        return {};
    for (const analyze::ObjectSymbols::Symbol& symbol : object.symbols()) {
        auto offset = object.file_offset_of(symbol.address);
        if (!offset || symbol.bytes == 0 || !sim::glob_match(description.function, symbol.name))
            continue;
        place.probe.function = symbol.name;
        place.offset = *offset;
        add_function(description, place, symbol.bytes);
    }
    return {};
}

} // namespace daybreak::live
