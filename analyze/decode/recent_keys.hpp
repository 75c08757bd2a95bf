// SPDX-License-Identifier: Apache-2.0
//
// RecentKeys: where the table has the keys that records had lately.
//
//     words of a record's key, as they lie there --> slot: the same words --> its cells
//
// A record that has the words of an earlier one of its statement needs neither its strings measured
// nor its key built, hashed and compared.  Keys come again soon in most recordings; a slot holds
// the last one that fell on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace daybreak::analyze {

struct Statement;

/// Zeros after the last word.
using KeyWords = std::array<uint64_t, 8>;

/// Of tables from which nothing is removed while it lives.
class RecentKeys {
public:
    /// Returns the place of the key's cells that was put last.
    std::optional<size_t> find(const Statement& statement, const KeyWords& words) const {
        const Slot& slot = slots_[slot_of(statement, words)];
        uint64_t difference = 0; // a call of memcmp() would cost more
        for (size_t i = 0; i < words.size(); i++)
            difference |= slot.words[i] ^ words[i];
        if (slot.statement != &statement || difference != 0)
            return std::nullopt;
        return slot.cells;
    }
    void put(const Statement& statement, const KeyWords& words, size_t cells) {
        slots_[slot_of(statement, words)] = {&statement, cells, words};
    }

private:
    static constexpr size_t kSlotBits = 9;
    struct Slot {
        const Statement* statement = nullptr;
        size_t cells = 0;
        KeyWords words{};
    };

    /// A product for each word: the processor makes them side by side.
    static size_t slot_of(const Statement& statement, const KeyWords& words) {
        uint64_t sum = reinterpret_cast<uintptr_t>(&statement) * kMultiplier;
        for (size_t i = 0; i < words.size(); i++)
            sum += words[i] * (kMultiplier + 2 * i * kMultiplierStep);
        return (sum ^ sum >> 29) * kMultiplier >> (64 - kSlotBits);
    }
    // Odd; 2^64 divided by the golden ratio, and by the square root of 2 and 2.
    static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15,
                              kMultiplierStep = 0x5a827999fcef3242;

    std::vector<Slot> slots_ = std::vector<Slot>(size_t{1} << kSlotBits);
};

} // namespace daybreak::analyze
