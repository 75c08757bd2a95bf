// SPDX-License-Identifier: Apache-2.0
//
// Addresses to files of a build, and the names in them.
#include "analyze/symbols/recorded_names.hpp"

#include "analyze/symbols/unwind.hpp"

namespace daybreak::analyze {

namespace {

/// Times of records are converted from ticks: a record just after an exec may seem to be before it.
constexpr uint64_t kClockSlackNs = 1'000'000;
constexpr size_t kRememberedMax = 1 << 20;

} // namespace

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
    const Object* object = files_.find(*match->file);
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
    Object* object = match ? files_.find(*match->file) : nullptr;
    std::optional<uint64_t> in_object =
        object ? object->symbols.address_of(match->offset - is_return) : std::nullopt;
    if (!in_object)
        return "";
    if (!object->lines)
        object->lines = std::make_unique<ObjectLines>(open_object(object->path));
    if (object->lines->empty() && !object->debug_path.empty()) {
        object->lines = std::make_unique<ObjectLines>(open_object(object->debug_path));
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
    });
}

} // namespace daybreak::analyze
