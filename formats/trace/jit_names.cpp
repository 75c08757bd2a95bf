// SPDX-License-Identifier: Apache-2.0
//
// Lines of perf-PID.map.
#include "formats/trace/jit_names.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace daybreak::formats {

namespace {

/// A name is a line's rest; Java's have parameters.
constexpr size_t kNameBytesMax = 4096;

/// Takes a number in hexadecimal and the blanks after it off the line.
bool take_number(std::string_view& line, uint64_t& number) {
    if (line.starts_with("0x"))
        line.remove_prefix(2);
    auto parsed = std::from_chars(line.data(), line.data() + line.size(), number, 16);
    if (parsed.ec != std::errc{})
        return false;
    line.remove_prefix(static_cast<size_t>(parsed.ptr - line.data()));
    size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(blanks);
    return blanks != 0;
}

} // namespace

bool JitNames::add(JitText untrusted) {
    auto [at, is_new] = texts_.try_emplace(untrusted.pid);
    size_t others = bytes_ - at->second.size();
    if (texts_.size() > kJitTextsMax || untrusted.text.size() > kJitTextsBytesMax - others) {
        if (is_new)
            texts_.erase(at);
        return false;
    }
    if (auto known = processes_.find(untrusted.pid); known != processes_.end()) {
        functions_left_ += known->second.size();
        processes_.erase(known);
    }
    at->second = std::move(untrusted.text);
    bytes_ = others + at->second.size();
    return true;
}

bool JitNames::add(JitNames other) {
    bool had_room = true;
    for (auto& [pid, text] : other.texts_)
        had_room = add(JitText{static_cast<uint32_t>(pid), std::move(text)}) && had_room;
    return had_room;
}

JitNames::Functions& JitNames::functions_of(uint64_t pid) {
    auto [process, is_new] = processes_.try_emplace(pid);
    auto known = texts_.find(pid);
    std::string_view text = is_new && known != texts_.end() ? known->second : std::string_view();
    size_t left = std::min(kFunctionsMax, functions_left_);
    functions_left_ -= left;
    while (!text.empty() && left != 0) {
        size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        uint64_t address = 0, bytes = 0;
        if (!take_number(line, address) || !take_number(line, bytes) || bytes == 0 ||
            address + bytes < address || line.empty())
            continue;
        left--;
        process->second.insert_or_assign(
            address, Function{bytes, std::string(line.substr(0, kNameBytesMax))});
    }
    functions_left_ += left;
    return process->second;
}

std::optional<JitNames::Match> JitNames::find(uint64_t pid, uint64_t address) {
    Functions& functions = functions_of(pid);
    auto above = functions.upper_bound(address);
    if (above == functions.begin())
        return std::nullopt;
    const auto& [start, function] = *std::prev(above);
    if (address - start >= function.bytes)
        return std::nullopt;
    return Match{function.name, address - start};
}

} // namespace daybreak::formats
