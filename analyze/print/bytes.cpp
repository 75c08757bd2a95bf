// SPDX-License-Identifier: Apache-2.0
//
// Bytes: strings in a field, and hex dumps.
#include "analyze/print/bytes.hpp"

#include "analyze/print/text.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

constexpr size_t kBytesPerLine = 16;
constexpr int kMargin = 5;

/// The C locale's isprint() or isspace(), or bell or backspace, which a terminal obeys.
bool is_shown(std::byte byte) {
    auto c = static_cast<unsigned char>(byte);
    return (c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r') || c == '\a' || c == '\b';
}

void print_heading(std::string& out) {
    appendf(out, "\n%*s      ", kMargin, "");
    for (size_t i = 0; i < kBytesPerLine; i++)
        appendf(out, "  %zx", i);
    out += "  0123456789abcdef\n";
}

void print_row(std::string& out, size_t offset, base::ByteView line) {
    appendf(out, "%*s%5zx:", kMargin, "", offset);
    for (std::byte byte : line)
        appendf(out, " %02x", static_cast<unsigned>(byte));
    out.append((kBytesPerLine - line.size()) * 3 + 2, ' ');
    for (std::byte byte : line) {
        auto c = static_cast<char>(byte);
        out += c >= 0x20 && c < 0x7f ? c : '.';
    }
    out += '\n';
}

} // namespace

void print_hex_dump(std::string& out, base::ByteView bytes) {
    if (bytes.empty())
        return;
    print_heading(out);
    for (size_t offset = 0; offset < bytes.size(); offset += kBytesPerLine)
        print_row(out, offset,
                  bytes.subspan(offset, std::min(kBytesPerLine, bytes.size() - offset)));
}

bool is_printable_string(base::ByteView bytes) {
    auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
    return std::all_of(bytes.begin(), end, is_shown) &&
           std::all_of(end, bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

void print_string_or_dump(std::string& out, base::ByteView bytes, size_t room_bytes, int width,
                          bool quiet) {
    if (!is_printable_string(bytes)) {
        // Other consumers see the whole zero-padded field; so does who compares with them.
        base::Bytes padded(bytes.begin(), bytes.end());
        padded.resize(std::max(padded.size(), room_bytes));
        print_hex_dump(out, padded);
        return;
    }
    auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
    auto length = static_cast<size_t>(end - bytes.begin());
    if (!quiet)
        out += "  ";
    out.append(reinterpret_cast<const char*>(bytes.data()), length);
    if (!quiet && length < static_cast<size_t>(width))
        out.append(static_cast<size_t>(width) - length, ' ');
}

} // namespace daybreak::analyze
