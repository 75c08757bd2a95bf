// SPDX-License-Identifier: Apache-2.0
//
// Canonical: keys of a table to those of partial states, and back.
#include "analyze/replay/canonical.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace daybreak::analyze {

namespace {

using base::errorf;
using formats::KeyTag;

/// X(ValueKind and KeyTag alike)
#define DBK_SAME_KINDS(X)                                                                          \
    X(integer)                                                                                     \
    X(string)                                                                                      \
    X(bytes) X(memory) X(stack) X(ustack) X(symbol) X(module) X(uaddress) X(usymbol) X(umodule)

KeyTag tag_of(ValueKind kind) {
    switch (kind) {
#define DBK_TAG_OF(name)                                                                           \
    case ValueKind::name:                                                                          \
        return KeyTag::name;
        DBK_SAME_KINDS(DBK_TAG_OF)
#undef DBK_TAG_OF
    }
    return KeyTag::bytes;
}

ValueKind kind_of(KeyTag tag) {
    switch (tag) {
#define DBK_KIND_OF(name)                                                                          \
    case KeyTag::name:                                                                             \
        return ValueKind::name;
        DBK_SAME_KINDS(DBK_KIND_OF)
#undef DBK_KIND_OF
    }
    return ValueKind::bytes;
}

/// Whether the words of a value are addresses of the kernel, not of a process.
constexpr bool is_of_kernel(KeyTag tag) {
    return formats::has_frames(tag) && !formats::has_process(tag);
}

bool is_kernel_address(uint64_t address) {
    return address >> 63 != 0;
}

std::string_view text_of(base::ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Integers may be printed as addresses: %a.
void note_integer(const Value& member, KernelAddresses& addresses) {
    if (member.data.size() == sizeof(uint64_t) && is_kernel_address(member.unsigned_integer()))
        addresses.integers.insert(member.unsigned_integer());
}

constexpr uint64_t kPlaces = (uint64_t{1} << 28) - (1u << 21);

/// Of modules and symbols, below and above all images.
constexpr uint64_t kModulesBegin = 0xe000'0000'0000'0000, kSymbolsBegin = 0xf800'0000'0000'0000,
                   kNamedPlaces = uint64_t{1} << 36,
                   kNamedPlaceBytes = 2 * formats::kSymbolBytesMax;

/// FNV-1a.
uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

} // namespace

bool is_kernel_place(ValueKind kind) {
    return is_of_kernel(tag_of(kind));
}

formats::StateAggregation aggregation_of(const AggregationLayout& layout, const std::string& name) {
    formats::StateAggregation aggregation;
    aggregation.name = name;
    aggregation.function = layout.function.kind;
    aggregation.argument = layout.function.argument;
    for (const ValueType& type : layout.keys)
        aggregation.key_types.push_back(
            {tag_of(type.kind), type.bytes, type.action, type.is_signed});
    return aggregation;
}

AggregationLayout layout_of(const formats::StateAggregation& aggregation, uint32_t variable) {
    AggregationLayout layout;
    layout.variable = variable;
    layout.function = {aggregation.function, aggregation.argument};
    for (const formats::StateKeyType& type : aggregation.key_types)
        layout.keys.push_back({kind_of(type.tag), type.bytes, type.action, type.is_signed});
    return layout;
}

ImageIndex::ImageIndex(const std::vector<formats::StateImage>& images) : images_(images) {
    for (size_t i = 0; i < images.size(); i++)
        if (!images[i].is_file)
            by_address_.emplace(images[i].base_address, static_cast<uint32_t>(i));
}

formats::Frame ImageIndex::frame_of(uint64_t address) const {
    auto above = by_address_.upper_bound(address);
    if (above == by_address_.begin())
        return {std::nullopt, address};
    uint32_t image = std::prev(above)->second;
    uint64_t offset = address - images_[image].base_address;
    if (offset >= images_[image].size_bytes)
        return {std::nullopt, address};
    return {image, offset};
}

base::Result<void> make_canonical(const std::vector<Value>& members,
                                  const std::vector<formats::StateImage>& images,
                                  const ImageIndex& index, formats::CanonicalKey& key,
                                  KernelAddresses& addresses, MappedFiles& files) {
    key.clear();
    for (const Value& member : members) {
        KeyTag tag = tag_of(member.type.kind);
        if (tag == KeyTag::integer)
            note_integer(member, addresses);
        if (!formats::has_frames(tag) || member.data.empty()) {
            key.append(tag, member.data);
            continue;
        }
        size_t words = member.data.size() / sizeof(uint64_t);
        size_t first = formats::has_process(tag) ? 1 : 0;
        if (member.data.size() % sizeof(uint64_t) != 0 || words < first)
            return errorf(base::ErrorCode::unsupported, "a key has %zu bytes of addresses",
                          member.data.size());
        auto word = [&](size_t i) {
            return base::load<uint64_t>(member.data.data() + i * sizeof(uint64_t));
        };
        key.begin_frames(tag, first != 0 ? word(0) : 0);
        for (size_t i = first; i < words; i++) {
            formats::Frame frame{std::nullopt, word(i)};
            if (is_of_kernel(tag)) {
                addresses.frames.insert(word(i));
                frame = index.frame_of(word(i));
            } else if (auto in_file = files.find(word(0), word(i))) {
                key.add_frame(base::as_bytes(in_file->build_id), in_file->offset, in_file->address);
                continue;
            }
            if (frame.image)
                key.add_frame(images[*frame.image].build_id, frame.offset);
            else
                key.add_address(frame.offset);
        }
    }
    return {};
}

void FramePlaces::add(uint64_t boot_id, const std::vector<formats::StateImage>& images) {
    has_boots_ |= boot_id_.value_or(boot_id) != boot_id;
    boot_id_ = boot_id;
    for (const formats::StateImage& image : images) {
        auto [known, is_new] =
            places_.try_emplace(std::string(text_of(image.build_id)),
                                Place{image.base_address, image.size_bytes, 0, image.is_file});
        Place& place = known->second;
        place.lowest = std::min(place.lowest, image.base_address);
        place.size_bytes = std::max(place.size_bytes, image.size_bytes);
    }
}

void FramePlaces::finish() {
    std::multimap<uint64_t, Place*> by_number; // of one number by build id
    for (auto& [build_id, place] : places_)
        by_number.emplace(hash_of(build_id) % kPlaces, &place);
    uint64_t next = 0;
    for (auto& [wanted, place] : by_number) {
        uint64_t number = std::max(wanted, next);
        next = number + 1;
        place->address =
            has_boots_ || place->is_file ? kBegin + number * kPlaceBytes : place->lowest;
    }
}

std::optional<uint64_t> FramePlaces::address_of(base::ByteView build_id, uint64_t offset) const {
    if (build_id.empty())
        return offset;
    auto found = places_.find(text_of(build_id));
    if (found == places_.end() || offset >= found->second.size_bytes)
        return std::nullopt;
    return found->second.address + offset;
}

uint64_t PlacesByName::symbol(std::string_view module, std::string_view name) {
    return place_of(kSymbolsBegin, std::string(module) + '`' + std::string(name));
}

uint64_t PlacesByName::module(std::string_view name) {
    return place_of(kModulesBegin, std::string(name));
}

uint64_t PlacesByName::place_of(uint64_t begin, std::string text) {
    uint64_t number = hash_of(text) % kNamedPlaces;
    auto address = [&] { return begin + number * kNamedPlaceBytes; };
    while (texts_.try_emplace(address(), text).first->second != text)
        number = (number + 1) % kNamedPlaces;
    return address();
}

base::Result<void> make_table_key(base::ByteView canonical, const AggregationLayout& layout,
                                  const FramePlaces& places, const KernelPlaceOf& kernel_place,
                                  FileNames& files, AggregationKey& key) {
    key.clear();
    DBK_TRY(std::vector<formats::KeyMember> members, formats::split_key(canonical));
    DBK_ASSERT(members.size() == layout.keys.size());
    std::vector<uint64_t> words;
    for (size_t i = 0; i < members.size(); i++) {
        const ValueType& type = layout.keys[i];
        base::ByteView data = members[i].bytes;
        if (formats::has_frames(members[i].tag) && !data.empty()) {
            DBK_TRY(formats::KeyFrames frames, formats::frames_of(members[i]));
            words.clear();
            if (formats::has_process(members[i].tag))
                words.push_back(frames.process_id);
            for (const formats::KeyFrame& frame : frames.frames) {
                // A file of several boots is one key of umod(), wherever its code begins.
                bool is_whole = members[i].tag == KeyTag::umodule && places.is_of_several() &&
                                !frame.build_id.empty();
                auto address = places.address_of(frame.build_id, is_whole ? 0 : frame.offset);
                if (!address)
                    return errorf(base::ErrorCode::corrupt,
                                  "a key has an address in an image that no part has");
                if (is_of_kernel(members[i].tag) && places.is_of_several())
                    address = kernel_place(members[i].tag, *address, !frame.build_id.empty());
                if (frame.address != 0 && !places.is_of_several()) {
                    files.add_address(frames.process_id, frame.address, *address);
                    address = frame.address;
                }
                words.push_back(*address);
            }
            data = std::as_bytes(std::span(words));
        }
        bool has_length = type.kind == ValueKind::string || type.is_stack();
        if (!has_length && data.size() != type.bytes)
            return errorf(base::ErrorCode::corrupt, "a member of a key has %zu bytes, expected %u",
                          data.size(), type.bytes);
        key.append(type, data);
    }
    return {};
}

} // namespace daybreak::analyze
