// SPDX-License-Identifier: Apache-2.0
//
// FiringSlots: what the records of one firing hold, as the clauses of a replay read it.
//
// Integers and addresses of strings lie in slots (formats/dof/replay_slots.hpp), with a bit for
// each that says whether it is there; stacks lie apart.
#pragma once

#include "analyze/decode/merge.hpp"
#include "analyze/replay/capture_table.hpp"
#include "engine/sim/bare_host.hpp"

#include <algorithm>

namespace daybreak::analyze {

class FiringSlots {
public:
    explicit FiringSlots(const CaptureSlots& slots)
        : slots_(slots.count()), words_(slots.words() - 1), arena_(kArenaBytes) {}
    FiringSlots(const FiringSlots&) = delete;
    FiringSlots& operator=(const FiringSlots&) = delete;

    /// Nothing of records is there any more.
    void clear() {
        for (size_t i = 0; i < words_; i++)
            slots_[formats::kFirstSlot + i] = 0;
        arena_used_ = 0;
        stack_.clear();
        user_stack_.clear();
        user_registers_.clear();
        user_bytes_.clear();
        process_.reset();
    }
    /// The same of the strings only.
    void clear_strings() { arena_used_ = 0; }
    void set_present(uint32_t slot) {
        slots_[formats::presence_word(slot)] |= formats::presence_bit(slot);
    }
    /// Fills the slot of one value.
    void fill(const CapturedField& field, base::ByteView bytes);
    /// Fills the slots that a record has values for; `ecb` is the index of its ECB in the table.
    void fill(const CaptureTable& table, size_t ecb, const formats::RecordView& record);

    /// Gives a slot that no record fills its value, which clear() leaves alone.
    void set(uint32_t slot, uint64_t value) { slots_[slot] = value; }

    /// Lives, and stays where it is, as long as the object; so do strings up to clear().
    std::span<const uint64_t> all() const { return slots_; }
    /// Returns 0 for what is not there.
    uint64_t value(std::optional<uint32_t> slot) const {
        if (!slot || !(slots_[formats::presence_word(*slot)] & formats::presence_bit(*slot)))
            return 0;
        return slots_[*slot];
    }
    bool has_stack() const { return !stack_.empty() || !user_stack_.empty(); }
    /// The stacks; they live up to the next fill() or clear().
    sim::SimSite site() const {
        sim::SimSite site;
        site.kernel_stack = stack_;
        if (!user_stack_.empty())
            site.user_stack = std::span(user_stack_).subspan(1);
        site.user_registers = user_registers_;
        return site;
    }
    /// The bytes that were recorded of the stack, and where they lay.
    base::ByteView user_bytes() const { return user_bytes_; }
    uint64_t user_bytes_at() const { return user_registers_[DBK_USER_REGISTER_SP]; }
    std::span<const uint64_t> user_registers() const { return user_registers_; }
    /// The addresses of the stacks, which may be changed up to the next fill().
    std::span<uint64_t> kernel_stack() { return stack_; }
    std::span<uint64_t> user_stack() {
        return user_stack_.empty() ? std::span<uint64_t>() : std::span(user_stack_).subspan(1);
    }
    /// Of a user stack that is there.
    void set_user_stack(std::span<const uint64_t> frames) {
        user_stack_.resize(1); // the process
        user_stack_.insert(user_stack_.end(), frames.begin(), frames.end());
    }
    /// The process that a user stack or a user address is of; empty: there is none.
    std::optional<uint64_t> process() const {
        return user_stack_.empty() ? process_ : std::optional(user_stack_[0]);
    }
    /// Where the strings are.
    std::span<std::byte> arena() { return arena_; }

private:
    /// Strings of one firing: those of a record of the largest size, of several records.
    static constexpr size_t kArenaBytes = 1u << 20;

    void fill_stack(const CapturedField& field, base::ByteView untrusted);
    uint64_t keep_string(base::ByteView bytes);
    uint64_t keep_tail(base::ByteView record, const formats::FieldInfo& field);

    std::vector<uint64_t> slots_;
    size_t words_;
    std::vector<std::byte> arena_;
    size_t arena_used_ = 0;
    std::vector<uint64_t> stack_, user_stack_, user_registers_; // registers: all, or none
    base::Bytes user_bytes_;                                    // as long as there are registers
    std::optional<uint64_t> process_;                           // of a user address
};

} // namespace daybreak::analyze
