// SPDX-License-Identifier: Apache-2.0
//
// Addresses to files of a build, and the names in them.
#include "analyze/symbols/recorded_names.hpp"

namespace daybreak::analyze {

namespace {

/// Times of records are converted from ticks: a record just after an exec may seem to be before it.
constexpr uint64_t kClockSlackNs = 1'000'000;

} // namespace

std::optional<formats::ProcessMaps::Match> RecordedNames::locate(uint64_t pid, uint64_t address,
                                                                 std::optional<uint64_t> mono_ns) {
    auto match = maps_.find(pid, address, mono_ns);
    for (uint64_t near : {kClockSlackNs, -kClockSlackNs})
        if (!match && mono_ns)
            match = maps_.find(pid, address, *mono_ns + near);
    return match;
}

bool RecordedNames::was_in_no_file(uint64_t pid, uint64_t address, uint64_t mono_ns) {
    return maps_.was_in_no_file(pid, address, mono_ns) && !locate(pid, address, mono_ns);
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
    UserPlace place;
    place.object = name_of(*match->file);
    place.object_offset = match->offset;
    place.object_start = match->begin;
    place.build_id = match->file->build_id;
    place.file_offset = match->offset;
    place.address = address;
    place.by_offset = true;
    const Object* object = files_.find(*match->file);
    std::optional<uint64_t> in_object =
        object ? object->symbols.address_of(match->offset) : std::nullopt;
    if (!in_object)
        return place;
    place.object_offset = *in_object;
    if (const ObjectSymbols::Symbol* symbol = object->symbols.find(*in_object)) {
        place.symbol = symbol->name;
        place.symbol_offset = *in_object - symbol->address;
    }
    return place;
}

std::string RecordedNames::line(uint64_t pid, uint64_t address, bool is_return,
                                std::optional<uint64_t> mono_ns) {
    auto match = locate(pid, address, mono_ns);
    Object* object = match ? files_.find(*match->file) : nullptr;
    std::optional<uint64_t> in_object =
        object ? object->symbols.address_of(match->offset - is_return) : std::nullopt;
    if (!in_object)
        return "";
    auto note = [&] {
        if (const std::string& much = object->lines->too_large(); !much.empty())
            too_large_.emplace(object->lines_path, much);
    };
    auto open = [&](std::string path) {
        object->lines_path = std::move(path);
        object->lines = std::make_unique<ObjectLines>(open_object(object->lines_path));
        note();
    };
    if (!object->lines)
        open(object->path);
    if (object->lines->empty() && !object->debug_path.empty())
        open(std::exchange(object->debug_path, {}));
    std::string found = object->lines->find(*in_object);
    note();
    return found;
}

UnwindPlace RecordedNames::unwind_place(uint64_t pid, uint64_t address,
                                        std::optional<uint64_t> mono_ns) {
    auto match = locate(pid, address, mono_ns);
    if (!match)
        return {.is_named = jit_names_.find(pid, address).has_value()};
    Object* object = files_.find(*match->file);
    std::optional<uint64_t> in_object =
        object ? object->symbols.address_of(match->offset) : std::nullopt;
    if (!in_object)
        return {nullptr, match->offset, name_of(*match->file)};
    if (!object->frames)
        object->frames = object->path.empty()
                             ? std::make_unique<ObjectFrames>(files_.vdso())
                             : std::make_unique<ObjectFrames>(open_object(object->path));
    return {object->frames.get(), *in_object, name_of(*match->file)};
}

UnwoundStack RecordedNames::unwind(uint64_t pid, const RecordedThread& thread,
                                   std::optional<uint64_t> mono_ns) {
    return analyze::unwind(thread,
                           [&](uint64_t address) { return unwind_place(pid, address, mono_ns); });
}

} // namespace daybreak::analyze
