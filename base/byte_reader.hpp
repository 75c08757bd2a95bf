// SPDX-License-Identifier: Apache-2.0
//
// ByteReader: bounds-checked little-endian reading of untrusted bytes.
//
// Nothing in formats/ or compiler/ casts a pointer onto file memory: it reads through this, so a
// length that lies is an Error (truncated) and never an out-of-bounds read.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace daybreak::base {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

/// Returns a view of the object representation of text.
inline ByteView as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// Returns the T at `at`, which need not be aligned; the caller has checked that it lies inside.
template <typename T>
T load(const std::byte* at) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

class ByteReader {
public:
    /// Reads `bytes`; `what` names the thing for messages ("segment", "DOF section 3").
    explicit ByteReader(ByteView bytes, std::string_view what = "data")
        : bytes_(bytes), what_(what) {}

    size_t offset() const { return offset_; }
    size_t size() const { return bytes_.size(); }
    size_t remaining() const { return bytes_.size() - offset_; }

    /// Moves to an absolute offset; at most size().
    Result<void> seek(uint64_t offset);
    Result<void> skip(uint64_t bytes);

    /// Returns the next `count` bytes and moves past them; the view lives as long as the data.
    Result<ByteView> bytes(uint64_t count);

    /// Returns `count` bytes at an absolute offset, without moving.
    Result<ByteView> bytes_at(uint64_t offset, uint64_t count) const;

    /// Returns the next T, a trivially copyable integer or ABI struct, and moves past it.
    template <typename T>
    Result<T> read() {
        static_assert(std::is_trivially_copyable_v<T>);
        DBK_TRY(ByteView view, bytes(sizeof(T)));
        T value;
        std::memcpy(&value, view.data(), sizeof(T));
        return value;
    }

    /// Returns the T at an absolute offset, without moving.
    template <typename T>
    Result<T> read_at(uint64_t offset) const {
        static_assert(std::is_trivially_copyable_v<T>);
        DBK_TRY(ByteView view, bytes_at(offset, sizeof(T)));
        T value;
        std::memcpy(&value, view.data(), sizeof(T));
        return value;
    }

    /// Returns the NUL-terminated string at an absolute offset; an Error if no NUL follows.
    Result<std::string_view> string_at(uint64_t offset) const;

private:
    ByteView bytes_;
    std::string_view what_;
    size_t offset_ = 0;
};

} // namespace daybreak::base
