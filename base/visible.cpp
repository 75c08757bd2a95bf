// SPDX-License-Identifier: Apache-2.0
//
// Which bytes a terminal may get (docs/design/0026-untrusted-readers.md).
#include "base/visible.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::base {

namespace {

/// Code points by the length of their UTF-8: a shorter form of the same is not UTF-8.
constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
constexpr char32_t kMost = 0x10ffff;

size_t sequence_bytes(unsigned char first) {
    return first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
}

} // namespace

size_t visible_bytes(std::string_view text) {
    if (text.empty())
        return 0;
    auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80)
        return first == '\n' || first == '\t' || (first >= 0x20 && first != 0x7f);
    size_t length = sequence_bytes(first);
    if (length == 0 || length > text.size())
        return 0;
    char32_t code = first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (next & 0x3f);
    }
    bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    bool is_c1 = code < 0xa0;
    return code < kLeast[length] || code > kMost || is_surrogate || is_c1 ? 0 : length;
}

namespace {

std::string shown_of(std::string_view text, bool is_name) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        size_t bytes = visible_bytes(text);
        if (bytes == 0 || (is_name && (text[0] == '\n' || text[0] == '\t'))) {
            shown +=
                strprintf("\\%03o", static_cast<unsigned>(static_cast<unsigned char>(text[0])));
            bytes = 1;
        } else {
            shown.append(text, 0, bytes);
        }
        text.remove_prefix(bytes);
    }
    return shown;
}

} // namespace

std::string visible(std::string_view text) {
    return shown_of(text, /*is_name=*/false);
}

std::string visible_name(std::string name) {
    auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
    return std::ranges::all_of(name, is_plain) ? std::move(name) : shown_of(name, /*is_name=*/true);
}

} // namespace daybreak::base
