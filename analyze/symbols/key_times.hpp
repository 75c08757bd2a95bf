// SPDX-License-Identifier: Apache-2.0
//
// KeyTimes: when the addresses that are keys of aggregations were where they were.
//
// usym() and umod() count by the beginning of a function or a file in a process.  A key has no time
// when it is printed, and its process may have executed another program by then, which has other
// code at the same address; the record that it was counted from had a time.
#pragma once

#include "analyze/symbols/user_names.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>

namespace daybreak::analyze {

class KeyTimes {
public:
    KeyTimes();

    struct Kept {
        uint64_t mono_ns = 0;       ///< of the first record
        uint64_t place = 0;         ///< a hash of what was there
        bool is_of_several = false; ///< in other records something else was
    };
    /// Keeps that `address` was at `place` at `mono_ns`, and that its key is `key`, the beginning.
    /// Of more than a million keys the others are not kept.
    void keep(uint64_t pid, uint64_t key, uint64_t address, const UserPlace& place,
              uint64_t mono_ns);
    /// Returns what is known of a key; null: nothing.
    const Kept* find(uint64_t pid, uint64_t key) const;

private:
    using Key = std::pair<uint64_t, uint64_t>; // pid and address

    /// Of addresses that are read: with a number of its own, so that none are made to collide.
    struct Hash {
        uint64_t seed;
        size_t operator()(const Key& key) const {
            uint64_t mixed = (key.second ^ seed) * 0x9e3779b97f4a7c15 + key.first;
            mixed = (mixed ^ mixed >> 32) * seed;
            return mixed ^ mixed >> 32;
        }
    };
    std::unordered_map<Key, Kept, Hash> kept_;
};

} // namespace daybreak::analyze
