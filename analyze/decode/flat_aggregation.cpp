// SPDX-License-Identifier: Apache-2.0
//
// Keys and values by offset.
#include "analyze/decode/flat_aggregation.hpp"

#include "analyze/decode/program.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::analyze {

namespace {

bool is_integer_width(size_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

} // namespace

int64_t FlatInteger::of(const std::byte* record) const {
    const std::byte* at = record + offset;
    switch (bytes) {
    case 1:
        return is_signed ? base::load<int8_t>(at) : base::load<uint8_t>(at);
    case 2:
        return is_signed ? base::load<int16_t>(at) : base::load<uint16_t>(at);
    case 4:
        return base::load<int32_t>(at); // as Value::signed_integer()
    default:
        return base::load<int64_t>(at);
    }
}

std::optional<FlatAggregation::Member> FlatAggregation::member_of(const FieldPlan& field) {
    const formats::FieldInfo& info = field.info;
    bool is_fixed = info.shape == DBK_FIELD_FIXED;
    if ((is_fixed && info.bytes > kKeyBytesMax) || (info.flags & DBK_FIELD_F_MEMORY) != 0)
        return std::nullopt;
    Member member{MemberKind::fixed, static_cast<uint16_t>(info.offset),
                  static_cast<uint16_t>(info.bytes)};
    switch (field.type.kind) {
    case ValueKind::string:
        member.kind = is_fixed ? MemberKind::fixed_string : MemberKind::tail_string;
        return member;
    case ValueKind::stack:
    case ValueKind::ustack:
        member.kind = MemberKind::tail;
        return is_fixed ? std::nullopt : std::optional(member);
    case ValueKind::integer:
    case ValueKind::bytes:
    case ValueKind::memory:
    case ValueKind::uaddress:
        return is_fixed ? std::optional(member) : std::nullopt;
    default:
        return std::nullopt;
    }
}

bool FlatAggregation::set_integer(const std::optional<FieldPlan>& field, FlatInteger& integer) {
    if (!field)
        return true;
    const formats::FieldInfo& info = field->info;
    if (info.shape != DBK_FIELD_FIXED || !is_integer_width(info.bytes))
        return false;
    integer = {static_cast<uint16_t>(info.offset), static_cast<uint8_t>(info.bytes),
               field->type.is_signed};
    return true;
}

std::optional<FlatAggregation> FlatAggregation::of(const Statement& statement) {
    FlatAggregation flat;
    size_t fixed_bytes = 0;
    for (const FieldPlan& field : statement.fields) {
        std::optional<Member> member = member_of(field);
        if (!member)
            return std::nullopt;
        bool is_tail = field.info.shape != DBK_FIELD_FIXED;
        size_t bytes = is_tail ? sizeof(dbk_tail_ref) : member->bytes;
        flat.end_ = std::max(flat.end_, member->offset + bytes);
        fixed_bytes += member->kind == MemberKind::fixed ? member->bytes : 0;
        flat.members_.push_back(*member);
    }
    if (fixed_bytes > kKeyBytesMax / 2 || !set_integer(statement.value, flat.value_) ||
        !set_integer(statement.increment, flat.increment_))
        return std::nullopt;
    flat.end_ = std::max({flat.end_, flat.value_.end(), flat.increment_.end()});
    flat.fixed_bytes_ = statement.fixed_bytes;
    flat.plan_mask();
    return flat;
}

void FlatAggregation::add_to_mask(size_t offset, size_t bytes) {
    for (size_t i = offset; i < offset + bytes; i++) {
        size_t word = i / sizeof(uint64_t); // counted from the header, which is one
        if (word > 0 && word <= mask_.size())
            mask_[word - 1] |= uint64_t{0xff} << (8 * (i % sizeof(uint64_t)));
    }
}

/// The key's fields, and all tails: those of other statements mostly come with the same key.
void FlatAggregation::plan_mask() {
    for (const Member& member : members_) {
        bool is_fixed = member.kind == MemberKind::fixed || member.kind == MemberKind::fixed_string;
        add_to_mask(member.offset, is_fixed ? member.bytes : sizeof(dbk_tail_ref));
    }
    size_t end = sizeof(dbk_record_header) + mask_.size() * sizeof(uint64_t);
    if (fixed_bytes_ < end)
        add_to_mask(fixed_bytes_, end - fixed_bytes_);
}

} // namespace daybreak::analyze
