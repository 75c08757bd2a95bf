// SPDX-License-Identifier: Apache-2.0
//
// Lines of perf-PID.map.
#include "formats/trace/jit_names.hpp"

#include "base/visible.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace daybreak::formats {

namespace {

/// A name is a line's rest; Java's have parameters.
constexpr size_t kNameBytesMax = 4096;

/// What a line says; of no bytes it is a function that is nowhere.
struct Line {
    uint64_t address = 0, bytes = 0;
    std::string_view name;
};

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

/// Takes the next line off the text.
std::string_view take_line(std::string_view& text) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

/// Returns what a line says; nothing when it does not hold.
std::optional<Line> read_line(std::string_view line) {
    Line read;
    if (!take_number(line, read.address) || !take_number(line, read.bytes) ||
        read.address + read.bytes < read.address || line.empty())
        return std::nullopt;
    read.name = line.substr(0, kNameBytesMax);
    return read;
}

} // namespace

base::LeftOut lines_left_out(std::string_view untrusted, size_t& functions_left) {
    constexpr size_t kShownBytes = 40;
    base::LeftOut left_out;
    for (size_t number = 1; !untrusted.empty(); number++) {
        std::string_view line = take_line(untrusted);
        const std::optional<Line> read = read_line(line);
        if (line.empty() || (read && read->bytes == 0))
            continue;
        if (read && functions_left != 0) {
            functions_left--;
            continue;
        }
        if (left_out.count++ != 0)
            continue; // millions of lines may be damaged
        left_out.first =
            "line " + std::to_string(number) + ": " +
            (read ? "expected at most " + std::to_string(kJitFunctionsMax) +
                        " functions of a process"
                  : "\"" + base::visible_name(std::string(line.substr(0, kShownBytes))) +
                        (line.size() > kShownBytes ? "...\"" : "\"") +
                        ", expected ADDRESS SIZE NAME, in hexadecimal and within 64 bits");
    }
    return left_out;
}

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
    size_t left = std::min(kJitFunctionsMax, functions_left_);
    functions_left_ -= left;
    while (!text.empty() && left != 0) {
        auto line = read_line(take_line(text));
        if (!line || line->bytes == 0)
            continue;
        left--;
        process->second.insert_or_assign(line->address,
                                         Function{line->bytes, std::string(line->name)});
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
