// SPDX-License-Identifier: Apache-2.0
//
// Addresses of processes to files, and back to names.
#include "analyze/replay/file_frames.hpp"

#include "base/elf_notes.hpp"

#include <algorithm>
#include <span>

namespace daybreak::analyze {

bool is_common(const formats::MappedFile& file) {
    return !file.build_id.empty() && file.build_id.size() <= base::kBuildIdBytesMax;
}

std::optional<MappedFiles::Frame> MappedFiles::find(uint64_t pid, uint64_t address) {
    auto place = users_ ? users_->find(pid, address, std::nullopt) : std::nullopt;
    if (!place || place->build_id.empty() || place->build_id.size() > base::kBuildIdBytesMax ||
        place->file_offset >= formats::kImageBytesMax)
        return std::nullopt;
    auto at = files_.try_emplace(place->build_id).first;
    File& file = at->second;
    file.names.insert(place->object);
    file.end = std::max(file.end, place->file_offset + 1);
    auto name_function = [&](const std::optional<UserPlace>& found) {
        if (!found || found->symbol.empty() || found->symbol_offset > found->file_offset)
            return;
        Function& function = file.functions[found->file_offset - found->symbol_offset];
        function.name = found->symbol;
        function.bytes = std::max(function.bytes, found->symbol_offset + 1);
    };
    name_function(place);
    if (place->is_at_edge())
        if (auto before = users_->find(pid, address - 1, std::nullopt);
            before && before->build_id == place->build_id)
            name_function(before);
    return Frame{at->first, place->file_offset, place->address};
}

void MappedFiles::put(std::vector<formats::StateImage>& images,
                      std::vector<formats::StateSymbol>& symbols) const {
    for (const auto& [build_id, file] : files_) {
        base::ByteView id = base::as_bytes(build_id);
        auto number = static_cast<uint32_t>(images.size());
        images.push_back({*file.names.begin(), 0, file.end, {id.begin(), id.end()}, true});
        for (const auto& [offset, function] : file.functions)
            symbols.push_back(
                {{number, offset}, 'T', function.name, *file.names.begin(), function.bytes});
    }
}

/// Of two names the same one stays, whichever comes first.
void FileNames::add(NamedPlaces& places, uint64_t place, uint64_t bytes, const std::string& name) {
    auto [at, is_new] = places.try_emplace(place, Named{name, bytes});
    at->second.name = std::min(at->second.name, name);
    at->second.bytes = std::max(at->second.bytes, bytes);
}

FileNames::NamedPlaces::const_iterator FileNames::find_in(const NamedPlaces& places,
                                                          uint64_t address) {
    auto above = places.upper_bound(address);
    if (above == places.begin() ||
        address - std::prev(above)->first >= std::prev(above)->second.bytes)
        return places.end();
    return std::prev(above);
}

void FileNames::add_file(uint64_t place, uint64_t bytes, const std::string& name,
                         std::string build_id) {
    add(files_, place, bytes, name);
    Named& file = files_.find(place)->second;
    file.file = {file.name, std::move(build_id), false};
}

void FileNames::add_function(uint64_t place, uint64_t bytes, const std::string& name) {
    add(functions_, place, bytes, name);
}

void FileNames::add_address(uint64_t pid, uint64_t address, uint64_t place) {
    if (addresses_.size() >= kAddressesMax)
        return;
    auto [at, is_new] = addresses_.try_emplace({pid, address}, place);
    if (!is_new && at->second != place)
        at->second = 0;
}

void FileNames::name_by_object(const Named& file, UserPlace& place) {
    ObjectFiles::Object* object = objects_->find(file.file);
    auto address = object ? object->symbols.address_of(place.file_offset) : std::nullopt;
    if (const ObjectSymbols::Symbol* symbol = address ? object->symbols.find(*address) : nullptr) {
        place.symbol = symbol->name;
        place.symbol_offset = *address - symbol->address;
    }
}

/// The byte before an address is asked for as well, where that is one that a call returns to.
uint64_t FileNames::place_of(uint64_t pid, uint64_t address) const {
    for (uint64_t before : {0, 1})
        if (auto known = addresses_.find({pid, address + before}); known != addresses_.end())
            return known->second - before;
    return address;
}

std::optional<UserPlace> FileNames::find(uint64_t pid, uint64_t process_address,
                                         std::optional<uint64_t>) {
    const uint64_t address = place_of(pid, process_address);
    auto file = find_in(files_, address);
    if (file == files_.end())
        return std::nullopt;
    UserPlace place;
    place.object = file->second.name;
    place.object_offset = place.file_offset = address - file->first;
    place.object_start = process_address - place.file_offset;
    place.by_offset = true;
    auto function = find_in(functions_, address);
    if (function != functions_.end()) {
        place.symbol = function->second.name;
        place.symbol_offset = address - function->first;
    } else if (objects_) {
        name_by_object(file->second, place);
    }
    return place;
}

} // namespace daybreak::analyze
