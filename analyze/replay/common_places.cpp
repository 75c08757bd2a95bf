// SPDX-License-Identifier: Apache-2.0
//
// CommonPlaces: places of images are given at once, their names as they are met.
#include "analyze/replay/common_places.hpp"

#include "analyze/replay/kernel_images.hpp"

namespace daybreak::analyze {

void CommonPlaces::find_images() {
    for (const Source& source : sources_) {
        images_.push_back(kernel_images(source.trace->header.modules, source.trace->symbols));
        image_places_.add(images_.size(), images_.back());
    }
    for (const std::vector<formats::StateImage>& images : images_)
        indexes_.emplace_back(images);
    image_places_.finish();
}

uint64_t CommonPlaces::kernel(size_t source, uint64_t address) {
    if (is_of_one())
        return address;
    auto known = known_[source].find(address);
    if (known != known_[source].end())
        return known->second;
    uint64_t place = make_place(source, address);
    if (place != address) // a number that lies nowhere may be any number
        known_[source].emplace(address, place);
    return place;
}

uint64_t CommonPlaces::make_place(size_t source, uint64_t address) {
    if (images_.empty())
        find_images();
    formats::Frame frame = indexes_[source].frame_of(address);
    auto match = sources_[source].trace->symbols.find(address);
    uint64_t place = address;
    if (frame.image) {
        place = *image_places_.address_of(images_[source][*frame.image].build_id, frame.offset);
    } else if (match) {
        place = places_by_name_.symbol(match->module, match->name) + match->offset_bytes;
    }
    if (match) {
        name(place - match->offset_bytes, match->name, match->module);
        name(places_by_name_.module(match->module), match->module, match->module);
    }
    return place;
}

void CommonPlaces::name(uint64_t place, std::string_view name, std::string_view module) {
    if (!named_.insert(place).second)
        return;
    symbols_.add(place, 'T', name, module);
    is_unsettled_ = true;
}

void CommonPlaces::find_files() {
    has_files_ = true;
    std::vector<formats::StateImage> files;
    for (const Source& source : sources_)
        for (const auto& [file, number] : source.trace->recording.maps.files()) {
            base::ByteView id = base::as_bytes(file.build_id);
            files.push_back({"", 0, formats::kImageBytesMax, {id.begin(), id.end()}, true});
        }
    file_places_.add(0, files);
    file_places_.finish();
}

/// Returns the place of a file's first byte.
uint64_t CommonPlaces::place_of(const formats::ProcessMaps::Match& match, uint64_t address) {
    const std::string& build_id = match.file->build_id;
    if (!is_of_one()) {
        uint64_t place = *file_places_.address_of(base::as_bytes(build_id), 0);
        mapped_.try_emplace(place, Mapped{build_id});
        return place;
    }
    const uint64_t start = address - match.offset;
    const uint64_t place =
        mapped_at_
            .try_emplace({build_id, start, match.begin},
                         FramePlaces::kBegin + mapped_at_.size() * FramePlaces::kPlaceBytes)
            .first->second;
    mapped_.try_emplace(place, Mapped{build_id, start, match.begin - start});
    return place;
}

uint64_t CommonPlaces::user(size_t source, uint64_t pid, uint64_t address, uint64_t mono_ns) {
    RecordedNames* users = sources_[source].users;
    auto match = users ? users->locate(pid, address, mono_ns) : std::nullopt;
    if (!match || !is_common(*match->file) || match->offset >= formats::kImageBytesMax)
        return address;
    if (!has_files_ && !is_of_one())
        find_files();
    uint64_t start = place_of(*match, address), place = start + match->offset;
    if (!origins_.try_emplace(place, Origin{source, pid, address, mono_ns}).second)
        return place;
    auto name_function = [&](const std::optional<UserPlace>& found, uint64_t at) {
        if (found && !found->symbol.empty() && found->symbol_offset <= at - start)
            files_.add_function(at - found->symbol_offset, found->symbol_offset + 1, found->symbol);
    };
    if (auto found = users->find(pid, address, mono_ns)) {
        files_.add_file(start, match->offset + 1, found->object);
        name_function(found, place);
        // A call that does not return may be a function's last instruction.
        if (found->is_at_edge() && match->offset > 0)
            name_function(users->find(pid, address - 1, mono_ns), place - 1);
    }
    return place;
}

std::optional<UserPlace> CommonPlaces::Files::find(uint64_t pid, uint64_t address,
                                                   std::optional<uint64_t> mono_ns) {
    auto place = FileNames::find(pid, address, mono_ns);
    // Of one recording a program computes addresses as well.
    RecordedNames* users = places_.is_of_one() ? places_.sources_[0].users : nullptr;
    if (!place)
        return users && address < FramePlaces::kBegin ? users->find(pid, address, mono_ns)
                                                      : std::nullopt;
    const Mapped& mapped = std::prev(places_.mapped_.upper_bound(address))->second;
    place->build_id = mapped.build_id;
    place->address = mapped.address + place->file_offset;
    place->object_start += mapped.code_offset;
    return place;
}

std::string CommonPlaces::Files::line(uint64_t, uint64_t address, bool is_return,
                                      std::optional<uint64_t>) {
    auto at = places_.origins_.find(address);
    if (at == places_.origins_.end())
        return "";
    const Origin& origin = at->second;
    return places_.sources_[origin.source].users->line(origin.pid, origin.address, is_return,
                                                       origin.mono_ns);
}

} // namespace daybreak::analyze
