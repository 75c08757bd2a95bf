// SPDX-License-Identifier: Apache-2.0
//
// Hostile Cap'n Proto messages, made by hand: small in a file, and much to a reader that believes them.
//
// A pointer is a word: its kind in the lowest two bits, then how many words after it its target
// begins (far pointers: in which segment, at which word).
#pragma once

#include "base/byte_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::test {

constexpr uint64_t kListPointer = 1, kFarPointer = 2;
constexpr uint64_t kByteElements = 2, kPointerElements = 6, kCompositeElements = 7;

/// Where a list of a message is: in the struct of `pointers` pointers that the root's member
/// `which` is, at pointer `at`.
struct ListPlace {
    uint64_t which;
    unsigned pointers, at;
};

/// Appends the root, the struct of `place`, and the pointer to its list, which begins after it.
inline void append_root(std::vector<uint64_t>& words, const ListPlace& place, uint64_t elements,
                        uint64_t count) {
    words.push_back(uint64_t{1} << 32 | uint64_t{1} << 48); // a word of data, a pointer
    words.push_back(place.which);
    words.push_back(uint64_t{place.pointers} << 48);
    words.resize(words.size() + place.pointers);
    words[words.size() - place.pointers + place.at] =
        kListPointer | uint64_t{place.pointers - place.at - 1} << 2 | elements << 32 | count << 35;
}

inline base::Bytes bytes_of(const std::vector<uint64_t>& words) {
    base::ByteView bytes = std::as_bytes(std::span(words));
    return base::Bytes(bytes.begin(), bytes.end());
}

/// A message of `bytes` with a list of `count` structs that take no bytes.
inline base::Bytes empty_structs(const ListPlace& place, uint64_t count, size_t bytes) {
    std::vector<uint64_t> words(1);
    append_root(words, place, kCompositeElements, 0);
    words.push_back(count << 2);
    words.resize(bytes / sizeof(uint64_t));
    words[0] = (words.size() - 1) << 32; // one segment
    return bytes_of(words);
}

/// A message with a list of `count` texts, or of structs of `texts_each` texts, which all are the
/// same `text_bytes` of its second segment.
inline base::Bytes far_pointers(const ListPlace& place, uint64_t count, unsigned texts_each,
                                size_t text_bytes) {
    std::vector<uint64_t> words(2);
    uint64_t pointers = count * std::max(texts_each, 1u);
    append_root(words, place, texts_each ? kCompositeElements : kPointerElements, pointers);
    if (texts_each)
        words.push_back(count << 2 | uint64_t{texts_each} << 48);
    words.resize(words.size() + pointers, kFarPointer | uint64_t{1} << 32);
    size_t first_words = words.size() - 2;
    words.push_back(kListPointer | kByteElements << 32 | uint64_t{text_bytes} << 35);
    words.resize(words.size() + text_bytes / sizeof(uint64_t), 0x7878787878787878);
    words.back() >>= 8; // a text ends with a zero
    words[0] = 1 | uint64_t{first_words} << 32;
    words[1] = words.size() - 2 - first_words;
    return bytes_of(words);
}

} // namespace daybreak::test
