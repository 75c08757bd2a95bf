// SPDX-License-Identifier: Apache-2.0
//
// Reading the notes of 64-bit files: header, "stapsdt", three addresses, three strings.
#include "analyze/symbols/object_marks.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>

namespace daybreak::analyze {

namespace {

using base::ByteView;

constexpr uint32_t kNoteType = 3;
constexpr char kOwner[] = "stapsdt";
constexpr size_t kTextBytesMax = 4095;

struct NoteAddresses {
    uint64_t address, base, semaphore;
};

constexpr uint64_t padded(uint64_t bytes) {
    return (bytes + 3) & ~uint64_t{3};
}

/// Takes a NUL-terminated string from the front; nothing when there is none.
std::optional<std::string> take_text(ByteView& bytes) {
    const void* end = bytes.empty() ? nullptr : std::memchr(bytes.data(), 0, bytes.size());
    if (end == nullptr)
        return std::nullopt;
    size_t length = static_cast<size_t>(static_cast<const std::byte*>(end) - bytes.data());
    std::string text(reinterpret_cast<const char*>(bytes.data()), length);
    bytes = bytes.subspan(length + 1);
    if (length > kTextBytesMax)
        return std::nullopt;
    return text;
}

std::optional<ObjectMark> mark_of(ByteView content, uint64_t base_address) {
    NoteAddresses addresses;
    if (content.size() < sizeof(addresses))
        return std::nullopt;
    std::memcpy(&addresses, content.data(), sizeof(addresses));
    content = content.subspan(sizeof(addresses));
    auto provider = take_text(content), name = take_text(content), operands = take_text(content);
    if (!provider || !name || !operands || provider->empty() || name->empty())
        return std::nullopt;
    uint64_t moved = base_address != 0 && addresses.base != 0 ? base_address - addresses.base : 0;
    ObjectMark mark{*std::move(provider), *std::move(name), *std::move(operands),
                    addresses.address + moved, 0};
    if (addresses.semaphore != 0)
        mark.semaphore = addresses.semaphore + moved;
    return mark;
}

} // namespace

void read_object_marks(ByteView untrusted_notes, uint64_t base_address,
                       std::vector<ObjectMark>& marks) {
    Elf64_Nhdr note;
    while (untrusted_notes.size() >= sizeof(note) && marks.size() < kObjectMarksMax) {
        std::memcpy(&note, untrusted_notes.data(), sizeof(note));
        uint64_t content_at = sizeof(note) + padded(note.n_namesz);
        if (content_at + note.n_descsz > untrusted_notes.size())
            return;
        bool is_ours =
            note.n_type == kNoteType && note.n_namesz == sizeof(kOwner) &&
            std::memcmp(untrusted_notes.data() + sizeof(note), kOwner, sizeof(kOwner)) == 0;
        if (is_ours)
            if (auto mark =
                    mark_of(untrusted_notes.subspan(content_at, note.n_descsz), base_address))
                marks.push_back(*std::move(mark));
        uint64_t next = content_at + padded(note.n_descsz);
        untrusted_notes = untrusted_notes.subspan(std::min<uint64_t>(next, untrusted_notes.size()));
    }
}

} // namespace daybreak::analyze
