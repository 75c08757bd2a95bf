// SPDX-License-Identifier: Apache-2.0
//
// FlatAggregation: an aggregating statement whose key and value are copied straight from a record.
//
// Millions of records pass here: no value is described, nothing is allocated.  The key has the same
// bytes as AggregationKey makes.  What needs more than copying (keys by sym() and mod(), stacks
// to be unwound, very long keys, a record that does not hold what the plan says) takes the way of
// values.
#pragma once

#include "analyze/decode/recent_keys.hpp"
#include "base/byte_reader.hpp"
#include "formats/abi/segment.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

namespace daybreak::analyze {

struct FieldPlan;
struct Statement;

/// An integer of a record: 1, 2, 4 or 8 bytes at an offset.
struct FlatInteger {
    uint16_t offset = 0;
    uint8_t bytes = 0; ///< 0: there is none
    bool is_signed = false;

    /// Returns the value of a record that is long enough.
    int64_t of(const std::byte* record) const;
    size_t end() const { return size_t{offset} + bytes; }
};

class FlatAggregation {
public:
    static constexpr size_t kKeyBytesMax = 240;
    /// A key, and room for whole words to be written past its end.
    struct Key {
        std::array<std::byte, kKeyBytesMax + 2 * sizeof(uint64_t)> storage;
        size_t size = 0;

        base::ByteView bytes() const { return {storage.data(), size}; }
    };

    /// Returns nothing for a statement that needs more than copying.
    static std::optional<FlatAggregation> of(const Statement& statement);

    /// Reads the key of a record; false when it is too long, or lies outside the record.
    bool read_key(base::ByteView record, Key& key) const {
        if (record.size() < end_)
            return false;
        std::byte* to = key.storage.data();
        const std::byte* limit = to + kKeyBytesMax;
        for (const Member& member : members_) {
            to = member.kind == MemberKind::fixed ? copy_fixed(record.data(), member, to, limit)
                                                  : copy_string(record, member, to, limit);
            if (!to)
                return false;
        }
        key.size = static_cast<size_t>(to - key.storage.data());
        return true;
    }
    /// What of a record's words after its header the key depends on: records of one length with the
    /// same of these have equal keys.
    const RecordMask& mask() const { return mask_; }
    /// Of a record whose key was read.
    int64_t value(base::ByteView record) const {
        return value_.bytes != 0 ? value_.of(record.data()) : 0;
    }
    int64_t increment(base::ByteView record) const {
        return increment_.bytes != 0 ? increment_.of(record.data()) : 1;
    }

private:
    enum class MemberKind : uint8_t {
        fixed,        ///< as it is
        fixed_string, ///< to its NUL, after its length
        tail_string,
        tail, ///< all of it, after its length
    };
    struct Member {
        MemberKind kind;
        uint16_t offset, bytes;
    };

    static std::optional<Member> member_of(const FieldPlan& field);
    static bool set_integer(const std::optional<FieldPlan>& field, FlatInteger& integer);
    void plan_mask();
    void add_to_mask(size_t offset, size_t bytes);
    static std::byte* copy_fixed(const std::byte* record, const Member& member, std::byte* to,
                                 const std::byte* limit) {
        const std::byte* from = record + member.offset;
        if (member.bytes > limit - to)
            return nullptr;
        switch (member.bytes) {
        case 8:
            std::memcpy(to, from, 8);
            break;
        case 4:
            std::memcpy(to, from, 4);
            break;
        default:
            std::memcpy(to, from, member.bytes);
        }
        return to + member.bytes;
    }
    std::byte* copy_string(base::ByteView record, const Member& member, std::byte* to,
                           const std::byte* limit) const {
        size_t offset = member.offset, bytes = member.bytes;
        if (member.kind != MemberKind::fixed_string) {
            auto ref = base::load<dbk_tail_ref>(record.data() + offset);
            offset = ref.offset;
            bytes = ref.bytes;
            if (offset < fixed_bytes_ || offset > record.size() || bytes > record.size() - offset)
                return nullptr; // of the fixed part the mask has the key's fields only
        }
        if (bytes + sizeof(uint32_t) > static_cast<size_t>(limit - to))
            return nullptr;
        std::byte* text = to + sizeof(uint32_t);
        base::ByteView from = record.subspan(offset);
        if (member.kind == MemberKind::tail)
            std::memcpy(text, from.data(), bytes);
        else
            bytes = copy_text(from, bytes, text);
        auto length = static_cast<uint32_t>(bytes);
        std::memcpy(to, &length, sizeof(length));
        return text + bytes;
    }
    /// Copies up to a NUL, by words; what lies after the text may be read, and written after it.
    static size_t copy_text(base::ByteView from, size_t bytes, std::byte* to) {
        constexpr uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
        for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
            uint64_t word = 0;
            if (from.size() - at >= sizeof(word)) [[likely]]
                word = base::load<uint64_t>(from.data() + at);
            else
                std::memcpy(&word, from.data() + at, from.size() - at);
            std::memcpy(to + at, &word, sizeof(word));
            if (uint64_t zeros = (word - kOnes) & ~word & kTops)
                return std::min(bytes, at + static_cast<size_t>(std::countr_zero(zeros)) / 8);
        }
        return bytes;
    }

    std::vector<Member> members_;
    FlatInteger value_, increment_;
    size_t end_ = 0; ///< a record has at least so many bytes
    uint32_t fixed_bytes_ = 0; ///< tails lie after them
    RecordMask mask_{};
};

} // namespace daybreak::analyze
