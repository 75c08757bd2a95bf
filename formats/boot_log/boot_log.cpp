// SPDX-License-Identifier: Apache-2.0
//
// What a kernel keeps of its own start, as text.
#include "formats/boot_log/boot_log.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace daybreak::formats {

namespace {

constexpr size_t kLineBytesMax = 4096;
constexpr uint32_t kCpusMax = 4096;

/// Takes a number off the front of a text.
template <typename Number>
bool take_number(std::string_view& text, Number& number_ret, int base = 10) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number_ret, base);
    if (error != std::errc())
        return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

bool take(std::string_view& text, std::string_view wanted) {
    if (!text.starts_with(wanted))
        return false;
    text.remove_prefix(wanted.size());
    return true;
}

void skip_blanks(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

/// "CPU:1 [LOST 25 EVENTS]", or without the number.
bool take_lost(std::string_view line, FtraceText& text) {
    uint64_t count = 0;
    uint32_t cpu = 0;
    if (!take(line, "CPU:") || !take_number(line, cpu) || !take(line, " [LOST "))
        return false;
    if (take_number(line, count))
        text.lost += count;
    else
        text.lost_unknown = true;
    return true;
}

/// "# entries-in-buffer/entries-written: 4/400000   #P:2"
bool take_comment(std::string_view line, FtraceText& text) {
    uint64_t in_buffer = 0, written = 0;
    if (!take(line, "#"))
        return false;
    if (take(line, " entries-in-buffer/entries-written: ") && take_number(line, in_buffer) &&
        take(line, "/") && take_number(line, written)) {
        text.in_buffer = in_buffer;
        text.written = written;
    }
    return true;
}

/// "0.348000" as nanoseconds, or cycles.
bool take_stamp(std::string_view& text, FtraceEvent& event) {
    if (!take_number(text, event.stamp))
        return false;
    event.is_cycles = !text.starts_with('.');
    if (event.is_cycles)
        return true;
    text.remove_prefix(1);
    uint64_t microseconds = 0;
    size_t before = text.size();
    if (!take_number(text, microseconds) || before - text.size() != 6 ||
        event.stamp > UINT64_MAX / 1'000'000'000 - 1)
        return false;
    event.stamp = event.stamp * 1'000'000'000 + microseconds * 1000;
    return true;
}

std::optional<FtraceEvent> event_of(std::string_view line) {
    FtraceEvent event;
    skip_blanks(line);
    size_t bracket = line.find(" [");
    if (bracket == std::string_view::npos)
        return std::nullopt;
    std::string_view task = line.substr(0, line.find_last_not_of(' ', bracket) + 1);
    // Of option record-tgid: "init-1       (      1) [000]".
    if (size_t group = task.rfind(" ("); task.ends_with(')') && group != std::string_view::npos)
        task = task.substr(0, task.find_last_not_of(' ', group) + 1);
    size_t dash = task.rfind('-');
    if (dash == std::string_view::npos)
        return std::nullopt;
    std::string_view tid = task.substr(dash + 1);
    if (!take_number(tid, event.tid) || !tid.empty())
        return std::nullopt;
    event.task = task.substr(0, dash);
    line.remove_prefix(bracket + 2);
    if (!take_number(line, event.cpu) || event.cpu >= kCpusMax || !take(line, "] "))
        return std::nullopt;
    // The flags, which say nothing here: d..1.
    skip_blanks(line);
    line.remove_prefix(std::min(line.find(' '), line.size()));
    skip_blanks(line);
    if (!take_stamp(line, event) || !take(line, ": "))
        return std::nullopt;
    size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0)
        return std::nullopt;
    event.name = line.substr(0, colon);
    line.remove_prefix(colon + 1);
    skip_blanks(line);
    event.fields = line;
    return event;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The kernel writes what is not printable, and a backslash, as \x0a.
std::string unescaped(std::string_view text) {
    std::string result;
    for (size_t at = 0; at < text.size(); at++) {
        if (text.substr(at).starts_with("\\x") && at + 3 < text.size() &&
            hex_digit(text[at + 2]) >= 0 && hex_digit(text[at + 3]) >= 0) {
            result += static_cast<char>(hex_digit(text[at + 2]) << 4 | hex_digit(text[at + 3]));
            at += 3;
        } else {
            result += text[at];
        }
    }
    return result;
}

} // namespace

FtraceText read_ftrace(std::string_view untrusted_text) {
    FtraceText result;
    while (!untrusted_text.empty()) {
        std::string_view line = untrusted_text.substr(0, untrusted_text.find('\n'));
        untrusted_text.remove_prefix(std::min(line.size() + 1, untrusted_text.size()));
        if (line.empty() || take_comment(line, result) || take_lost(line, result))
            continue;
        auto event = line.size() <= kLineBytesMax ? event_of(line) : std::nullopt;
        if (event)
            result.events.push_back(std::move(*event));
        else
            result.other_lines++;
    }
    return result;
}

std::optional<std::string> field_of(const FtraceEvent& event, std::string_view name) {
    std::string_view text = event.fields;
    for (size_t at = 0; at < text.size();) {
        std::string_view rest = text.substr(at);
        if (take(rest, name) && take(rest, "=")) {
            // A symbol of a module has a blank in it: "dbk_init+0x0/0x90 [daybreak]".
            size_t end = rest.find(' ');
            if (end != std::string_view::npos && rest.substr(end).starts_with(" ["))
                end = rest.find(' ', end + 1);
            return std::string(rest.substr(0, end));
        }
        size_t blank = text.find(' ', at);
        at = blank == std::string_view::npos ? text.size() : blank + 1;
    }
    return std::nullopt;
}

std::string kernel_function_of(std::string_view symbol) {
    if (symbol.starts_with("0x") || symbol.find(' ') != std::string_view::npos)
        return "";
    return std::string(symbol.substr(0, symbol.find('+')));
}

std::optional<KernelMessage> read_kernel_message(std::string_view untrusted_record) {
    KernelMessage message;
    uint32_t priority = 0;
    uint64_t microseconds = 0;
    std::string_view text = untrusted_record;
    if (!take_number(text, priority) || !take(text, ",") || !take_number(text, message.sequence) ||
        !take(text, ",") || !take_number(text, microseconds) ||
        microseconds > UINT64_MAX / 1000 || !text.starts_with(','))
        return std::nullopt;
    size_t semicolon = text.find(';');
    if (semicolon == std::string_view::npos)
        return std::nullopt;
    text.remove_prefix(semicolon + 1);
    message.level = priority & 7;
    message.facility = priority >> 3;
    message.stamp_ns = microseconds * 1000;
    // What follows the line says which device it is about.
    message.text = unescaped(text.substr(0, text.find('\n')));
    return message;
}

long double clock_ns_of(uint64_t cycles, const TscReading& first, const TscReading& second) {
    if (second.cycles <= first.cycles || second.clock_ns <= first.clock_ns)
        return 0;
    // Multiplied first: whole results stay whole.
    return static_cast<long double>(second.clock_ns) +
           (static_cast<long double>(cycles) - static_cast<long double>(second.cycles)) *
               static_cast<long double>(second.clock_ns - first.clock_ns) /
               static_cast<long double>(second.cycles - first.cycles);
}

uint64_t clock_error_ns(uint64_t cycles, const TscReading& first, const TscReading& second) {
    if (second.cycles <= first.cycles)
        return UINT64_MAX;
    // Each reading is wrong by half its width at most, and so is their difference by both halves.
    long double half_widths =
        static_cast<long double>(first.width_ns + second.width_ns) / 2;
    long double away = static_cast<long double>(second.cycles) - static_cast<long double>(cycles);
    long double error = half_widths * std::fabs(away) /
                            static_cast<long double>(second.cycles - first.cycles) +
                        static_cast<long double>(second.width_ns) / 2;
    return static_cast<uint64_t>(error);
}

} // namespace daybreak::formats
