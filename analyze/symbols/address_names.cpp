// SPDX-License-Identifier: Apache-2.0
//
// Address names: a kernel address as dtrace(1) writes it.
#include "analyze/symbols/address_names.hpp"

#include "analyze/symbols/demangle.hpp"
#include "base/visible.hpp"
#include "formats/trace/code_symbol.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace daybreak::analyze {

namespace {

/// Mangled names kept with what is shown for them, at most 16 KiB each.
constexpr size_t kShownMax = 1 << 12;

/// By hand: of a million frames printf() would be a fourth of the time.
std::string hexadecimal(uint64_t address) {
    std::array<char, 18> text = {'0', 'x'};
    char* end = std::to_chars(text.data() + 2, text.data() + text.size(), address, 16).ptr;
    return {text.data(), end};
}

/// Names of files and functions are what who made them wrote, and are one word of a line.
std::string object_text(const UserPlace& place) {
    return base::visible_name(place.object);
}

} // namespace

std::optional<formats::SymbolTable::Match> AddressNames::find(uint64_t address) const {
    unnamed_.kernel |= !symbols_ || symbols_->empty();
    return symbols_ ? symbols_->find(address) : std::nullopt;
}

std::optional<UserPlace> AddressNames::find_user(uint64_t pid, uint64_t address) const {
    unnamed_.user |= !users_;
    if (!users_)
        return std::nullopt;
    // In a function of its own: with two returns the place would be copied, which takes a hundred
    // instructions.
    auto find = [&] {
        const KeyTimes::Kept* kept = when_.keys ? when_.keys->find(pid, address) : nullptr;
        auto place = kept == nullptr       ? users_->find(pid, address, moment_ns())
                     : kept->is_of_several ? std::nullopt
                                           : users_->find(pid, address, kept->mono_ns);
        unnamed_.unmapped |= !place;
        return place;
    };
    return find();
}

std::optional<uint64_t> AddressNames::moment_ns() const {
    return when_.clock ? std::optional(when_.clock->mono_ns(when_.ticks)) : std::nullopt;
}

UnwoundStack AddressNames::unwind(uint64_t pid, const RecordedThread& thread) const {
    return users_ ? users_->unwind(pid, thread, moment_ns()) : UnwoundStack{};
}

std::string AddressNames::location(uint64_t address) const {
    auto match = find(address);
    if (!match)
        return hexadecimal(address);
    std::string text = std::string(match->module) + "`" + std::string(match->name);
    return match->offset_bytes == 0 ? text : text + "+" + hexadecimal(match->offset_bytes);
}

uint64_t AddressNames::symbol_start(uint64_t address) const {
    auto match = find(address);
    return match ? address - match->offset_bytes : address;
}

uint64_t AddressNames::module_start(uint64_t address) const {
    auto match = find(address);
    if (!match)
        return address;
    auto known = module_starts_.find(match->module);
    if (known != module_starts_.end())
        return known->second;
    // By its code: since 6.4 a module's data lie elsewhere, lower in one boot and higher in the
    // next.
    uint64_t code = UINT64_MAX, any = address;
    for (const formats::Symbol& symbol : symbols_->symbols()) {
        if (symbols_->modules()[symbol.module] != match->module)
            continue;
        any = std::min(any, symbol.address);
        if (formats::is_code(symbol))
            code = std::min(code, symbol.address);
    }
    uint64_t start = code != UINT64_MAX ? code : any;
    module_starts_.emplace(match->module, start);
    return start;
}

std::string AddressNames::symbol(uint64_t address) const {
    auto match = find(address);
    return match ? std::string(match->module) + "`" + std::string(match->name)
                 : hexadecimal(address);
}

std::string AddressNames::module(uint64_t address) const {
    auto match = find(address);
    return match ? std::string(match->module) : hexadecimal(address);
}

std::string AddressNames::user_text(uint64_t pid, uint64_t address, bool offset) const {
    auto place = find_user(pid, address);
    if (!place)
        return hexadecimal(address);
    if (place->symbol.empty())
        users_->shown_unnamed(*place);
    if (place->symbol.empty())
        return object_text(*place) + (place->by_offset ? ":" + hexadecimal(place->object_offset)
                                                       : "`" + hexadecimal(address));
    return function_text(*place, offset);
}

/// Demangling takes a microsecond, and most frames are of few functions.
std::string AddressNames::shown(const std::string& symbol) const {
    if (style_.mangled || !symbol.starts_with('_'))
        return base::visible_name(symbol);
    auto known = shown_.find(symbol);
    if (known == shown_.end()) {
        if (shown_.size() >= kShownMax)
            shown_.clear();
        known = shown_.emplace(symbol, base::visible_name(demangled(symbol))).first;
    }
    return known->second;
}

std::string AddressNames::function_text(const UserPlace& place, bool offset) const {
    std::string text = object_text(place) + "`" + shown(place.symbol);
    if (offset && place.symbol_offset != 0)
        text += "+" + hexadecimal(place.symbol_offset);
    return text;
}

std::string AddressNames::user_location(uint64_t pid, uint64_t address, bool is_return) const {
    std::string text;
    // What follows the last call of a function that does not return may be of another function;
    // what signals return to is in no call, and has nothing of its own before it.
    if (is_return)
        if (auto place = find_user(pid, address - 1); place && !place->symbol.empty()) {
            place->symbol_offset++;
            text = function_text(*place, true);
        }
    if (text.empty())
        text = user_text(pid, address, true);
    std::string line =
        style_.lines && users_ ? users_->line(pid, address, is_return, moment_ns()) : "";
    return line.empty() ? text : text + " (" + line + ")";
}

std::string AddressNames::user_symbol(uint64_t pid, uint64_t address) const {
    return user_text(pid, address, false);
}

/// Returns the beginning that `start_of` finds of the place of an address.
template <typename StartOf>
uint64_t AddressNames::user_start(uint64_t pid, uint64_t address, KeyTimes& keys,
                                  StartOf start_of) const {
    auto place = find_user(pid, address);
    if (!place)
        return address;
    const uint64_t start = start_of(*place);
    if (auto mono_ns = moment_ns())
        keys.keep(pid, start, address, *place, *mono_ns);
    return start;
}

uint64_t AddressNames::user_symbol_start(uint64_t pid, uint64_t address, KeyTimes& keys) const {
    return user_start(pid, address, keys, [&](const UserPlace& place) {
        return place.symbol.empty() ? address : address - place.symbol_offset;
    });
}

uint64_t AddressNames::user_module_start(uint64_t pid, uint64_t address, KeyTimes& keys) const {
    return user_start(pid, address, keys,
                      [](const UserPlace& place) { return place.object_start; });
}

std::string AddressNames::user_module(uint64_t pid, uint64_t address) const {
    auto place = find_user(pid, address);
    return place ? object_text(*place) : hexadecimal(address);
}

std::string AddressNames::user_unresolved(uint64_t pid, uint64_t address) const {
    auto place = find_user(pid, address);
    return place ? object_text(*place) + ":" + hexadecimal(place->object_offset)
                 : hexadecimal(address);
}

} // namespace daybreak::analyze
