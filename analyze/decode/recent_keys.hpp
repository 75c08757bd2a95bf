// SPDX-License-Identifier: Apache-2.0
//
// RecentKeys: where the table has the keys that records had lately.
//
//     record:  header  word word word ...   those bits that the key depends on (RecordMask)
//                       `----+----'
//                     slot: the same words --> the key's cells
//
// A record that has the words of an earlier one of its statement needs neither its strings measured
// nor its key built, hashed and compared.  Keys come again soon in most recordings; a slot holds
// the last one that fell on it.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/abi/segment.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace daybreak::analyze {

struct Statement;

/// The most words after its header that a record may have to be recognized.
constexpr size_t kRecentWords = 12;
/// Of these words the bits that count.
using RecordMask = std::array<uint64_t, kRecentWords>;

/// Of tables from which nothing is removed while it lives.
class RecentKeys {
public:
    static constexpr size_t kNowhere = SIZE_MAX;

    /// Returns where the cells of a record's key are, or kNowhere.  `slot` is where put() puts it,
    /// by the statement's `number` (its address would be another one in each run); the record has
    /// whole words, not more than kRecentWords after its header.
    size_t find(const Statement& statement, uint32_t number, const RecordMask& mask,
                base::ByteView record, size_t& slot) const {
        size_t count = words_of(record);
        // A product for each word: the processor makes them side by side.
        uint64_t sum = number * kMultiplier;
        uint64_t multiplier = kMultiplier;
        for (size_t i = 0; i < count; i++, multiplier += kMultiplierStep)
            sum += word(record, mask, i) * multiplier;
        slot = (sum ^ sum >> 29) * kMultiplier >> (64 - kSlotBits);
        const Slot& known = slots_[slot];
        if (known.statement != &statement || known.count != count)
            return kNowhere;
        uint64_t difference = 0; // a call of memcmp() would cost more
        for (size_t i = 0; i < count; i++)
            difference |= known.words[i] ^ word(record, mask, i);
        return difference == 0 ? known.cells : kNowhere;
    }
    void put(size_t slot, const Statement& statement, const RecordMask& mask, base::ByteView record,
             size_t cells) {
        Slot& known = slots_[slot];
        known = {&statement, words_of(record), cells, {}};
        for (size_t i = 0; i < known.count; i++)
            known.words[i] = word(record, mask, i);
    }
    static size_t words_of(base::ByteView record) { return record.size() / sizeof(uint64_t) - 1; }

private:
    static constexpr size_t kSlotBits = 9;
    struct Slot {
        const Statement* statement = nullptr;
        size_t count = 0;
        size_t cells = 0;
        std::array<uint64_t, kRecentWords> words{};
    };

    static uint64_t word(base::ByteView record, const RecordMask& mask, size_t i) {
        static_assert(sizeof(dbk_record_header) == sizeof(uint64_t));
        return base::load<uint64_t>(record.data() + (i + 1) * sizeof(uint64_t)) & mask[i];
    }
    // Odd; 2^64 divided by the golden ratio, and twice by the square root of 2.
    static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15,
                              kMultiplierStep = 0xb504f333f9de6484;

    std::vector<Slot> slots_ = std::vector<Slot>(size_t{1} << kSlotBits);
};

} // namespace daybreak::analyze
