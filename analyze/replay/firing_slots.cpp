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

void FiringSlots::fill(const CaptureTable& table, size_t ecb, const formats::RecordView& record) {
    for (const CapturedField& captured : table.fields_of(ecb)) {
        const formats::FieldInfo& field = record.ecb->fields[captured.field];
        // Most values are integers, of 1 to 8 bytes in the fixed part with others after them.
        if (captured.kind == CapturedKind::integer &&
            field.offset + sizeof(uint64_t) <= record.bytes.size()) {
            slots_[captured.slot] = base::load<uint64_t>(record.bytes.data() + field.offset) &
                                    UINT64_MAX >> (64 - 8 * field.bytes);
            set_present(captured.slot);
        } else if (std::optional<base::ByteView> bytes = record.data(captured.field)) {
            fill(captured, *bytes);
        }
    }
}

} // namespace daybreak::analyze
