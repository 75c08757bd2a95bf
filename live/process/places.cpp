// SPDX-License-Identifier: Apache-2.0
//
// Places: the probes in programs' files that descriptions name, for the module to make.
#include "live/process/places.hpp"

#include "engine/sim/sim_host.hpp"
#include "formats/abi/limits.h"

#include <algorithm>
#include <charconv>

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

constexpr const char* kProgram = "a.out";
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

uint32_t process_named(const formats::DofProbeName& description) {
    uint32_t pid = number_named(description);
    return sim::glob_match(description.provider, "pid" + std::to_string(pid)) ? pid : 0;
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
    if (known_.emplace(probe.text(), place.path, place.offset).second)
        places_.push_back(std::move(place));
}

void Places::add_function(const formats::DofProbeName& description, uint32_t pid,
                          const ProcessNames::Function& function) {
    formats::DofPlace place;
    place.probe.provider = "pid" + std::to_string(pid);
    place.probe.module = description.module == kProgram ? kProgram : function.object;
    place.probe.function = function.name;
    place.path = function.path;
    place.pid = pid;
    place.offset = place.function_at = function.file_offset;
    if (auto offset = offset_named(description.name)) {
        place.kind = DBK_PLACE_INSTRUCTION;
        place.probe.name = description.name;
        place.offset += *offset;
        if (*offset < function.bytes)
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

void Places::add_marks(const formats::DofProbeName& description, uint32_t pid) {
    for (const ProcessNames::Mark& mark : names_.marks(pid)) {
        formats::DofPlace place;
        place.probe.provider = mark.mark->provider + std::to_string(pid);
        place.probe.module = mark.object;
        place.probe.function = mark.function;
        place.probe.name = dashed(mark.mark->name);
        if (!sim::glob_match(description.provider, place.probe.provider) ||
            !sim::glob_match(description.module, place.probe.module) ||
            !sim::glob_match(description.function, place.probe.function) ||
            !sim::glob_match(description.name, place.probe.name))
            continue;
        place.path = mark.path;
        place.operands = mark.mark->operands;
        place.kind = DBK_PLACE_MARK;
        place.pid = pid;
        place.offset = mark.file_offset;
        place.semaphore = mark.semaphore_offset;
        add(std::move(place));
    }
}

void Places::add_named(const formats::DofProbeName& description) {
    uint32_t pid = process_named(description);
    if (pid == 0)
        return;
    auto wanted = [&description](const ProcessNames::Function& function) {
        bool is_object = description.module == kProgram
                             ? function.is_program
                             : sim::glob_match(description.module, function.object);
        return is_object && sim::glob_match(description.function, function.name);
    };
    for (const auto& function : names_.functions(pid, wanted))
        add_function(description, pid, function);
}

} // namespace daybreak::live
