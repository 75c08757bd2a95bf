// SPDX-License-Identifier: Apache-2.0
//
// FiringSlots: what the records of one firing hold, as the clauses of a replay read it.
#include "analyze/replay/firing_slots.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::analyze {

namespace {

/// Of the stacks of one firing the longest has the others.
void keep_longer(std::vector<uint64_t>& stack, base::ByteView recorded) {
    size_t size = recorded.size() / sizeof(uint64_t);
    if (size <= stack.size())
        return;
    stack.resize(size);
    std::memcpy(stack.data(), recorded.data(), size * sizeof(uint64_t));
}

static_assert(formats::kFirstSlot >= DBK_PROBE_ARGS_MAX);

} // namespace

/// Returns the address of a copy that ends in NUL.
uint64_t FiringSlots::keep_string(base::ByteView bytes) {
    size_t length = std::min(bytes.size(), arena_.size() - arena_used_ - 1);
    std::byte* to = arena_.data() + arena_used_;
    std::copy_n(bytes.begin(), length, to);
    to[length] = std::byte{0};
    arena_used_ += length + (arena_used_ + length + 1 < arena_.size());
    return reinterpret_cast<uintptr_t>(to);
}

void FiringSlots::fill(const CapturedField& field, base::ByteView bytes) {
    uint64_t value = 0;
    switch (field.kind) {
    case CapturedKind::integer:
        std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
        break;
    case CapturedKind::string:
        value = keep_string(bytes);
        break;
    case CapturedKind::user_address:
        if (bytes.size() < 2 * sizeof(uint64_t))
            return;
        process_ = base::load<uint64_t>(bytes.data());
        value = base::load<uint64_t>(bytes.data() + sizeof(uint64_t));
        break;
    case CapturedKind::stack:
        keep_longer(stack_, bytes);
        break;
    case CapturedKind::user_stack:
        keep_longer(user_stack_, bytes);
        break;
    }
    slots_[field.slot] = value;
    set_present(field.slot);
}

/// Keeps a string that lies with all its words in the record, and returns its address; 0: it does
/// not.
inline uint64_t FiringSlots::keep_tail(base::ByteView record, const formats::FieldInfo& field) {
    if (field.shape != DBK_FIELD_STRING || field.offset + sizeof(dbk_tail_ref) > record.size())
        return 0;
    auto tail = base::load<dbk_tail_ref>(record.data() + field.offset);
    size_t words = (size_t{tail.bytes} + 7) / 8 * 8;
    if (tail.offset + words > record.size() || words + 8 > arena_.size() - arena_used_)
        return 0;
    const std::byte* from = record.data() + tail.offset;
    std::byte* to = arena_.data() + arena_used_;
    for (size_t i = 0; i < words; i += 8)
        std::memcpy(to + i, from + i, 8);
    to[tail.bytes] = std::byte{0};
    arena_used_ += tail.bytes + 1u;
    return reinterpret_cast<uintptr_t>(to);
}

/// Of a stack with the memory that it was recorded with.
void FiringSlots::fill_stack(const CapturedField& field, base::ByteView untrusted) {
    formats::UserStackParts parts = formats::split_user_stack(untrusted);
    fill(field, parts.frames);
    if (parts.registers.empty() || parts.stack.size() < user_bytes_.size())
        return;
    user_registers_.resize(DBK_USER_REGISTERS);
    std::memcpy(user_registers_.data(), parts.registers.data(), parts.registers.size());
    user_bytes_.assign(parts.stack.begin(), parts.stack.end());
}

void FiringSlots::fill(const CaptureTable& table, size_t ecb, const formats::RecordView& record) {
    const formats::FieldInfo* fields = record.ecb->fields.data();
    for (const CapturedField& captured : table.fields_of(ecb)) {
        const formats::FieldInfo& field = fields[captured.field];
        uint64_t value = 0;
        // Most values are integers, of 1 to 8 bytes in the fixed part with others after them.
        if (captured.kind == CapturedKind::integer &&
            field.offset + sizeof(uint64_t) <= record.bytes.size()) {
            value = base::load<uint64_t>(record.bytes.data() + field.offset) &
                    UINT64_MAX >> (64 - 8 * field.bytes);
        } else if (captured.kind != CapturedKind::string ||
                   (value = keep_tail(record.bytes, field)) == 0) {
            auto bytes = record.data(captured.field);
            if (bytes && field.flags & DBK_FIELD_F_MEMORY)
                fill_stack(captured, *bytes);
            else if (bytes)
                fill(captured, *bytes);
            continue;
        }
        slots_[captured.slot] = value;
        set_present(captured.slot);
    }
}

} // namespace daybreak::analyze
