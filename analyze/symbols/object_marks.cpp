// SPDX-License-Identifier: Apache-2.0
//
// Reading the notes of 64-bit files: header, "stapsdt", three addresses, three strings.
#include "analyze/symbols/object_marks.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <sstream>
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

/// Takes a NUL-terminated string from the front; false: there is none, and `why` says so.
bool take_text(ByteView& bytes, const char* what, std::string& text, std::string& why) {
    const void* end = bytes.empty() ? nullptr : std::memchr(bytes.data(), 0, bytes.size());
    if (end == nullptr) {
        why = base::strprintf("%s without an end, expected a NUL in %zu bytes", what, bytes.size());
        return false;
    }
    const auto length = static_cast<size_t>(static_cast<const std::byte*>(end) - bytes.data());
    if (length > kTextBytesMax) {
        why = base::strprintf("%s of %zu bytes, expected at most %zu", what, length, kTextBytesMax);
        return false;
    }
    text.assign(reinterpret_cast<const char*>(bytes.data()), length);
    bytes = bytes.subspan(length + 1);
    return true;
}

/// Returns the mark of a note; nothing where it does not hold together, and `why` says so.
std::optional<ObjectMark> mark_of(ByteView content, uint64_t base_address, std::string& why) {
    NoteAddresses addresses;
    if (content.size() < sizeof(addresses)) {
        why = base::strprintf("contents of %zu bytes, expected at least %zu", content.size(),
                              sizeof(addresses));
        return std::nullopt;
    }
    std::memcpy(&addresses, content.data(), sizeof(addresses));
    content = content.subspan(sizeof(addresses));
    ObjectMark mark;
    if (!take_text(content, "a provider", mark.provider, why) ||
        !take_text(content, "a name", mark.name, why) ||
        !take_text(content, "operands", mark.operands, why))
        return std::nullopt;
    if (mark.provider.empty() || mark.name.empty()) {
        why = mark.provider.empty() ? "a provider of 0 bytes, expected a name"
                                    : "a name of 0 bytes, expected one";
        return std::nullopt;
    }
    uint64_t moved = base_address != 0 && addresses.base != 0 ? base_address - addresses.base : 0;
    mark.address = addresses.address + moved;
    if (addresses.semaphore != 0)
        mark.semaphore = addresses.semaphore + moved;
    return mark;
}

constexpr std::string_view kByRip = "(%rip)";

/// A variable in an operand: "40+Stats(%rip)".
struct Variable {
    std::string name;
    int64_t plus = 0;
};

/// Reads what stands between `@` and `(%rip)`: numbers and one name, with + and - between them.
std::optional<Variable> variable_of(std::string_view text) {
    Variable variable;
    while (!text.empty()) {
        const bool is_minus = text[0] == '-';
        if (is_minus || text[0] == '+')
            text.remove_prefix(1);
        std::string_view term = text.substr(0, text.find_first_of("+-"));
        text.remove_prefix(term.size());
        int64_t number = 0;
        auto parsed = std::from_chars(term.data(), term.data() + term.size(), number);
        const bool is_number = parsed.ec == std::errc{} && parsed.ptr == term.data() + term.size();
        if (term.empty() || (!is_number && (is_minus || !variable.name.empty())))
            return std::nullopt;
        if (is_number && std::abs(number) <= INT32_MAX)
            variable.plus += is_minus ? -number : number;
        else
            variable.name = term;
    }
    return variable.name.empty() ? std::nullopt : std::optional(std::move(variable));
}

/// Calls `take` with each operand's beginning up to its `@`, and the variable after it; without one
/// with the operand.
template <typename Take>
void for_each_operand(const std::string& operands, const Take& take) {
    std::istringstream words(operands);
    for (std::string word; words >> word;) {
        const size_t at = word.find('@') + 1; // 0: none
        auto variable = at != 0 && word.ends_with(kByRip)
                            ? variable_of(std::string_view(word).substr(
                                  at, word.size() - std::min(word.size(), at + kByRip.size())))
                            : std::nullopt;
        take(variable ? word.substr(0, at) : word, variable);
    }
}

} // namespace

std::vector<std::string> variables_named(const std::string& operands) {
    std::vector<std::string> names;
    for_each_operand(operands, [&](const std::string&, const std::optional<Variable>& variable) {
        if (variable)
            names.push_back(variable->name);
    });
    return names;
}

std::string with_distances(const ObjectMark& mark,
                           const std::function<std::optional<uint64_t>(const std::string&)>& at) {
    std::string text;
    for_each_operand(mark.operands, [&](std::string word, const std::optional<Variable>& variable) {
        if (variable) {
            const auto plus = static_cast<uint64_t>(variable->plus);
            auto address = at(variable->name);
            word += address ? std::to_string(static_cast<int64_t>(*address + plus - mark.address))
                            : variable->name;
            word += kByRip;
        }
        text += (text.empty() ? "" : " ") + word;
    });
    return text;
}

void read_object_marks(ByteView untrusted_notes, uint64_t base_address,
                       std::vector<ObjectMark>& marks, base::LeftOut& left_out) {
    const size_t all = untrusted_notes.size();
    Elf64_Nhdr note = {};
    uint64_t content_at = 0;
    auto leave_out = [&](const std::string& why) {
        left_out.add(base::strprintf("byte %zu: ", all - untrusted_notes.size()) + why);
    };
    for (; untrusted_notes.size() >= sizeof(note);
         untrusted_notes = untrusted_notes.subspan(
             std::min<uint64_t>(content_at + padded(note.n_descsz), untrusted_notes.size()))) {
        std::memcpy(&note, untrusted_notes.data(), sizeof(note));
        content_at = sizeof(note) + padded(note.n_namesz);
        if (content_at + note.n_descsz > untrusted_notes.size())
            return leave_out(base::strprintf("a note of %" PRIu64 " bytes, expected at most %zu",
                                             content_at + note.n_descsz, untrusted_notes.size()));
        bool is_ours =
            note.n_type == kNoteType && note.n_namesz == sizeof(kOwner) &&
            std::memcmp(untrusted_notes.data() + sizeof(note), kOwner, sizeof(kOwner)) == 0;
        std::string why;
        auto mark =
            is_ours ? mark_of(untrusted_notes.subspan(content_at, note.n_descsz), base_address, why)
                    : std::nullopt;
        if (mark && marks.size() == kObjectMarksMax)
            leave_out(base::strprintf("one mark more than %zu", kObjectMarksMax));
        else if (mark)
            marks.push_back(*std::move(mark));
        else if (is_ours)
            leave_out(why);
    }
    if (std::ranges::any_of(untrusted_notes, [](std::byte one) { return one != std::byte{0}; }))
        leave_out(base::strprintf("a note of %zu bytes, expected at least %zu",
                                  untrusted_notes.size(), sizeof(note)));
}

} // namespace daybreak::analyze
