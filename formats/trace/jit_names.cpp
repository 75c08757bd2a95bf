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

void JitNames::add(JitText untrusted) {
    texts_.push_back(std::move(untrusted));
}

void JitNames::add(JitNames other) {
    std::ranges::move(other.texts_, std::back_inserter(texts_));
}

JitNames::Functions& JitNames::functions_of(uint64_t pid) {
    auto [process, is_new] = processes_.try_emplace(pid);
    std::string_view text;
    for (const JitText& one : texts_)
        if (is_new && one.pid == pid)
            text = one.text;
    while (!text.empty() && functions_left_ != 0) {
        size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        uint64_t address = 0, bytes = 0;
        if (!take_number(line, address) || !take_number(line, bytes) || bytes == 0 ||
            address + bytes < address || line.empty())
            continue;
        functions_left_--;
        process->second.insert_or_assign(
            address, Function{bytes, std::string(line.substr(0, kNameBytesMax))});
    }
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
