// SPDX-License-Identifier: Apache-2.0
//
// Value: one recorded value, its bytes and what they mean.
#pragma once

#include "base/byte_reader.hpp"

#include <cstdint>
#include <string_view>

namespace daybreak::analyze {

enum class ValueKind : uint8_t {
    integer, ///< 1, 2, 4 or 8 bytes
    string,
    bytes,  ///< anything else by value
    memory, ///< tracemem(): always dumped
    stack,  ///< kernel program counters
    ustack, ///< a process id, then user program counters
    symbol, ///< sym(): an address, 8 bytes
    module, ///< mod()
    uaddress,
    usymbol,
    umodule,
};

/// What is known of a value without looking at a record.
struct ValueType {
    ValueKind kind = ValueKind::integer;
    uint32_t bytes = 0;  ///< as D sees it: of a string, the room it was given (strsize)
    uint32_t action = 0; ///< DTRACEACT_
    bool is_signed = false; ///< prints with its sign, though of 1 or 2 bytes

    /// is_signed says how a value prints, not which key it is.
    bool operator==(const ValueType& other) const {
        return kind == other.kind && bytes == other.bytes && action == other.action;
    }
    bool is_stack() const { return kind == ValueKind::stack || kind == ValueKind::ustack; }
};

struct Value {
    ValueType type;
    base::ByteView data; ///< of a string: its characters, without NULs
    /// Of a user stack: registers and memory, when they were recorded.
    base::ByteView registers = {}, stack = {};
    uint32_t depth = 0;  ///< of such a stack: how many frames were asked for
    bool is_key = false; ///< of an aggregation

    /// Returns the value zero extended; bytes beyond the eighth are ignored.
    uint64_t unsigned_integer() const {
        uint64_t result = 0;
        for (size_t i = 0; i < data.size() && i < sizeof(result); i++)
            result |= static_cast<uint64_t>(data[i]) << (8 * i);
        return result;
    }
    /// Returns 8 and 4 byte values as signed, shorter ones as their type says.
    int64_t signed_integer() const {
        uint64_t bits = unsigned_integer();
        size_t bytes = data.size();
        if (bytes == 0 || bytes > 4 || (bytes < 4 && !type.is_signed))
            return static_cast<int64_t>(bits);
        size_t shift = 64 - 8 * bytes;
        return static_cast<int64_t>(bits << shift) >> shift;
    }
    std::string_view text() const {
        return {reinterpret_cast<const char*>(data.data()), data.size()};
    }
};

} // namespace daybreak::analyze
